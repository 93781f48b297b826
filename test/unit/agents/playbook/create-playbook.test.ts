import { describe, expect, it } from 'vitest';
import { createPlaybook } from '../../../../src/agents/playbook/create-playbook.ts';
import type { Diagnosis } from '../../../../src/core/diagnosis.ts';
import { asActionId, asToolCallId } from '../../../../src/core/ids.ts';
import type { Json } from '../../../../src/core/tool-call.ts';
import { problemLine, validateRunbooks } from '../../../../src/runbooks/load-runbooks.ts';
import { type Answers, anAction, type ScriptedWork, scriptedWork } from './scripted-work.ts';

const QUEUE = `---
id: full-queue
title: Full queue
domain: postgres
version: 1
type: full_queue
matches: { alerts: [QueueFull], text: [queue is full] }
requires: { step: queue, when: "result.owners.exists(o, o.jobs > 100)", bad: present }
---
\`\`\`yaml step
id: health
call: queue_health
why: Reading the health
checks:
  - when: result.disk_ok
    rules_out: The disk is fine.
\`\`\`
\`\`\`yaml step
id: extra
call: queue_extra
why: Reading extras
optional: true
\`\`\`
\`\`\`yaml step
id: queue
call: queue_depth
with: { name: "\${incident.target}" }
why: Counting the jobs
checks:
  - when: result.jobs == 0
    healthy: The queue is empty.
  - when: result.jobs > 100
    let: { worst: "top(result.owners, 'jobs')" }
    claim:
      says: "\${worst.owner} has \${worst.jobs} jobs"
      quote: ["owner \${worst.owner}", "\${worst.jobs} jobs"]
    conclude:
      cause: "\${worst.owner} fills the queue"
      confidence: 0.95
      propose:
        - tool: queue_purge
          with: { owner: "\${worst.owner}", jobs: "\${worst.jobs}" }
          why: It empties the queue of \${worst.owner}.
          verify: emptied
        - tool: queue_drop
          with: { owner: "\${worst.owner}" }
          when: worst.jobs > 500
          why: It removes the queue.
\`\`\`
\`\`\`yaml verify
name: emptied
for: 10s
timeout: 2m
checks:
  - call: queue_depth
    with: { name: "\${incident.target}" }
    measure: jobs
    says: No job waits.
  - call: queue_depth
    with: { name: "\${incident.target}" }
    holds: "!result.owners.exists(o, o.owner == \${worst.owner})"
    says: The queue of \${worst.owner} is empty.
\`\`\`
`;

function runbooksOf(...sources: readonly string[]) {
  const loaded = validateRunbooks(sources.map((source, n) => ({ file: `${n}.md`, source })));
  if (loaded.problems.length > 0) throw new Error(loaded.problems.map(problemLine).join('\n'));
  return () => loaded.runbooks;
}
const playbook = createPlaybook({ runbooks: runbooksOf(QUEUE) });

const depth = (owners: readonly { readonly owner: string; readonly jobs: number }[]) => ({
  text: `${owners.length} owners\n${owners.map((one) => `  owner ${one.owner} · ${one.jobs} jobs`).join('\n')}`,
  data: { jobs: owners.reduce((sum, one) => sum + one.jobs, 0), owners } as Json,
});
const FINE: Answers = {
  queue_health: { text: 'disk ok', data: { disk_ok: true } },
  queue_extra: { text: 'extras', data: {} },
};
const full: Answers = {
  ...FINE,
  queue_depth: depth([
    { owner: 'ann', jobs: 3 },
    { owner: 'bob', jobs: 600 },
  ]),
};

async function diagnosed(work: ScriptedWork, by = playbook): Promise<Diagnosis> {
  return by.diagnose(work, await by.triage(work));
}

describe('triage', () => {
  it('takes the type from the runbook and the severity from the alert', async () => {
    const triage = await playbook.triage(scriptedWork(full, { incident: { severity: 'unknown' } }));
    expect(triage).toMatchObject({
      incidentType: 'full_queue',
      severity: 'unknown',
      routine: true,
      ignore: false,
    });
    expect(triage.reason).toBe('The runbook "Full queue" fits.');
  });

  it('calls an alert that no runbook fits neither routine nor known', async () => {
    const work = scriptedWork(full, { incident: { alertName: 'MoonTooLow', title: 'Moon' } });
    expect(await playbook.triage(work)).toMatchObject({ incidentType: null, routine: false, ignore: false });
  });

  it('ignores only where the runbook says so and the live system shows nothing', async () => {
    const ignoring = createPlaybook({
      runbooks: runbooksOf(QUEUE.replace('type: full_queue', 'type: full_queue\nignore_when_healthy: true')),
    });
    const empty = { ...FINE, queue_depth: depth([]) };
    expect((await ignoring.triage(scriptedWork(empty))).ignore).toBe(true);
    expect((await ignoring.triage(scriptedWork(full))).ignore).toBe(false);
    expect(
      (await ignoring.triage(scriptedWork({ ...empty, queue_health: { code: 'X', reason: 'down' } }))).ignore,
    ).toBe(false);
    expect((await playbook.triage(scriptedWork(empty))).ignore).toBe(false);
  });
});

describe('diagnosis', () => {
  it('states the cause with the line of the output that shows it', async () => {
    const work = scriptedWork(full);
    const diagnosis = await diagnosed(work);
    expect(diagnosis).toMatchObject({
      verdict: 'cause_found',
      rootCause: 'bob fills the queue',
      category: 'full_queue',
      confidence: 0.95,
      runbookId: 'full-queue',
    });
    expect(diagnosis.evidence).toEqual([
      { claim: 'bob has 600 jobs', toolCallIds: ['tc_000000000003'], quote: 'owner bob · 600 jobs' },
    ]);
    expect(diagnosis.ruledOut).toEqual(['The disk is fine.']);
    expect(work.calls.map((call) => [call.tool, call.target])).toEqual([
      ['queue_health', 'shop-db'],
      ['queue_extra', 'shop-db'],
      ['queue_depth', 'shop-db'],
    ]);
    expect(work.said).toContain('Counting the jobs …');
  });

  it('says healthy when the test for it holds', async () => {
    expect(await diagnosed(scriptedWork({ ...FINE, queue_depth: depth([]) }))).toMatchObject({
      verdict: 'healthy',
      category: null,
    });
  });

  it('looks once more from the beginning when what it had picked has gone: it may have been one of several', async () => {
    const later = `${QUEUE}
\`\`\`yaml step
id: again
call: queue_again
why: Looking again
checks:
  - when: "!result.owners.exists(o, o.owner == queue.owners[0].owner)"
    healthy: "The queue of \${queue.owners[0].owner} has emptied by itself."
  - when: "true"
    claim: { says: it stays, quote: "owner \${queue.owners[0].owner}" }
    conclude: { cause: "\${queue.owners[0].owner} fills the queue", confidence: 0.9 }
\`\`\`
`
      .replace('jobs > 100)"', 'jobs > 10)"')
      .replace('result.jobs > 100', 'result.jobs > 9000');
    const ann = depth([{ owner: 'ann', jobs: 50 }]);
    const bob = depth([{ owner: 'bob', jobs: 60 }]);
    const by = createPlaybook({ runbooks: runbooksOf(later) });
    const first = scriptedWork({ ...FINE, queue_depth: [ann, bob], queue_again: [bob, bob] });
    expect(await diagnosed(first, by)).toMatchObject({ rootCause: 'bob fills the queue' });
    const over = scriptedWork({ ...FINE, queue_depth: [ann, depth([])], queue_again: [bob] });
    expect(await diagnosed(over, by)).toMatchObject({ verdict: 'healthy', rootCause: 'The queue is empty.' });
    const passing = scriptedWork({ ...FINE, queue_depth: [ann, bob], queue_again: [bob, ann] });
    expect((await diagnosed(passing, by)).verdict).toBe('healthy');
    expect(passing.calls.filter(({ tool }) => tool === 'queue_depth')).toHaveLength(2);
  });

  it('claims no cause when its test does not hold', async () => {
    const diagnosis = await diagnosed(
      scriptedWork({ ...FINE, queue_depth: depth([{ owner: 'ann', jobs: 100 }]) }),
    );
    expect(diagnosis).toMatchObject({ verdict: 'cannot_tell', category: null, confidence: 0, evidence: [] });
    expect(diagnosis.suggested).toBeUndefined();
  });

  it('does not call a system healthy when a read on the way failed', async () => {
    const diagnosis = await diagnosed(
      scriptedWork({
        ...FINE,
        queue_health: { code: 'POSTGRES_42501', reason: 'permission denied' },
        queue_depth: depth([]),
      }),
    );
    expect(diagnosis.verdict).toBe('cannot_tell');
    expect(diagnosis.unknown[0]).toMatch(
      /queue_health could not be read: permission denied\. Grant it: GRANT pg_monitor/,
    );
  });

  it('is not sure enough to act when a read on the way failed', async () => {
    const diagnosis = await diagnosed(scriptedWork({ ...full, queue_health: { code: 'X', reason: 'down' } }));
    expect(diagnosis.verdict).toBe('cause_found');
    expect(diagnosis.confidence).toBeLessThan(0.9);
  });

  it('lets an optional read fail', async () => {
    const diagnosis = await diagnosed(
      scriptedWork({ ...full, queue_extra: { code: 'POSTGRES_42P01', reason: 'not there' } }),
    );
    expect(diagnosis.confidence).toBe(0.95);
    expect(diagnosis.unknown).toHaveLength(1);
  });

  it('drops a claim that no line shows, and is not sure enough to act then', async () => {
    const work = scriptedWork({
      ...full,
      queue_depth: { ...depth([{ owner: 'bob', jobs: 600 }]), text: 'owner [redacted] · 600 jobs' },
    });
    const diagnosis = await diagnosed(work);
    expect(diagnosis.evidence).toEqual([]);
    expect(work.droppedClaims).toEqual([
      'bob has 600 jobs: the output of step queue has no line that shows it',
    ]);
    expect(diagnosis.confidence).toBeLessThan(0.9);
  });

  it('cannot tell when the data lacks what the test names', async () => {
    const diagnosis = await diagnosed(scriptedWork({ ...FINE, queue_depth: { text: 'odd', data: {} } }));
    expect(diagnosis.verdict).toBe('cannot_tell');
    expect(diagnosis.unknown.join()).toContain('No such key: jobs');
  });

  it('looks around and claims nothing when no runbook fits', async () => {
    const work = scriptedWork(
      {
        postgres_activity: { text: '12 sessions\nmore', data: {} },
        postgres_connections: { code: 'POSTGRES_53300', reason: 'too many clients' },
      },
      { incident: { alertName: 'MoonTooLow', title: 'Moon' } },
    );
    const diagnosis = await diagnosed(work);
    expect(diagnosis).toMatchObject({
      verdict: 'cannot_tell',
      category: null,
      confidence: 0,
      runbookId: null,
    });
    expect(diagnosis.evidence[0]).toMatchObject({ quote: '12 sessions', toolCallIds: ['tc_000000000002'] });
    expect(diagnosis.unknown.join()).toContain('reserved_connections');
    expect(await playbook.plan(work, diagnosis)).toMatchObject({ kind: 'none' });
  });

  it('says that the system cannot be reached, where that is all that can be read', async () => {
    const text = 'shop-db cannot be reached: connection refused';
    const work = scriptedWork(
      { postgres_reachable: { text, data: { reachable: false, code: 'ECONNREFUSED' } } },
      { incident: { alertName: 'PostgresDown', title: 'shop-db is down' } },
    );
    const diagnosis = await diagnosed(work);
    expect(diagnosis).toMatchObject({ verdict: 'cannot_tell', evidence: [{ quote: text }] });
    expect(diagnosis.rootCause).toContain(text);
  });

  it('reads nothing when the alert names no target [L2]', async () => {
    const work = scriptedWork(full, { incident: { target: null } });
    expect(await diagnosed(work)).toMatchObject({ verdict: 'cannot_tell' });
    expect(work.calls).toEqual([]);
  });

  it('decides nothing when only memory named the runbook, and tells what was seen', async () => {
    const hit = { runbookId: 'full-queue', title: '', heading: '', text: '', score: 1 };
    const options = { incident: { alertName: 'MoonTooLow', title: 'Moon' }, recall: { runbooks: [hit] } };
    expect((await diagnosed(scriptedWork({ ...FINE, queue_depth: depth([]) }, options))).verdict).toBe(
      'cannot_tell',
    );
    const seen = await diagnosed(scriptedWork(full, options));
    expect(seen).toMatchObject({ verdict: 'cannot_tell', category: null, confidence: 0 });
    expect(seen.rootCause).toMatch(/nothing in the alert says that it is about that: bob fills the queue/);
    expect(seen.suggested).toEqual([]);
    expect(seen.evidence).toHaveLength(1);
  });

  it('names no cause whose symptom was not read, whatever its tests say', async () => {
    for (const when of ['result.jobs > 5000', 'result.no_such_number > 1']) {
      const by = createPlaybook({
        runbooks: runbooksOf(QUEUE.replace('"result.owners.exists(o, o.jobs > 100)"', when)),
      });
      const diagnosis = await diagnosed(scriptedWork(full), by);
      expect(diagnosis).toMatchObject({ verdict: 'cannot_tell', category: null, confidence: 0 });
      expect(diagnosis.suggested).toBeUndefined();
    }
  });

  it('tells what it found, and does nothing for it, when the alert may be about another system', async () => {
    const diagnosis = await diagnosed(
      scriptedWork(full, { incident: { title: 'The queue of Redis is full' } }),
    );
    expect(diagnosis).toMatchObject({ verdict: 'cannot_tell', confidence: 0, suggested: [] });
    expect(diagnosis.rootCause).toMatch(/something else \(“redis”\).*bob fills the queue/);
    expect(diagnosis.evidence).not.toEqual([]);
    expect(diagnosis).toMatchObject({
      blastRadius: null,
      remedy: expect.stringContaining('full-queue') as string,
    });
    expect(diagnosis.hypotheses).toBeUndefined();
  });

  it('calls nothing healthy before the symptom was looked for', async () => {
    const early = QUEUE.replace('rules_out: The disk is fine.', 'healthy: The disk is fine.');
    const by = createPlaybook({ runbooks: runbooksOf(early) });
    expect((await diagnosed(scriptedWork(full), by)).verdict).toBe('cannot_tell');
  });

  it('is too unsure to act on a phrase in a description, and calls nothing healthy on it', async () => {
    const incident = {
      alertName: 'MoonTooLow',
      title: 'Moon',
      annotations: { summary: 'the queue is full' },
    };
    const diagnosis = await diagnosed(scriptedWork(full, { incident }));
    expect(diagnosis.verdict).toBe('cause_found');
    expect(diagnosis.confidence).toBeLessThan(0.9);
    const empty = { ...FINE, queue_depth: depth([]) };
    expect((await diagnosed(scriptedWork(empty, { incident }))).verdict).toBe('cannot_tell');
  });

  it.each([
    ['a title alone', { alertName: null, title: 'The queue is full' }],
    ['a text on another system', { annotations: { summary: 'The queue of RabbitMQ is full' } }],
    ['a text on another quantity', { annotations: { summary: 'The p99 of the queue' } }],
  ])('tells what it saw, and not that it answers %s', async (_, incident) => {
    const seen = await diagnosed(scriptedWork({ ...FINE, queue_depth: depth([]) }, { incident }));
    expect(seen).toMatchObject({ verdict: 'cannot_tell', confidence: 0 });
    expect(seen.rootCause).toMatch(/^The queue is empty\. Whether that answers this alert, I cannot tell/);
  });

  it('follows its own runbooks by their names when memory does not answer', async () => {
    const recall = { runbooks: [], missing: 'Chroma did not answer within 2 s' };
    const diagnosis = await diagnosed(scriptedWork(full, { recall }));
    expect(diagnosis).toMatchObject({ verdict: 'cause_found', runbookId: 'full-queue' });
  });

  it('puts what the alert is about before the cause that another runbook finds', async () => {
    const first = QUEUE.replace(
      'healthy: The queue is empty.',
      'use: { runbook: dry-well, says: "${result.jobs} jobs are left." }',
    ).replace('result.jobs == 0', 'result.jobs > 0');
    const second = QUEUE.replace('id: full-queue', 'id: dry-well').replace(
      'alerts: [QueueFull]',
      'alerts: []',
    );
    const by = createPlaybook({ runbooks: runbooksOf(first, second) });
    const { rootCause } = await diagnosed(scriptedWork(full), by);
    expect(rootCause).toBe('603 jobs are left. bob fills the queue');
  });

  it('hands over to another runbook and keeps what was ruled out', async () => {
    const first = QUEUE.replace('healthy: The queue is empty.', 'use: dry-well').replace(
      'result.jobs == 0',
      'result.jobs == 0',
    );
    const second = QUEUE.replace('id: full-queue', 'id: dry-well')
      .replace('alerts: [QueueFull]', 'alerts: []')
      .replace('healthy: The queue is empty.', 'healthy: It is only dry.');
    const by = createPlaybook({ runbooks: runbooksOf(first, second) });
    const diagnosis = await diagnosed(scriptedWork({ ...FINE, queue_depth: depth([]) }), by);
    expect(diagnosis).toMatchObject({
      verdict: 'healthy',
      rootCause: 'It is only dry.',
      runbookId: 'dry-well',
    });
    expect(diagnosis.ruledOut.length).toBeGreaterThan(0);
  });

  it('verifies what the first runbook wants as well after handing over', async () => {
    const first = `${QUEUE.replace('healthy: The queue is empty.', 'use: { runbook: dry-well, also_verify: room }').replace('result.jobs == 0', 'result.jobs > 0')}
\`\`\`yaml verify
name: room
for: 1s
timeout: 2s
checks:
  - call: queue_health
    holds: result.free > \${queue.jobs}
    says: There is room.
\`\`\`
`;
    const second = QUEUE.replace('id: full-queue', 'id: dry-well').replace(
      'alerts: [QueueFull]',
      'alerts: []',
    );
    const by = createPlaybook({ runbooks: runbooksOf(first, second) });
    const diagnosis = await diagnosed(scriptedWork(full), by);
    expect(diagnosis.runbookId).toBe('dry-well');
    expect(diagnosis.suggested?.[0]?.verify?.steps.map((step) => step.measure?.name ?? step.holds)).toEqual([
      'jobs',
      '!result.owners.exists(o, o.owner == "bob")',
      'result.free > 603',
    ]);
  });

  it('ends when runbooks hand over in a circle', async () => {
    const one = QUEUE.replace('healthy: The queue is empty.', 'use: other');
    const other = QUEUE.replace('id: full-queue', 'id: other').replace(
      'healthy: The queue is empty.',
      'use: full-queue',
    );
    const by = createPlaybook({ runbooks: runbooksOf(one, other) });
    expect((await diagnosed(scriptedWork({ ...FINE, queue_depth: depth([]) }), by)).verdict).toBe(
      'cannot_tell',
    );
  });

  it('does not read again what was read before a crash', async () => {
    const journal = new Map<string, unknown>();
    const before = await diagnosed(scriptedWork(full, { journal }));
    const again = scriptedWork({ ...FINE, queue_depth: depth([]) }, { journal });
    expect(await diagnosed(again)).toEqual(before);
    expect(again.calls).toEqual([]);
  });

  it('stops when it is told to', async () => {
    const work = scriptedWork(full, { signal: AbortSignal.abort(new Error('stopped')) });
    await expect(diagnosed(work)).rejects.toThrow('stopped');
    expect(work.calls).toEqual([]);
  });
});

describe('planning', () => {
  const planned = async (work: ScriptedWork) => playbook.plan(work, await diagnosed(work));

  const twoSteps = QUEUE.replace(
    /propose:\n[^]*?( {8}- tool: queue_drop)/,
    `propose:
        - steps:
            - tool: queue_purge
              with: { owner: "\${worst.owner}" }
              why: It empties the queue of \${worst.owner}.
            - tool: queue_open
              with: { jobs: "\${worst.jobs}" }
              why: It takes new jobs.
          verify: emptied
$1`,
  );
  const byTwo = createPlaybook({ runbooks: runbooksOf(twoSteps) });

  it('proposes several steps by one call, with one way to tell', async () => {
    const work = scriptedWork(full);
    const diagnosis = await diagnosed(work, byTwo);
    expect(await byTwo.plan(work, diagnosis)).toEqual({ kind: 'proposed', actionId: 'act_aaaaaaaaaaaa' });
    expect(work.calls.filter(({ proposal }) => proposal !== undefined)).toMatchObject([
      {
        tool: 'queue_purge',
        input: { owner: 'bob' },
        proposal: {
          why: 'It empties the queue of bob.',
          andThen: [{ tool: 'queue_open', input: { jobs: 600 }, why: 'It takes new jobs.' }],
          verify: { steps: [{ measure: { name: 'jobs' } }, {}] },
        },
      },
    ]);
  });

  it('takes the next way when a step of the first was run before', async () => {
    const opened = anAction({ tool: 'queue_open', input: { jobs: 600 }, command: 'open' });
    const work = scriptedWork(full, { tried: [opened] });
    await byTwo.plan(work, await diagnosed(work, byTwo));
    expect(work.calls.at(-1)).toMatchObject({ tool: 'queue_drop' });
  });

  it('leaves all of a plan out when one of its steps cannot be filled in', async () => {
    const half = twoSteps.replace('jobs: "${worst.jobs}" }', 'jobs: "${worst.nothing}" }');
    const by = createPlaybook({ runbooks: runbooksOf(half) });
    const diagnosis = await diagnosed(scriptedWork(full), by);
    expect(diagnosis.suggested?.map(({ tool }) => tool)).toEqual(['queue_drop']);
    expect(diagnosis.unknown.join(' ')).toContain('queue_purge and queue_open are not proposed');
  });

  it('proposes the exact call with why and how to tell', async () => {
    const work = scriptedWork(full);
    expect(await planned(work)).toEqual({ kind: 'proposed', actionId: 'act_aaaaaaaaaaaa' });
    expect(work.calls.at(-1)).toEqual({
      tool: 'queue_purge',
      target: 'shop-db',
      input: { owner: 'bob', jobs: 600 },
      proposal: {
        why: 'It empties the queue of bob.',
        runbookId: 'full-queue',
        verify: {
          holdMs: 10_000,
          timeoutMs: 120_000,
          steps: [
            {
              tool: 'queue_depth',
              input: { name: 'shop-db' },
              measure: { name: 'jobs' },
              says: 'No job waits.',
            },
            {
              tool: 'queue_depth',
              input: { name: 'shop-db' },
              holds: '!result.owners.exists(o, o.owner == "bob")',
              says: 'The queue of bob is empty.',
            },
          ],
        },
      },
    });
  });

  it('does not propose again what did not help, but the next way', async () => {
    const tried = [anAction({ input: { jobs: 600, owner: 'bob' } })];
    const work = scriptedWork(full, { incident: { round: 2 }, tried });
    expect(await planned(work)).toMatchObject({ kind: 'proposed' });
    expect(work.calls.at(-1)?.tool).toBe('queue_drop');
  });

  it('may do to another what was done to one before', async () => {
    const tried = [anAction({ input: { jobs: 9, owner: 'ann' } })];
    const work = scriptedWork(full, { incident: { round: 2 }, tried });
    expect(await planned(work)).toMatchObject({ kind: 'proposed' });
    expect(work.calls.at(-1)?.tool).toBe('queue_purge');
  });

  it.each([
    ['what did not help the last time comes after the others', 'shop-db', 'queue_drop'],
    ['elsewhere it may have failed', 'other-db', 'queue_purge'],
  ])('%s', async (_, target, first) => {
    const failedActs = [{ tool: 'queue_purge', target, input: { owner: 'bob', jobs: 600 } }];
    const recall = { episodes: { similar: [], failedCommands: [], failedActs } };
    const work = scriptedWork(full, { recall });
    expect(await planned(work)).toMatchObject({ kind: 'proposed' });
    expect(work.calls.at(-1)?.tool).toBe(first);
  });

  it('what did not help the last time is still proposed where there is nothing else', async () => {
    const failedActs = [
      { tool: 'queue_purge', target: 'shop-db', input: { owner: 'bob', jobs: 600 } },
      { tool: 'queue_drop', target: 'shop-db', input: { owner: 'bob' } },
    ];
    const recall = { episodes: { similar: [], failedCommands: [], failedActs } };
    const work = scriptedWork(full, { recall });
    expect(await planned(work)).toMatchObject({ kind: 'proposed' });
    expect(work.calls.at(-1)?.tool).toBe('queue_purge');
  });

  it('says of each how it ended when all were run, and "did not help" only of what was seen not to', async () => {
    const all = (verdict: 'not_fixed' | null) => [
      { ...anAction({ input: { jobs: 600, owner: 'bob' }, command: 'purge bob' }), verdict },
      anAction({ tool: 'queue_drop', input: { owner: 'bob' }, command: 'drop bob', state: 'failed' }),
    ];
    const reasonOf = async (verdict: 'not_fixed' | null) => {
      const outcome = await planned(scriptedWork(full, { incident: { round: 2 }, tried: all(verdict) }));
      return outcome.kind === 'none' ? outcome.reason : outcome.kind;
    };
    expect(await reasonOf('not_fixed')).toBe(
      '“Run purge bob” was done in round 1 and did not help. “Run drop bob” failed in round 1.',
    );
    expect(await reasonOf(null)).toBe(
      '“Run purge bob” was done in round 1. “Run drop bob” failed in round 1.',
    );
  });

  it('says of what a person took back that it was, by the act and not by its command', async () => {
    const purge = anAction({
      id: asActionId('act_purge'),
      input: { jobs: 600, owner: 'bob' },
      command: 'purge\n-bob\n+ann',
      objects: [{ kind: 'file', key: '/etc/bob', label: 'file /etc/bob' }],
      verbs: { does: 'Change', did: 'Changed', button: 'Change the file' },
    });
    const drop = anAction({ tool: 'queue_drop', input: { owner: 'bob' }, command: 'drop bob' });
    const tried = [purge, drop, { ...anAction({ tool: 'undo' }), undoes: purge.id }];
    const outcome = await planned(scriptedWork(full, { incident: { round: 2 }, tried }));
    expect(outcome).toMatchObject({
      reason: '“Change file bob” was done in round 1 and taken back. “Run drop bob” was done in round 1.',
    });
  });

  it('asks the gate for what was denied, and says what the gate said', async () => {
    const reason = 'A person said no to the queue of bob: “it is mine”.';
    const tried = [anAction({ tool: 'queue_drop', input: { owner: 'bob' }, state: 'denied' })];
    const reads = scriptedWork(full, { tried });
    const asked: string[] = [];
    const work: ScriptedWork = {
      ...reads,
      async callTool(request, purpose) {
        if (request.proposal === undefined) return reads.callTool(request, purpose);
        asked.push(request.tool);
        return { kind: 'refused', toolCallId: asToolCallId('tc_000000000099'), code: 'DENIED', reason };
      },
    };
    expect(await planned(work)).toEqual({ kind: 'none', reason });
    expect(asked).toEqual(['queue_purge', 'queue_drop']);
  });

  it('proposes again what never ran because the state had moved', async () => {
    const tried = [anAction({ input: { jobs: 600, owner: 'bob' }, state: 'void' })];
    const work = scriptedWork(full, { tried });
    expect(await planned(work)).toMatchObject({ kind: 'proposed' });
    expect(work.calls.at(-1)?.tool).toBe('queue_purge');
  });

  it('proposes nothing for a diagnosis that is none, is unsure or names no exact call', async () => {
    const diagnosis = await diagnosed(scriptedWork(full));
    const { suggested: _, ...byModel } = diagnosis;
    const unfit: readonly Diagnosis[] = [
      byModel,
      { ...diagnosis, confidence: 0.89 },
      { ...diagnosis, verdict: 'healthy' },
    ];
    for (const one of unfit) {
      const work = scriptedWork(full);
      expect((await playbook.plan(work, one)).kind).toBe('none');
      expect(work.calls).toEqual([]);
    }
  });
});
