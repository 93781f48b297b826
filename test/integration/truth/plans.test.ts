import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { resolveUnknownOutcome } from '../../../src/actions/approvals/resolve-unknown-outcome.ts';
import type { ExecutionResult } from '../../../src/actions/ledger/execution.ts';
import { claim } from '../../../src/actions/ledger/ledger.ts';
import type { Action } from '../../../src/core/action.ts';
import { createTurn } from '../../../src/incidents/turn.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import type { Row } from '../../support/typed.ts';
import { type PlansRig, startPlansRig } from './plans-rig.ts';

/** Plans of three steps through the real gate, ledger and turns: one approval, each step in order, none ahead of another. */
let rig: PlansRig;
beforeAll(async () => {
  rig = await startPlansRig();
});
afterAll(() => rig.stop());
beforeEach(async () => {
  await rig.core.sql`DELETE FROM rate_claim`;
  rig.world.ran.length = 0;
  rig.world.parts.clear();
  rig.world.limited.clear();
});

const ABC = ['part_do a', 'part_do b', 'part_do c'];
const hooks = {
  claimed: async () => undefined,
  released: async () => undefined,
  ended: async () => undefined,
};
const never = new AbortController().signal;

function step(plan: readonly Action[], n: number): Action {
  const found = plan[n - 1];
  if (!found) throw new Error(`no step ${n}`);
  return found;
}

/** Approved, and its first step run: the moment between two steps. */
async function begun(steps: readonly string[] = ABC, target?: string): Promise<readonly Action[]> {
  const plan = await rig.propose(steps, target);
  await rig.approve(plan);
  await rig.turn(step(plan, 1).incidentId);
  expect((await rig.states(plan)).slice(0, 2)).toEqual(['succeeded', 'queued']);
  return plan;
}

/** Asked until it is no longer put off. */
async function eventually(ask: () => Promise<ExecutionResult>): Promise<ExecutionResult> {
  for (;;) {
    const answer = await ask();
    if (answer.kind !== 'later') return answer;
  }
}

const ended = (_: readonly Action[], state: string): boolean =>
  !['awaiting_approval', 'remediating'].includes(state);
const judged = (_: readonly Action[], state: string): boolean =>
  !['awaiting_approval', 'remediating', 'verifying'].includes(state);

/** A No of another incident's to a part of the same system. */
async function denyElsewhere(part: string, target: string): Promise<void> {
  const [other] = await rig.propose([`part_undo ${part}`], target);
  if (!other) throw new Error('not proposed');
  const decided = await rig.core.approvals.decide({
    actionId: other.id,
    planHash: other.planHash,
    by: 'UONCALL',
    decision: 'deny',
    reason: 'not now',
    anotherWay: false,
    reach: { scope: 'object', minutes: null },
  });
  expect(decided).toMatchObject({ ok: true });
}

describe('a plan', () => {
  test('is one card and one approval, and its steps run in order, each after the one before has ended', async () => {
    const plan = await rig.propose(ABC);
    const { incidentId, id, planHash } = step(plan, 1);
    expect(plan.map(({ state, step: n, planId }) => [state, n, planId])).toEqual([
      ['proposed', 1, id],
      ['queued', 2, id],
      ['queued', 3, id],
    ]);
    expect(new Set(plan.map((each) => each.planHash))).toEqual(new Set([planHash]));
    await rig.approve(plan);
    await rig.drive(plan, judged);
    expect(rig.world.ran).toEqual(ABC);
    expect(await rig.stateOf(incidentId)).toBe('resolved');
    const done = await rig.steps(plan);
    expect(done.map(({ state, decidedBy }) => [state, decidedBy])).toEqual(
      ABC.map(() => ['succeeded', 'UONCALL']),
    );
    for (const [at, each] of done.entries())
      if (at > 0) expect(each.startedAt ?? '' > (done[at - 1]?.finishedAt ?? 'z')).toBeTruthy();
    const events = (await rig.core.records.load(incidentId))?.events ?? [];
    const acts = events.flatMap((event) => (event.type.startsWith('action.') ? [event.type] : []));
    expect(acts).toEqual([
      'action.proposed',
      'action.approved',
      ...ABC.flatMap(() => ['action.started', 'action.finished']),
    ]);
    const claims = await rig.core.sql<Row>`
      SELECT action_id FROM criterion_reading WHERE incident_id = ${incidentId} AND phase = 'claim'`;
    // Red before its first step; what that one did may turn it for the next.
    expect(claims.map((row) => row['action_id'])).toEqual([id]);
  });

  test('goes on only when the effect of the step before was seen', async () => {
    rig.world.part('a').shows = false;
    const plan = await begun();
    await rig.drive(plan, ended);
    expect(rig.world.ran).toEqual(['part_do a']);
    expect(await rig.states(plan)).toEqual(['succeeded', 'skipped', 'skipped']);
    expect(await rig.told(step(plan, 1).incidentId)).toContain(
      'Step 2 of 3 and what follows it was not run: The effect of step 1, part_do a, is not to be seen',
    );
  });

  test('is not called off by a process that could not see the effect, once another has gone on with it', async () => {
    const plan = await begun();
    const { incidentId } = step(plan, 1);
    rig.world.part('a').shows = false;
    const { gate } = rig.core;
    const slow = createTurn({
      ...rig.core,
      gate: {
        ...gate,
        async execute(...asked) {
          // Not to be seen for longer than that may take; its answer comes when another process has seen it, and gone on.
          const answer = await eventually(() => gate.execute(...asked));
          rig.world.part('a').shows = true;
          await rig.turn(incidentId);
          return answer;
        },
      },
    });
    await slow(incidentId, 'test', (_, fn) => fn());
    expect(await rig.states(plan)).toEqual(['succeeded', 'succeeded', 'queued']);
    await rig.drive(plan, judged);
    expect(rig.world.ran).toEqual(ABC);
    expect(await rig.states(plan)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  });

  test('whose step fails stops there, and the rest of it may be proposed again', async () => {
    const plan = await begun();
    rig.world.part('b').ends = 'failed';
    await rig.drive(plan, ended);
    const { incidentId, target } = step(plan, 1);
    expect(rig.world.ran).toEqual(['part_do a', 'part_do b']);
    expect(await rig.states(plan)).toEqual(['succeeded', 'failed', 'skipped']);
    expect(await rig.told(incidentId)).toContain(
      'Step 2 of 3 ended as failed and the rest of the plan was not run',
    );
    await rig.drive(plan, judged);
    expect(await rig.stateOf(incidentId)).toBe('diagnosing');
    // What failed is not tried again; what was skipped never was.
    expect(await rig.call(incidentId, target, ['part_do b', 'part_do c'])).toMatchObject({
      kind: 'refused',
      code: 'TRIED_ALREADY',
      reason: expect.stringContaining('Step 1 of 2'),
    });
    expect(await rig.call(incidentId, target, ['part_do c'])).toMatchObject({ kind: 'proposed' });
  });

  test.each([
    { looks: 'done', states: ['succeeded', 'succeeded', 'succeeded'], ran: ABC },
    { looks: 'not_done', states: ['succeeded', 'failed', 'skipped'], ran: ABC.slice(0, 2) },
    { looks: 'cannot_tell', states: ['succeeded', 'unknown', 'skipped'], ran: ABC.slice(0, 2) },
  ] as const)(
    'with a step that nobody knows the end of is looked at, $looks, before anything follows',
    async ({ looks, states, ran }) => {
      const plan = await begun();
      const b = rig.world.part('b');
      Object.assign(b, { ends: 'unknown', looks });
      await rig.drive(plan, (steps) => step(steps, 2).state === 'unknown');
      // Not before it can have no more effect.
      expect(await rig.states(plan)).toEqual(['succeeded', 'unknown', 'queued']);
      b.done = looks === 'done';
      await rig.drive(plan, ended);
      expect(await rig.states(plan)).toEqual(states);
      expect(rig.world.ran).toEqual(ran);
    },
  );

  test.each([
    { ran: true, states: ['succeeded', 'succeeded', 'succeeded'] },
    { ran: false, states: ['succeeded', 'failed', 'skipped'] },
  ])('goes on or stops by a person who says of such a step: ran $ran', async ({ ran, states }) => {
    const plan = await begun();
    Object.assign(rig.world.part('b'), { ends: 'unknown', looks: 'cannot_tell' });
    await rig.drive(plan, (steps) => step(steps, 2).state === 'unknown');
    const { id: actionId } = step(plan, 2);
    await rig.core.sql`UPDATE action SET done_by = clock_timestamp() WHERE id = ${actionId}`;
    rig.world.part('b').done = ran;
    const said = await resolveUnknownOutcome(rig.core, { actionId, ran, by: 'UONCALL', reason: 'I looked.' });
    expect(said).toMatchObject({ ok: true });
    await rig.drive(plan, ended);
    expect(await rig.states(plan)).toEqual(states);
  });

  test('cannot be decided on by one of its later steps', async () => {
    const plan = await rig.propose(ABC);
    const { id: actionId, planHash } = step(plan, 2);
    const order = { actionId, planHash, by: 'UONCALL', reason: '', anotherWay: false } as const;
    for (const decision of ['approve', 'deny'] as const)
      expect(await rig.core.approvals.decide({ ...order, decision })).toMatchObject({
        code: 'NOT_THE_PLAN',
      });
    expect(await rig.states(plan)).toEqual(['proposed', 'queued', 'queued']);
  });

  test('that is denied or expires takes all its steps with it', async () => {
    const denied = await rig.propose(ABC);
    const { id: actionId, planHash } = step(denied, 1);
    await rig.core.approvals.decide({
      actionId,
      planHash,
      by: 'UONCALL',
      decision: 'deny',
      reason: '',
      anotherWay: false,
      reach: { scope: 'object', minutes: null },
    });
    expect(await rig.states(denied)).toEqual(['denied', 'skipped', 'skipped']);
    // A No to the plan is one to all that it would touch.
    const [row] = await rig.core
      .sql<Row>`SELECT cardinality(keys) AS n FROM denial WHERE action_id = ${actionId}`;
    expect(row?.['n']).toBe(3);
    const late = await rig.propose(ABC);
    await rig.core.sql`UPDATE action SET expires_at = clock_timestamp() WHERE id = ${step(late, 1).id}`;
    expect(await rig.core.approvals.expire(step(late, 1).id)).toBe(true);
    expect(await rig.states(late)).toEqual(['expired', 'skipped', 'skipped']);
  });

  test('is void as a whole when anything of any step is not what was approved', async () => {
    const plan = await rig.propose(ABC);
    await rig.approve(plan);
    await rig.core.sql`UPDATE action SET blast_radius = 'less' WHERE id = ${step(plan, 3).id}`;
    await rig.turn(step(plan, 1).incidentId);
    expect(await rig.states(plan)).toEqual(['void', 'skipped', 'skipped']);
    expect(rig.world.ran).toEqual([]);
  });

  test('stops where the state of the next step has moved', async () => {
    const plan = await begun();
    rig.world.part('b').generation = 2;
    await rig.drive(plan, ended);
    expect(rig.world.ran).toEqual(['part_do a']);
    expect(await rig.states(plan)).toEqual(['succeeded', 'skipped', 'skipped']);
    expect(await rig.told(step(plan, 1).incidentId)).toContain('The state has moved');
  });

  test('does not go on for ever: what was approved together is not run hours apart', async () => {
    const plan = await rig.propose(ABC);
    await rig.core.sql`
      UPDATE action SET expires_at = clock_timestamp() + interval '1 day' WHERE plan_id = ${step(plan, 1).id}`;
    await rig.approve(plan);
    await rig.turn(step(plan, 1).incidentId);
    const [first, ...later] = await rig.steps(plan);
    const begunAt = Date.parse(first?.startedAt ?? '');
    expect(later.every(({ expiresAt }) => Date.parse(expiresAt) < begunAt + 20 * 60_000)).toBe(true);
    await rig.core.sql`UPDATE action SET expires_at = clock_timestamp() WHERE id = ${step(plan, 2).id}`;
    await rig.drive(plan, ended);
    expect(rig.world.ran).toEqual(['part_do a']);
    expect(await rig.states(plan)).toEqual(['succeeded', 'skipped', 'skipped']);
  });
});

describe('the ledger', () => {
  test('claims no step ahead of the one before it, whoever asks', async () => {
    const plan = await rig.propose(ABC);
    await rig.approve(plan);
    expect(await rig.core.gate.execute(step(plan, 2), hooks, never)).toMatchObject({ kind: 'later' });
    const options = { claimId: 'x', timeoutMs: 100, scopes: ['*'], onClaimed: async () => undefined };
    expect(await claim(rig.core.gateDeps, { ...options, action: step(plan, 2) })).toMatchObject({
      kind: 'busy',
    });
    expect(await rig.states(plan)).toEqual(['approved', 'queued', 'queued']);
  });

  test('lets nothing of another incident begin on the system while a plan there is under way', async () => {
    const [here, there] = [rig.target('one system'), rig.target('one system')];
    const plan = await begun(ABC, here);
    const other = await rig.propose(['part_do other'], there);
    await rig.approve(other);
    const id = step(other, 1).incidentId;
    await rig.turn(id);
    expect(await rig.states(other)).toEqual(['approved']);
    await rig.drive(plan, ended);
    await rig.drive(other, ended);
    expect(rig.world.ran).toEqual([...ABC, 'part_do other']);
  });

  test('reserves every limit in the first claim, and gives back what never ran', async () => {
    rig.world.limited.add('c');
    const plan = await begun();
    const other = rig.target();
    rig.world.limited.add('d');
    // Held already, though its step has not begun.
    expect(await rig.call(await rig.incident(other), other, ['part_do d'])).toMatchObject({
      code: 'RATE_LIMITED',
    });
    rig.world.part('b').ends = 'failed';
    await rig.drive(plan, ended);
    expect(await rig.call(await rig.incident(other), other, ['part_do d'])).toMatchObject({
      kind: 'proposed',
    });
  });

  test('begins no plan of which a later step may not run now', async () => {
    rig.world.limited.add('c').add('d');
    const plan = await rig.propose(ABC);
    await rig.approve(plan);
    const other = await rig.propose(['part_do d']);
    await rig.approve(other);
    await rig.drive(other, ended);
    await rig.drive(plan, ended);
    expect(rig.world.ran).toEqual(['part_do d']);
    expect(await rig.states(plan)).toEqual(['void', 'skipped', 'skipped']);
  });
});

describe('a No or a stop', () => {
  test('to what any step touches voids a plan that has not begun', async () => {
    const system = 'denied before';
    const plan = await rig.propose(ABC, rig.target(system));
    await rig.approve(plan);
    await denyElsewhere('c', rig.target(system));
    expect(await rig.states(plan)).toEqual(['void', 'skipped', 'skipped']);
  });

  test('to what any later step touches ends the rest of one that has', async () => {
    const system = 'denied between';
    const plan = await begun(ABC, rig.target(system));
    await denyElsewhere('c', rig.target(system));
    await rig.drive(plan, ended);
    expect(rig.world.ran).toEqual(['part_do a']);
    expect(await rig.states(plan)).toEqual(['succeeded', 'skipped', 'skipped']);
    expect(await rig.told(step(plan, 1).incidentId)).toContain('Somebody has said no to what it touches');
  });

  test('that stands on a later step is on the card of the plan, and in its hash', async () => {
    const system = 'denied at first';
    await denyElsewhere('c', rig.target(system));
    const plan = await rig.propose(ABC, rig.target(system));
    expect(plan.map(({ denialsAcknowledged }) => denialsAcknowledged.length)).toEqual([1, 1, 1]);
    await rig.approve(plan);
    await rig.drive(plan, ended);
    expect(rig.world.ran).toEqual(ABC);
  });

  test('of the incident between two steps lets no other step begin, and what ran is looked at', async () => {
    const plan = await begun();
    const { incidentId } = step(plan, 1);
    expect(await rig.core.steering.stop(incidentId, 'UONCALL', 'enough')).toMatchObject({
      ok: true,
      text: expect.stringContaining('step 2 and what follows it does not run'),
    });
    expect(await rig.states(plan)).toEqual(['succeeded', 'skipped', 'skipped']);
    await rig.drive(plan, ended);
    expect(rig.world.ran).toEqual(['part_do a']);
    expect(await rig.stateOf(incidentId)).toBe('verifying');
  });

  test('of the incident while a step runs lets that one end', async () => {
    const plan = await rig.propose(ABC);
    await rig.approve(plan);
    const { incidentId } = step(plan, 1);
    rig.world.part('a').during = async () => {
      expect(await rig.core.steering.stop(incidentId, 'UONCALL', 'enough')).toMatchObject({ ok: true });
    };
    await rig.drive(plan, ended);
    expect(rig.world.ran).toEqual(['part_do a']);
    expect(await rig.states(plan)).toEqual(['succeeded', 'skipped', 'skipped']);
  });

  test('of all changes between two steps ends the rest', async () => {
    const plan = await begun();
    const { incidentId, target } = step(plan, 1);
    await rig.core
      .sql`INSERT INTO switch (scope, stopped, by, reason) VALUES (${`target:${target}`}, true, 'UADMIN', 'stop')`;
    await rig.drive(plan, ended);
    expect(rig.world.ran).toEqual(['part_do a']);
    expect(await rig.states(plan)).toEqual(['succeeded', 'skipped', 'skipped']);
    expect(await rig.told(incidentId)).toContain('Step 2 of 3 and what follows it was not run');
  });
});

describe('a proposal', () => {
  const SIX = ['a', 'b', 'c', 'd', 'e', 'f'].map((part) => `part_do ${part}`);
  test.each([
    { what: 'of six steps', steps: SIX, code: 'TOO_MANY_STEPS', says: 'at most 5' },
    {
      what: 'with an unknown tool',
      steps: ['part_do a', 'part_fly b'],
      code: 'UNKNOWN_TOOL',
      says: 'Step 2 of 2',
    },
    {
      what: 'with a read',
      steps: ['part_do a', 'part_state b'],
      code: 'ROLE_MAY_NOT',
      says: 'Step 2 of 2, part_state',
    },
    {
      what: 'that does the same twice',
      steps: ['part_do a', 'part_do a'],
      code: 'SAME_STEP',
      says: 'Step 2 of 2, part_do a',
    },
    {
      what: 'that touches one thing twice',
      steps: ['part_do a', 'part_do b', 'part_undo a'],
      code: 'SAME_OBJECT',
      says: 'Step 3 of 3, part_undo a: It touches part a',
    },
  ])('$what is refused, says which step, and stores nothing', async ({ steps, code, says }) => {
    const target = rig.target();
    const id = await rig.incident(target);
    expect(await rig.call(id, target, steps)).toMatchObject({
      kind: 'refused',
      code,
      reason: expect.stringContaining(says),
    });
    expect((await rig.core.records.load(id))?.actions).toEqual([]);
  });

  test('is refused when a later step may not be done now, or is planned oftener than it may be', async () => {
    rig.world.limited.add('x').add('y');
    const target = rig.target();
    const id = await rig.incident(target);
    expect(await rig.call(id, target, ['part_do x', 'part_do y'])).toMatchObject({
      code: 'RATE_LIMITED',
      reason: expect.stringContaining('Step 2 of 2, part_do y'),
    });
    await rig.core.sql`INSERT INTO rate_claim (action_id, key) VALUES ('somebody', 'limited')`;
    expect(await rig.call(id, target, ['part_do a', 'part_do y'])).toMatchObject({
      code: 'RATE_LIMITED',
      reason: expect.stringContaining('Step 2 of 2, part_do y'),
    });
  });

  test('made again after a crash is the one that is there', async () => {
    const plan = await rig.propose(ABC);
    const { incidentId, target, id } = step(plan, 1);
    expect(await rig.call(incidentId, target, ABC)).toMatchObject({ kind: 'proposed', actionId: id });
    // Another plan that begins alike is another one.
    expect(await rig.call(incidentId, target, ABC.slice(0, 2))).not.toMatchObject({ actionId: id });
  });

  test('names the step after which it cannot be wholly taken back', async () => {
    const plan = await rig.propose(['part_do a', 'part_burn b', 'part_do c']);
    expect(step(plan, 1).undo).toBe('part_undo a\nAfter step 2 of 3 it cannot be wholly taken back.');
    expect(step(await rig.propose(ABC), 1).undo).toBe('part_undo a');
  });
});

describe('an undo', () => {
  async function resolved(steps: readonly string[]): Promise<readonly Action[]> {
    const plan = await rig.propose(steps);
    await rig.approve(plan);
    await rig.drive(plan, judged);
    expect(await rig.stateOf(step(plan, 1).incidentId)).toBe('resolved');
    rig.world.ran.length = 0;
    return plan;
  }
  const press = ({ id: actionId, planHash }: Action) => rig.undo.press({ actionId, planHash, by: 'UONCALL' });
  const undosOf = async ({ incidentId }: Action) =>
    ((await rig.core.records.load(incidentId))?.actions ?? []).filter(({ undoes }) => undoes !== null);

  test('takes back what has an inverse, the last step first, as one plan', async () => {
    const plan = await resolved(['part_do a', 'part_burn b', 'part_do c']);
    const first = step(plan, 1);
    expect(await press(first)).toMatchObject({ ok: true });
    while ((await undosOf(first)).some(({ state }) => ['approved', 'queued'].includes(state)))
      await rig.turn(first.incidentId, 'undo');
    expect(rig.world.ran).toEqual(['part_undo c', 'part_undo a']);
    expect((await undosOf(first)).map(({ undoes, step: n }) => [undoes, n])).toEqual([
      [step(plan, 3).id, 1],
      [first.id, 2],
    ]);
    // What had made it green is gone.
    expect(await rig.stateOf(first.incidentId)).toBe('diagnosing');
  });

  test('that stops half-way leaves the rest to another click', async () => {
    const plan = await resolved(ABC);
    const first = step(plan, 1);
    rig.world.part('b').ends = 'failed';
    expect(await press(first)).toMatchObject({ ok: true });
    while ((await undosOf(first)).some(({ state }) => ['approved', 'queued'].includes(state)))
      await rig.turn(first.incidentId, 'undo');
    expect((await undosOf(first)).map(({ state }) => state)).toEqual(['succeeded', 'failed', 'skipped']);
    rig.world.part('b').ends = 'succeeded';
    rig.world.ran.length = 0;
    await rig.core.sql`UPDATE incident SET state = 'reported' WHERE id = ${first.incidentId}`;
    expect(await press(first)).toMatchObject({ ok: true });
    while ((await undosOf(first)).some(({ state }) => ['approved', 'queued'].includes(state)))
      await rig.turn(first.incidentId, 'undo');
    expect(rig.world.ran).toEqual(['part_undo b', 'part_undo a']);
    expect(await press(first)).toMatchObject({ code: 'UNDONE_ALREADY' });
  });
});

describe('what a policy asks of', () => {
  const path = join(scratchDir(), 'policy.yaml');
  const rules = `rules:
    - {name: burning, tools: [part_burn], approvals: 2, expires_minutes: 3}
    - {name: second, tools: [part_undo], approvers: [USECOND]}
    - {name: rest}
`;
  let strict: PlansRig;
  beforeAll(async () => {
    writeFileSync(path, rules);
    strict = await startPlansRig({ policyPath: path });
  });
  afterAll(() => strict.stop());

  const decide = ({ id: actionId, planHash }: Action, by: string, decision: 'approve' | 'deny' = 'approve') =>
    strict.core.approvals.decide({ actionId, planHash, by, decision, reason: '', anotherWay: false });

  test('any step goes for the whole: how many, how long', async () => {
    const plan = await strict.propose(['part_do a', 'part_burn b']);
    expect(step(plan, 1)).toMatchObject({ approvalsNeeded: 2, policyRule: 'rest, burning' });
    const { proposedAt, expiresAt } = step(plan, 1);
    expect(Date.parse(expiresAt) - Date.parse(proposedAt)).toBeLessThan(200_000);
    expect(await decide(step(plan, 1), 'UONCALL')).toMatchObject({ ok: true });
    expect(await strict.states(plan)).toEqual(['proposed', 'queued']);
    expect(await decide(step(plan, 1), 'USECOND')).toMatchObject({ ok: true });
    await strict.drive(plan, ended);
    expect(strict.world.ran).toEqual(['part_do a', 'part_burn b']);
  });

  test('any step goes for the whole: who, and whoever may deny a step may deny the plan', async () => {
    const plan = await strict.propose(['part_do c', 'part_undo d']);
    expect(await decide(step(plan, 1), 'UONCALL')).toMatchObject({ code: 'NOT_AN_APPROVER' });
    expect(await decide(step(plan, 1), 'UONCALL', 'deny')).toMatchObject({ ok: true });
    const again = await strict.propose(['part_do e', 'part_undo f']);
    expect(await decide(step(again, 1), 'USECOND')).toMatchObject({ ok: true });
  });

  test('each step is looked for again at its claim: what was approved more easily does not run', async () => {
    const plan = await strict.propose(['part_do g', 'part_do h']);
    await strict.approve(plan);
    writeFileSync(path, rules.replace('{name: rest}', '{name: rest, approvals: 2}'));
    await strict.turn(step(plan, 1).incidentId);
    writeFileSync(path, rules);
    expect(await strict.states(plan)).toEqual(['void', 'skipped']);
  });
});
