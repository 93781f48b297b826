import { afterEach, describe, expect, it } from 'vitest';
import type { MessagesRequest } from '../../../../playground/claude/scenario.ts';
import type { Triage } from '../../../../src/core/diagnosis.ts';
import type { Runbook } from '../../../../src/runbooks/runbook.ts';
import { type InvestigationRig, startInvestigation, TREE } from './investigation-rig.ts';

let rig: InvestigationRig;
afterEach(() => rig.claude.close());

const TRIAGED: Triage = {
  severity: 'critical',
  incidentType: null,
  routine: false,
  ignore: false,
  reason: 'x',
};

/** One read, and a cause when the tree has a root. */
function runbook(more: Partial<Runbook> = {}): Runbook {
  return {
    id: 'blocked-sessions',
    title: 'Blocked sessions',
    domains: ['postgres'],
    version: 1,
    type: 'blocked_sessions',
    matches: { alerts: ['PostgresBlockedSessions'], text: [], labels: {} },
    requires: { step: 'tree', when: 'result.roots > 0', bad: 'present', inverse: [], opposite: [] },
    ignoreWhenHealthy: false,
    steps: [
      {
        id: 'tree',
        call: 'postgres_blocking_tree',
        with: {},
        why: 'who blocks whom',
        waitMs: 0,
        optional: false,
        checks: [
          {
            when: 'result.roots > 0',
            claims: [{ says: 'Pid 4711 is the root.', quote: ['root: pid 4711'], from: 'tree' }],
            turn: {
              kind: 'conclude',
              conclusion: {
                cause: 'Pid 4711 blocks eight sessions.',
                category: 'blocked_sessions',
                confidence: 0.95,
                ruledOut: [],
                propose: [
                  {
                    steps: [
                      {
                        tool: 'postgres_terminate_backend',
                        with: { pid: 4711, backend_start: '2026-11-21T10:00:00.123456Z' },
                        why: 'It is the root.',
                      },
                    ],
                    verify: null,
                  },
                ],
                prevent: [
                  {
                    steps: [
                      {
                        tool: 'postgres_set_setting',
                        with: { name: 'lock_timeout', value: '5s' },
                        why: 'Nobody waits for ever.',
                      },
                    ],
                  },
                ],
              },
            },
          },
          { claims: [], turn: { kind: 'healthy', says: 'Nobody waits.' } },
        ],
      },
    ],
    verify: {},
    body: '',
    file: 'test',
    ...more,
  };
}

const report = (request: MessagesRequest) => ({
  blocks: [
    {
      tool: 'report_diagnosis',
      input: {
        verdict: 'cause_found',
        rootCause: JSON.stringify(request.messages[0]).includes('runbook_check') ? 'checked' : 'alone',
        confidence: 0.9,
        evidence: [{ claim: 'c', toolCallIds: ['tc_000000000001'], quote: 'pid 4711' }],
      },
    },
  ],
});

async function start(known: Runbook, roots: number): Promise<void> {
  const data = { postgres_blocking_tree: { roots } };
  rig = await startInvestigation(report, { postgres_blocking_tree: TREE }, { runbooks: () => [known] }, data);
}
const effort = () =>
  (rig.claude.requests[0]?.body['output_config'] as { effort?: string } | undefined)?.effort;

describe('a problem whose runbook is known', () => {
  it('is read by the runbook first; Claude checks what it shows, at low effort', async () => {
    await start(runbook(), 1);
    expect(await rig.investigator.diagnose(rig.work, TRIAGED)).toMatchObject({ rootCause: 'checked' });
    expect(rig.requests.map(({ tool }) => tool)).toEqual(['postgres_blocking_tree']);
    expect(effort()).toBe('low');
    expect(JSON.stringify(rig.claude.requests[0]?.body.messages[0])).toContain('tc_000000000001');
  });

  it.each([
    [1, 'which Claude agrees on keeps what the runbook names to keep it from coming back'],
    [0, 'which is not shown has nothing to keep it from coming back'],
  ])('(%i shown) %s', async (roots) => {
    await start(runbook(), roots);
    const { prevent } = await rig.investigator.diagnose(rig.work, TRIAGED);
    expect(prevent?.map(({ tool }) => tool)).toEqual(roots ? ['postgres_set_setting'] : undefined);
  });

  it('is asked of no model where the runbook is conclusive, nor is the exact fix it names', async () => {
    await start(runbook({ conclusive: true }), 1);
    const diagnosis = await rig.investigator.diagnose(rig.work, TRIAGED);
    expect(diagnosis).toMatchObject({ verdict: 'cause_found', rootCause: 'Pid 4711 blocks eight sessions.' });
    expect(await rig.investigator.plan(rig.work, diagnosis)).toMatchObject({ kind: 'proposed' });
    expect(rig.requests.at(-1)).toMatchObject({ tool: 'postgres_terminate_backend', input: { pid: 4711 } });
    expect(rig.claude.requests).toEqual([]);
  });

  it('is investigated as any other when the runbook’s reads do not show it, conclusive or not', async () => {
    await start(runbook({ conclusive: true }), 0);
    await rig.investigator.diagnose(rig.work, TRIAGED);
    expect(effort()).toBe('high');
    expect(JSON.stringify(rig.claude.requests[0]?.body.messages[0])).toContain('Nobody waits');
  });

  it('is left to Claude when a person has said more, or an earlier round failed', async () => {
    await start(runbook({ conclusive: true }), 1);
    const hinted = { ...rig.work, guidance: [{ by: 'U1', text: 'it is the disk' }] };
    expect(await rig.investigator.diagnose(hinted, TRIAGED)).toMatchObject({ rootCause: 'alone' });
    expect(rig.requests).toEqual([]);
  });
});
