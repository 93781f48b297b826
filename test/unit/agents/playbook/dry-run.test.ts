import { describe, expect, test } from 'vitest';
import { createDryRun, type DryRunDeps } from '../../../../src/agents/playbook/dry-run.ts';
import { asIncidentId, asToolCallId } from '../../../../src/core/ids.ts';
import type { IncidentRecord } from '../../../../src/core/incident-record.ts';
import type { ToolCallRequest, ToolCallResult } from '../../../../src/core/tool-call.ts';
import { parseRunbook } from '../../../../src/runbooks/parse-runbook.ts';
import type { Credential } from '../../../../src/safety/vault/credentials.ts';
import { anIncident } from './scripted-work.ts';

const steps = `---
id: queue
title: Queue
domain: postgres
version: 1
type: queue_full
matches: { alerts: [QueueFull] }
requires: { step: depth, when: result.depth > 0, bad: high }
---
# Queue

\`\`\`yaml step
id: depth
call: queue_depth
with: {}
why: Asking for the depth
checks:
  - when: result.depth == 0
    healthy: The queue is empty.
\`\`\`

\`\`\`yaml step
id: consumers
call: queue_consumers
with: { least: 1 }
why: Asking who reads it
wait: 30s
checks:
  - when: result.count == 0
    cannot_tell: { says: Nobody reads it., next: Start one. }
\`\`\`

\`\`\`yaml step
id: reader
call: queue_reader
with: { pid: "\${consumers.first}" }
why: Asking about the reader
checks:
  - cannot_tell: { says: It reads slowly., next: Ask its owner. }
\`\`\`
`;
const parsed = parseRunbook('queue.md', steps);
if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
const { runbook } = parsed.parsed;
const ok = (data: Record<string, number>): ToolCallResult => ({
  kind: 'ok',
  toolCallId: asToolCallId('tc_1'),
  text: '',
  data,
  truncated: false,
});
const refused = (reason: string): ToolCallResult => ({
  kind: 'failed',
  toolCallId: asToolCallId('tc_2'),
  code: 'TOOL_FAILED',
  reason,
});

function dryRun(
  answers: Readonly<Record<string, ToolCallResult>>,
  change: Partial<DryRunDeps> = {},
  tried = runbook,
) {
  const calls: ToolCallRequest[] = [];
  const minted: unknown[] = [];
  let live = 0;
  const run = createDryRun({
    load: async () => ({ incident: anIncident() }) as IncidentRecord,
    gate: {
      call: async (_credential, request) => {
        calls.push(request);
        return answers[request.tool] ?? refused('no such tool');
      },
    },
    vault: {
      mint: (grant) => {
        live += 1;
        minted.push(grant);
        return {} as Credential;
      },
      revoke: () => {
        live -= 1;
      },
    },
    targets: [
      { name: 'web', domain: 'docker' },
      { name: 'shop-db', domain: 'postgres' },
    ],
    shutdown: new AbortController().signal,
    ...change,
  });
  return { report: run(tried, asIncidentId('INC-1')), calls, minted, live: () => live };
}

describe('a dry run', () => {
  test('follows the steps at once, as a role that can only read, and then what was not reached', async () => {
    const { report, calls, minted, live } = dryRun({
      queue_depth: ok({ depth: 0 }),
      queue_consumers: ok({ count: 1, first: 7 }),
    });
    expect(await report).toEqual({
      passed: true,
      target: 'shop-db',
      lines: ['✓ queue_depth', '• Today it says: The queue is empty.', '✓ queue_consumers'],
    });
    expect(calls.map(({ tool, target }) => [tool, target])).toEqual([
      ['queue_depth', 'shop-db'],
      ['queue_consumers', 'shop-db'],
    ]);
    expect(minted).toEqual([{ role: 'validator', incidentId: 'INC-1', targets: ['shop-db'] }]);
    expect(live()).toBe(0);
  });

  test('calls nothing on the system that is to be read of a neighbour', async () => {
    const beside = steps.replace('call: queue_consumers', 'call: queue_consumers\nneighbour: host');
    const read = parseRunbook('queue.md', beside);
    if (!read.ok) throw new Error(JSON.stringify(read.problems));
    const { report, calls } = dryRun({ queue_depth: ok({ depth: 0 }) }, {}, read.parsed.runbook);
    expect((await report).passed).toBe(true);
    expect(calls.map(({ tool }) => tool)).toEqual(['queue_depth']);
  });

  test('that reaches a step gives it what earlier ones found', async () => {
    const { report, calls } = dryRun({
      queue_depth: ok({ depth: 9 }),
      queue_consumers: ok({ count: 1, first: 7 }),
      queue_reader: ok({ slow: 1 }),
    });
    expect((await report).passed).toBe(true);
    expect(calls.at(-1)).toMatchObject({ tool: 'queue_reader', input: { pid: 7 } });
  });

  test('says what it would propose, step by step, and proposes nothing', async () => {
    const acting = steps.replace(
      'checks:\n  - cannot_tell: { says: It reads slowly., next: Ask its owner. }',
      `checks:
  - when: result.slow == 1
    conclude:
      cause: The reader is slow.
      confidence: 0.5
      propose:
        steps:
          - { tool: reader_stop, why: It is slow. }
          - { tool: reader_start, why: A new one is fast. }
        verify: read
\`\`\`

\`\`\`yaml verify
name: read
for: 1s
timeout: 2s
checks:
  - { call: queue_depth, measure: depth, says: It is read. }`,
    );
    const outcome = parseRunbook('queue.md', acting);
    if (!outcome.ok) throw new Error(JSON.stringify(outcome.problems));
    const { report, calls } = dryRun(
      {
        queue_depth: ok({ depth: 9 }),
        queue_consumers: ok({ count: 1, first: 7 }),
        queue_reader: ok({ slow: 1 }),
      },
      {},
      outcome.parsed.runbook,
    );
    expect((await report).lines).toContain('• It would propose: reader_stop, then reader_start');
    expect(calls.map(({ tool }) => tool)).not.toContain('reader_stop');
  });

  test.each([
    ['a step that cannot be read', { queue_depth: refused('permission denied') }, 'permission denied'],
    ['a test that cannot be made', { queue_depth: ok({ length: 9 }) }, 'test could not be made'],
    [
      'a step that was not reached and does not run',
      { queue_depth: ok({ depth: 0 }), queue_consumers: refused('connection refused') },
      'connection refused',
    ],
  ])('with %s has failed, and says why', async (_what, answers, why) => {
    const { report } = dryRun(answers);
    const { passed, lines } = await report;
    expect([passed, lines.join('\n')]).toEqual([false, expect.stringContaining(why)]);
  });

  test('with no system of its domain, or no incident to be put on record under, has failed', async () => {
    const none = dryRun({}, { targets: [{ name: 'web', domain: 'docker' }] });
    expect(await none.report).toMatchObject({ passed: false, target: null });
    const lost = dryRun({}, { load: async () => null });
    expect(await lost.report).toMatchObject({ passed: false, target: null });
    expect([...none.calls, ...lost.calls]).toEqual([]);
  });
});
