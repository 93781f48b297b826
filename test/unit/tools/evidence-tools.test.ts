import { describe, expect, it } from 'vitest';
import { asIncidentId } from '../../../src/core/ids.ts';
import type { ToolCall } from '../../../src/core/tool-call.ts';
import type { EvidenceTool } from '../../../src/tools/define.ts';
import { evidenceGrep } from '../../../src/tools/evidence/evidence-grep.ts';
import { evidenceRead } from '../../../src/tools/evidence/evidence-read.ts';
import { anIncident, aToolCall, CALL } from '../../support/incident-record.ts';

const long = Array.from({ length: 500 }, (_, n) =>
  n % 100 === 42 ? `ERROR ${n}: lock timeout` : `info ${n}`,
);
const call = aToolCall({ output: long.join('\n') });

function run<I>(tool: EvidenceTool<I>, input: unknown, calls: readonly ToolCall[] = [call]) {
  const evidence = {
    toolCall: async (id: string) => calls.find((each) => each.id === id) ?? null,
    load: async () => ({ toolCalls: calls }),
  };
  const context = {
    incidentId: anIncident().id,
    evidence,
    signal: new AbortController().signal,
    timeoutMs: 1_000,
  };
  return tool.run(context, tool.input.parse(input));
}

describe('evidence_read', () => {
  it('pages through an output by line numbers, and says where it goes on', async () => {
    const first = await run(evidenceRead, { id: CALL, lines: 3 });
    expect(first).toMatchObject({ data: { sources: [CALL], from: 1, to: 3, of: 500 } });
    expect('text' in first && first.text).toMatch(/lines 1 to 3 of 500; 497 more from line 4\n1: info 0/);
    const last = await run(evidenceRead, { id: CALL, from_line: 500 });
    expect('text' in last && last.text).toContain('500: info 499');
  });

  it('never gives more than fits, however much is asked for', async () => {
    const wide = aToolCall({ output: Array.from({ length: 300 }, () => 'x'.repeat(5_000)).join('\n') });
    const shown = await run(evidenceRead, { id: CALL, lines: 300 }, [wide]);
    expect('text' in shown && shown.text.length).toBeLessThan(9_000);
  });

  it.each([
    ['another incident’s', [aToolCall({ incidentId: asIncidentId('INC-999') })], {}, 'UNKNOWN_EVIDENCE'],
    ['no', [], {}, 'UNKNOWN_EVIDENCE'],
    ['a line past the end of an', [call], { from_line: 501 }, 'PAST_END'],
  ])('refuses %s output', async (_, calls, more, code) => {
    expect(await run(evidenceRead, { id: CALL, ...more }, calls)).toMatchObject({ ok: false, code });
  });
});

describe('evidence_grep', () => {
  it('finds a text in any case over all outputs, with numbers and what stands around', async () => {
    const found = await run(evidenceGrep, { text: 'LOCK timeout', around: 1 });
    expect(found).toMatchObject({ data: { sources: [CALL], hits: 5 } });
    expect('text' in found && found.text).toContain('43: ERROR 42: lock timeout');
    expect('text' in found && found.text).toContain('42: info 41');
  });

  it('takes its text as it is, never as a pattern', async () => {
    expect(await run(evidenceGrep, { text: '(a+)+$' })).toMatchObject({ data: { hits: 0 } });
  });

  it('does not search what failed or what only showed other outputs again', async () => {
    const calls = [aToolCall({ state: 'failed' }), aToolCall({ tool: 'evidence_read' })];
    expect(await run(evidenceGrep, { text: 'pid' }, calls)).toMatchObject({ data: { hits: 0, sources: [] } });
  });
});
