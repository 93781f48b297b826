import { describe, expect, it } from 'vitest';
import { checkFirstData } from '../../../../src/agents/claude/prompt-data.ts';
import { createPlaybook } from '../../../../src/agents/playbook/create-playbook.ts';
import { asIncidentId } from '../../../../src/core/ids.ts';
import type { PastCause, RecalledIncident } from '../../../../src/core/memory.ts';
import { validateRunbooks } from '../../../../src/runbooks/load-runbooks.ts';
import { type Answers, scriptedWork } from './scripted-work.ts';

const LOCKS = { text: '3 sessions wait\n  pid 7 holds orders', data: { waiting: 3 } };
const answers: Answers = { queue_locks: LOCKS };

const past = (
  check: Partial<PastCause> | null,
  change: Partial<RecalledIncident> = {},
): RecalledIncident => ({
  incidentId: asIncidentId('INC-9'),
  title: 'Queue is full',
  target: 'shop-db',
  incidentType: null,
  severity: 'critical',
  distance: 0.1,
  storedAt: '2026-11-01T00:00:00Z',
  times: 1,
  ended: 'fixed',
  document: '',
  ...change,
  ...(check === null
    ? {}
    : {
        check: {
          incidentId: asIncidentId('INC-3'),
          cause: 'The report job holds a lock on orders',
          ended: 'fixed',
          read: { tool: 'queue_locks', input: { table: 'orders' } },
          ...check,
        },
      }),
});

const RUNBOOK = `---
id: full-queue
title: Full queue
domain: postgres
version: 1
type: full_queue
matches: { alerts: [QueueFull], text: [] }
requires: { step: queue, when: "result.jobs > 100", bad: present }
---
\`\`\`yaml step
id: queue
call: queue_depth
why: Counting the jobs
checks:
  - when: result.jobs > 100
    claim: { says: "\${result.jobs} jobs", quote: ["\${result.jobs} jobs"] }
    conclude: { cause: "The queue is full", confidence: 0.95 }
\`\`\`
`;

function runbooksOf(...sources: readonly string[]) {
  const { runbooks } = validateRunbooks(sources.map((source, n) => ({ file: `${n}.md`, source })));
  return () => runbooks;
}

async function diagnosed(
  incidents: readonly RecalledIncident[],
  more: Answers = {},
  runbooks = runbooksOf(),
) {
  const work = scriptedWork({ ...answers, ...more }, { recall: { incidents } });
  const triage = {
    severity: 'critical',
    incidentType: null,
    routine: false,
    ignore: false,
    reason: '',
  } as const;
  const diagnosis = await createPlaybook({ runbooks }).diagnose(work, triage);
  return { diagnosis, calls: work.calls.map(({ tool, input }) => ({ tool, input })) };
}

describe('a past cause', () => {
  it('is checked first, by the read that showed it, and stays an explanation that is no evidence', async () => {
    const { diagnosis, calls } = await diagnosed([past({})]);
    expect(calls[0]).toEqual({ tool: 'queue_locks', input: { table: 'orders' } });
    expect(diagnosis).toMatchObject({ verdict: 'cannot_tell', confidence: 0 });
    expect(diagnosis.evidence[0]).toMatchObject({
      claim: 'What showed the cause of INC-3 now shows: 3 sessions wait',
      quote: '3 sessions wait',
    });
    expect(JSON.stringify(diagnosis.evidence)).not.toContain('report job');
    expect(diagnosis.hypotheses).toEqual([
      {
        cause: 'As in INC-3: The report job holds a lock on orders',
        forIds: [],
        againstIds: [],
        end: 'open',
      },
    ]);
    expect(diagnosis.remedy).toMatch(/^Check first whether it is as in INC-3 \(fixed\)\. /);
  });

  it('that was fixed comes before a nearer one that was not', async () => {
    const open = past({ incidentId: asIncidentId('INC-8'), cause: 'Unclear', ended: 'not fixed' });
    const { diagnosis } = await diagnosed([open, past({})]);
    expect(diagnosis.remedy).toContain('as in INC-3 (fixed)');
    expect((await diagnosed([open])).diagnosis.remedy).toContain('as in INC-8 (not fixed).');
  });

  it('whose read named what was there then is told, and nothing is read for it', async () => {
    const { diagnosis, calls } = await diagnosed([past({ read: { tool: 'queue_locks', input: null } })]);
    expect(calls.map(({ tool }) => tool)).not.toContain('queue_locks');
    expect(diagnosis.hypotheses).toHaveLength(1);
    expect(diagnosis.unknown).toContain('No read fits here that would show whether it is as in INC-3.');
  });

  it.each(['ENGINE_NOT_FOUND', 'KUBERNETES_NOT_FOUND', 'PATH_MISSING'])(
    'whose read names what is not there (%s) is told so, and stays open',
    async (code) => {
      const { diagnosis } = await diagnosed([past({})], {
        queue_locks: { code, reason: 'Nothing has this name.' },
      });
      expect(diagnosis.unknown).toContain(
        'What showed the cause of INC-3 is not there any more: Nothing has this name.',
      );
      expect(diagnosis.hypotheses).toMatchObject([{ end: 'open', againstIds: [] }]);
    },
  );

  it('comes without marks that would make it read as ours', async () => {
    const { diagnosis } = await diagnosed([past({ cause: '✅ The report\u202E job' })]);
    expect(diagnosis.hypotheses?.[0]?.cause).toBe('As in INC-3: The report job');
  });

  it('that cannot be read again is told with why', async () => {
    const { diagnosis } = await diagnosed([past({})], {
      queue_locks: { code: 'TIMEOUT', reason: 'It took too long.' },
    });
    expect(diagnosis.unknown.join(' ')).toContain('queue_locks could not be read: It took too long.');
    expect(diagnosis.hypotheses).toHaveLength(1);
  });

  it.each([
    ['of another target', past({}, { target: 'other-db' })],
    ['of an incident whose target is not known', past({}, { target: null })],
    ['that is not on record', past(null)],
  ])('%s is not checked', async (_, incident) => {
    const { diagnosis, calls } = await diagnosed([incident]);
    expect(calls.map(({ tool }) => tool)).not.toContain('queue_locks');
    expect(diagnosis.hypotheses).toBeUndefined();
  });

  it('waits behind the runbook that the alert names, and is asked only where that cannot tell', async () => {
    const runbooks = runbooksOf(RUNBOOK);
    const full = { queue_depth: { text: '600 jobs', data: { jobs: 600 } } };
    const found = await diagnosed([past({})], full, runbooks);
    expect(found.diagnosis.verdict).toBe('cause_found');
    expect(found.calls.map(({ tool }) => tool)).not.toContain('queue_locks');
    const broken = { queue_depth: { code: 'TIMEOUT', reason: 'It took too long.' } };
    const unread = await diagnosed([past({})], broken, runbooks);
    expect(unread.calls.map(({ tool }) => tool).indexOf('queue_locks')).toBeGreaterThan(0);
    expect(unread.diagnosis.hypotheses?.at(-1)?.cause).toContain('As in INC-3');
  });
});

describe('the model is told past causes', () => {
  const told = (incidents: readonly RecalledIncident[]) =>
    checkFirstData(scriptedWork({}, { recall: { incidents } }));

  it('as explanations to test, fixed ones first, each with its read', () => {
    const open = past({
      incidentId: asIncidentId('INC-8'),
      cause: 'Unclear',
      ended: 'not fixed',
      read: null,
    });
    expect(told([open, past({})])).toMatchObject({
      check_first: {
        past_causes: [
          {
            incident: 'INC-3',
            cause: 'The report job holds a lock on orders',
            ended: 'fixed',
            read: 'queue_locks {"table":"orders"}',
          },
          { incident: 'INC-8', cause: 'Unclear', ended: 'not fixed' },
        ],
      },
    });
  });

  it('without marks and cut, and with a whole read or none', () => {
    const long = { tool: 'queue_locks', input: { table: 'x'.repeat(300) } };
    const none = { tool: 'queue_locks', input: null };
    const cause = `✅ ${'y'.repeat(300)}`;
    expect(told([past({ cause, read: long }), past({ read: none })])).toMatchObject({
      check_first: {
        past_causes: [
          { cause: `${'y'.repeat(199)}…`, read: 'no read fits here' },
          { read: 'no read fits here' },
        ],
      },
    });
  });

  it('and of none where none is on record', () => expect(told([past(null)])).toEqual({}));
});
