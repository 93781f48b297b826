import { describe, expect, it } from 'vitest';
import { loadPrompt } from '../../../src/agents/claude/load-prompt.ts';
import { toolsOf } from '../../../src/agents/claude/role-tools.ts';
import { allTools } from '../../../src/tools/all.ts';

describe('what is declared to a model', () => {
  it.each(['triage', 'detective', 'surgeon'] as const)('for %s stays under 6,000 tokens', (role) => {
    const declared =
      JSON.stringify(toolsOf(role, allTools, ['shop-db', 'billing-db'])) + loadPrompt(role).system;
    // Four bytes a token is a little pessimistic for English and JSON; the report tool takes up to 700 more.
    expect(declared.length / 4).toBeLessThan(5_300);
  });

  it('names a target and a reason beside every tool’s own input, without shadowing one', () => {
    for (const role of ['detective', 'surgeon'] as const) {
      for (const tool of toolsOf(role, allTools, ['shop-db'])) {
        expect(Object.keys(tool.inputSchema['properties'] as object)).toEqual(
          expect.arrayContaining(['target', 'why']),
        );
      }
    }
    const shadowing = allTools.filter((tool) => {
      const own = Object.keys((tool.input as { shape?: object }).shape ?? {});
      return own.includes('target') || own.includes('why');
    });
    expect(shadowing.map((tool) => tool.name)).toEqual([]);
  });
});
