import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { countTokens } from '../../../../playground/claude/prompt-cache.ts';
import { loadPrompt } from '../../../../src/agents/claude/load-prompt.ts';
import { DiagnosisReport, NoActionReport, TriageReport } from '../../../../src/agents/claude/reports.ts';
import { toolsOf } from '../../../../src/agents/claude/role-tools.ts';
import { inputSchemaOf } from '../../../../src/agents/loop/report.ts';
import type { Target } from '../../../../src/core/target.ts';
import { tabledCapabilities } from '../../../../src/llm/capabilities.ts';
import { requestBody } from '../../../../src/llm/request-body.ts';
import { allTools } from '../../../../src/targets/all-tools.ts';
import { kinds } from '../../../../src/targets/kinds.ts';
import { changesTools } from '../../../../src/tools/changes/changes-tools.ts';
import { evidenceTools } from '../../../../src/tools/evidence/evidence-tools.ts';
import { memoryToolset } from '../../../../src/tools/memory/memory-tools.ts';
import { usualValues } from '../../../../src/tools/usual/usual-values.ts';

const ROLES = ['triage', 'detective', 'surgeon'] as const;
const PROMETHEUS = { name: 'prom-1', kind: 'prometheus' } as const;
const LOKI = { name: 'logs-1', kind: 'loki' } as const;
const SUBJECTS = [
  { domain: 'postgres', targetKind: 'postgres', neighbours: [PROMETHEUS, LOKI] },
  { domain: 'docker', targetKind: 'host', neighbours: [PROMETHEUS, LOKI] },
  { domain: 'postgres', targetKind: 'postgres', neighbours: [{ name: 'shop-1', kind: 'docker' }] },
  { domain: 'docker', targetKind: 'docker', neighbours: [PROMETHEUS, { name: 'shop-db', kind: 'postgres' }] },
] as const;
/** As the composition root offers them. */
const offered = [...allTools, ...evidenceTools, ...changesTools, usualValues, ...memoryToolset];
const reports: Readonly<Record<(typeof ROLES)[number], z.ZodType>> = {
  triage: TriageReport,
  detective: DiagnosisReport,
  surgeon: NoActionReport,
};

describe('what is declared to a model', () => {
  const alone = kinds.flatMap(({ name: targetKind, domains }) =>
    // One that brings none stands in any.
    (domains.length > 0 ? domains : [{ name: 'docker' }]).map(({ name: domain }) => ({ domain, targetKind })),
  );
  const beside: readonly (readonly Pick<Target, 'name' | 'kind'>[])[] = [
    [],
    [PROMETHEUS, LOKI],
    ...kinds.map(({ name: kind }) => [{ name: 'neighbour-1', kind }]),
    kinds.slice(0, 5).map(({ name: kind }) => ({ name: `${kind}-1`, kind })),
  ];
  it.each(
    ROLES.flatMap((role) =>
      alone.map((subject) => [role, subject.targetKind, subject.domain, subject] as const),
    ),
  )(
    'for %s on a %s (%s) stays under 6,000 tokens, system text, report tool and neighbours included',
    (role, _, __, subject) => {
      const report = {
        name: 'report',
        description: 'x'.repeat(250),
        inputSchema: inputSchemaOf(reports[role]),
      };
      for (const neighbours of beside) {
        const body = requestBody(
          {
            model: 'claude-opus-5-5',
            system: loadPrompt(role).system,
            tools: [...toolsOf(role, offered, ['shop-db', 'billing-db'], { ...subject, neighbours }), report],
            messages: [],
            effort: 'low',
            maxTokens: 1,
          },
          tabledCapabilities('claude-opus-5-5'),
        );
        const tokens = countTokens(body as unknown as Parameters<typeof countTokens>[0]);
        expect(tokens, JSON.stringify(neighbours)).toBeLessThan(6_000);
      }
    },
  );

  it('is only what the gate would not refuse for the incident’s target', () => {
    const names = (index: 0 | 1) =>
      toolsOf('detective', offered, ['a'], SUBJECTS[index]).map(({ name }) => name);
    expect(names(0)).toEqual(expect.arrayContaining(['postgres_locks', 'evidence_grep', 'memory_search']));
    expect(names(0)).not.toContain('run_diagnostics');
    expect(names(1)).toEqual(expect.arrayContaining(['run_diagnostics', 'read_file', 'evidence_grep']));
    expect(names(1).filter((name) => name.startsWith('postgres_'))).toEqual([]);
  });

  it('is of a neighbour what reads it, which may name the neighbour and nothing else', () => {
    const subject = {
      domain: 'docker',
      targetKind: 'host',
      neighbours: [PROMETHEUS, { name: 'shop-db', kind: 'postgres' }],
    } as const;
    const named = (role: (typeof ROLES)[number], of: typeof subject | (typeof SUBJECTS)[1]) =>
      new Map(
        toolsOf(role, offered, ['shop-host'], of).map(({ name, inputSchema }) => [
          name,
          (inputSchema['properties'] as { target?: { enum?: readonly string[] } }).target?.enum,
        ]),
      );
    const detective = named('detective', subject);
    expect(detective.get('prometheus_query')).toEqual(['prom-1']);
    expect(detective.get('postgres_activity')).toEqual(['shop-db']);
    // One target leaves nothing to choose.
    expect(detective.get('read_file')).toBeUndefined();
    // It may load the target.
    expect(detective.has('postgres_explain')).toBe(false);
    expect([...named('surgeon', subject)]).toEqual([...named('surgeon', SUBJECTS[1])]);
    expect(named('detective', SUBJECTS[1]).has('postgres_activity')).toBe(false);
  });

  it('names a target, where there are several, and a reason beside every tool’s own input, without shadowing one', () => {
    const targetless = new Set(
      [...evidenceTools, ...changesTools, usualValues, ...memoryToolset].map((tool) => tool.name),
    );
    for (const role of ['detective', 'surgeon'] as const) {
      for (const tool of toolsOf(role, offered, ['shop-db', 'billing-db'])) {
        if (targetless.has(tool.name)) continue;
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
