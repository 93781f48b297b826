import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { resolveUnknownOutcome } from '../../../src/actions/approvals/resolve-unknown-outcome.ts';
import { createGate } from '../../../src/actions/gate.ts';
import type { Action } from '../../../src/core/action.ts';
import { createChangeOfMind } from '../../../src/incidents/after-all.ts';
import { createKillSwitch } from '../../../src/safety/kill-switch/kill-switch.ts';
import { mortal, mortally } from '../../support/mortal.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import type { Row } from '../../support/typed.ts';
import { type PlansRig, startPlansRig } from './plans-rig.ts';

/** *Run the rest* of a plan that stopped half-way: asks for it as a new plan, once, and runs nothing by itself. */
let rig: PlansRig;
beforeAll(async () => {
  const path = join(scratchDir(), 'policy.yaml');
  writeFileSync(path, 'rules: [{name: burning, tools: [part_burn], self_approval: false}, {name: all}]\n');
  rig = await startPlansRig({ policyPath: path, around: mortal });
});
afterAll(() => rig.stop());
beforeEach(async () => {
  await rig.core.sql`DELETE FROM rate_claim`;
  rig.world.ran.length = 0;
  rig.world.parts.clear();
  rig.world.limited.clear();
});

const ABC = ['part_do a', 'part_do b', 'part_do c'];

const head = ([first]: readonly Action[]): Action => {
  if (!first) throw new Error('no plan');
  return first;
};
const click = (plan: readonly Action[], by = 'UONCALL') => ({
  actionId: head(plan).id,
  planHash: head(plan).planHash,
  by,
});
const setState = (plan: readonly Action[], state: string) =>
  rig.core
    .sql`UPDATE incident SET state = ${state}, ended_at = NULL, stopped_from = NULL WHERE id = ${head(plan).incidentId}`;
const actionsOf = async (plan: readonly Action[]): Promise<readonly Action[]> =>
  (await rig.core.records.load(head(plan).incidentId))?.actions ?? [];
/** What has been asked for beside it. */
const asked = async (plan: readonly Action[]): Promise<readonly Action[]> =>
  (await actionsOf(plan)).filter(({ planId }) => planId !== head(plan).planId);
const judged = (_: readonly Action[], state: string): boolean =>
  !['awaiting_approval', 'remediating', 'verifying'].includes(state);

/** Its first step ran; the next found its state moved. The incident waits for people. */
async function halfRun(steps: readonly string[] = ABC, target?: string): Promise<readonly Action[]> {
  const plan = await rig.propose(steps, target);
  await rig.approve(plan);
  await rig.turn(head(plan).incidentId);
  rig.world.part('b').generation += 1;
  await rig.drive(plan, judged);
  expect(await rig.states(plan)).toEqual(['succeeded', 'skipped', 'skipped']);
  await setState(plan, 'reported');
  rig.world.ran.length = 0;
  return plan;
}

/** Nothing was asked for, the incident is where it was, and nothing ran. */
async function untouched(plan: readonly Action[], state = 'reported'): Promise<void> {
  expect(await asked(plan)).toEqual([]);
  expect(await rig.stateOf(head(plan).incidentId)).toBe(state);
  expect(rig.world.ran).toEqual([]);
}

describe('what a plan left undone', () => {
  test('is asked for as a plan of its own, seen anew, and runs by its own approval', async () => {
    const plan = await halfRun();
    const { incidentId } = head(plan);
    expect(await rig.mind.runRest(click(plan))).toEqual({ ok: true, text: null });
    expect(await rig.stateOf(incidentId)).toBe('awaiting_approval');
    expect(rig.world.ran).toEqual([]);
    const rest = await asked(plan);
    expect(
      rest.map(({ state, command, requestedBy, autonomousAt }) => [
        state,
        command,
        requestedBy,
        autonomousAt,
      ]),
    ).toEqual([
      ['proposed', 'part_do b', 'UONCALL', null],
      ['queued', 'part_do c', 'UONCALL', null],
    ]);
    expect(head(rest).guard).toEqual({ generation: rig.world.part('b').generation });
    const red = await rig.core.sql`
      SELECT state FROM criterion_reading WHERE action_id = ${head(rest).id} AND phase = 'proposal'`;
    expect(red).toMatchObject([{ state: 'red' }]);
    await rig.approve(rest);
    await rig.drive(rest, judged);
    expect(rig.world.ran).toEqual(['part_do b', 'part_do c']);
    expect(await rig.stateOf(incidentId)).toBe('resolved');
    const events = (await rig.core.records.load(incidentId))?.events ?? [];
    expect(events.filter(({ type }) => type === 'action.asked_again')).toMatchObject([{ by: 'UONCALL' }]);
  });

  test('leaves out the step that failed: what was tried is not tried again', async () => {
    const plan = await rig.propose(ABC);
    await rig.approve(plan);
    rig.world.part('b').ends = 'failed';
    await rig.drive(plan, judged);
    await setState(plan, 'escalated');
    expect(await rig.mind.runRest(click(plan))).toMatchObject({ ok: true });
    expect((await asked(plan)).map(({ command }) => command)).toEqual(['part_do c']);
  });

  test('that stopped half-way again is asked for on the new card, and no more on the old one', async () => {
    const plan = await halfRun();
    await rig.mind.runRest(click(plan));
    const rest = await asked(plan);
    await rig.approve(rest);
    await rig.turn(head(plan).incidentId);
    rig.world.part('c').generation += 1;
    await rig.drive(rest, judged);
    expect(await rig.states(rest)).toEqual(['succeeded', 'skipped']);
    await setState(plan, 'reported');
    expect(await rig.mind.runRest(click(plan))).toMatchObject({ code: 'NO_REST' });
    expect(await rig.mind.runRest(click(rest))).toMatchObject({ ok: true });
  });

  test('is asked for again when nobody decided in time', async () => {
    const plan = await halfRun();
    await rig.mind.runRest(click(plan));
    const rest = await asked(plan);
    await rig.core.sql`UPDATE action SET expires_at = clock_timestamp() WHERE plan_id = ${head(rest).id}`;
    await rig.turn(head(plan).incidentId);
    await rig.turn(head(plan).incidentId);
    expect(await rig.stateOf(head(plan).incidentId)).toBe('reported');
    expect(await rig.mind.runRest(click(plan))).toMatchObject({ ok: true });
  });
});

describe('a click that asks for nothing', () => {
  test('a second one, while it waits and after it ran', async () => {
    const plan = await halfRun();
    await rig.mind.runRest(click(plan));
    expect(await rig.mind.runRest(click(plan, 'USECOND'))).toMatchObject({ ok: false, code: 'NO_REST' });
    const rest = await asked(plan);
    await rig.approve(rest);
    await rig.drive(rest, judged);
    await setState(plan, 'reported');
    expect(await rig.mind.runRest(click(plan))).toMatchObject({ ok: false, code: 'NO_REST' });
    expect(rig.world.ran).toEqual(['part_do b', 'part_do c']);
    expect(await asked(plan)).toHaveLength(2);
  });

  test('several at once, of several people, are one plan', async () => {
    const plan = await halfRun();
    const answers = await Promise.all(
      ['UONCALL', 'USECOND', 'UONCALL', 'USECOND'].map((by) => rig.mind.runRest(click(plan, by))),
    );
    expect(answers.filter(({ ok }) => ok).length).toBeGreaterThan(0);
    expect((await asked(plan)).map(({ state }) => state)).toEqual(['proposed', 'queued']);
  });

  test('dead before any of its writes, it has asked for all of it or nothing, and the next click for the same', async () => {
    let dieAt = 0;
    let isDead = true;
    while (isDead) {
      dieAt += 1;
      const plan = await halfRun();
      ({ isDead } = await mortally(dieAt, async () => void (await rig.mind.runRest(click(plan)))));
      const left = (await asked(plan)).map(({ state }) => state);
      const at = await rig.stateOf(head(plan).incidentId);
      expect([[], ['proposed', 'queued']]).toContainEqual(left);
      expect({ dieAt, at }).toEqual({ dieAt, at: left.length > 0 ? 'awaiting_approval' : 'reported' });
      await rig.mind.runRest(click(plan, 'USECOND'));
      expect((await asked(plan)).map(({ state }) => state)).toEqual(['proposed', 'queued']);
      expect(rig.world.ran).toEqual([]);
    }
    expect(dieAt).toBeGreaterThan(4);
  });

  test('beside a hint: it is asked for, or the incident is looked at again; not both', async () => {
    for (let round = 0; round < 6; round += 1) {
      const plan = await halfRun();
      const { incidentId } = head(plan);
      const [answer] = await Promise.all([
        rig.mind.runRest(click(plan)),
        rig.core.steering.hint(incidentId, 'USECOND', 'look at the disk'),
      ]);
      const at = await rig.stateOf(incidentId);
      expect({ at, asked: (await asked(plan)).length }).toEqual(
        answer.ok ? { at: 'awaiting_approval', asked: 2 } : { at: 'diagnosing', asked: 0 },
      );
    }
  });

  test('another’s card, a made-up one, a stranger’s', async () => {
    const [plan, other] = [await halfRun(), await rig.propose(['part_do z'])];
    expect(await rig.mind.runRest({ ...click(plan), planHash: head(other).planHash })).toMatchObject({
      code: 'PLAN_CHANGED',
    });
    expect(await rig.mind.runRest({ ...click(plan), actionId: 'act_none' as never })).toMatchObject({
      code: 'UNKNOWN_ACTION',
    });
    expect(await rig.mind.runRest(click(plan, 'USTRANGER'))).toMatchObject({ code: 'NOT_AN_APPROVER' });
    await untouched(plan);
  });

  test.each([
    ['of one step', ['part_do a']],
    ['of three steps', ABC],
  ])('on a plan %s that has not begun, was denied or has run whole', async (_, steps) => {
    const plan = await rig.propose(steps);
    expect(await rig.mind.runRest(click(plan))).toMatchObject({ code: 'NO_REST' });
    await rig.core.approvals.decide({ ...click(plan), decision: 'deny', reason: '', anotherWay: false });
    await setState(plan, 'reported');
    expect(await rig.mind.runRest(click(plan))).toMatchObject({ code: 'NO_REST' });
    const whole = await rig.propose(steps);
    await rig.approve(whole);
    await rig.drive(whole, judged);
    await setState(whole, 'reported');
    expect(await rig.mind.runRest(click(whole))).toMatchObject({ code: 'NO_REST' });
  });

  test.each([
    ['diagnosing', 'is being worked on'],
    ['planning', 'is being worked on'],
    ['verifying', 'is being worked on'],
    ['stopped', 'Resume it first'],
  ])('while the incident is %s', async (state, says) => {
    const plan = await halfRun();
    await setState(plan, state);
    expect(await rig.mind.runRest(click(plan))).toMatchObject({
      code: 'AT_WORK',
      reason: expect.stringContaining(says),
    });
    await untouched(plan, state);
  });

  test('once the problem is over, and does not say by what', async () => {
    const plan = await halfRun();
    for (const part of rig.world.parts.values()) part.done = true;
    const answer = await rig.mind.runRest(click(plan));
    expect(answer).toMatchObject({ ok: false, code: 'OVER_BY_ITSELF' });
    expect(answer.ok || answer.reason).toBe(
      'The problem is over now, so there is nothing left to run. Nothing was asked for.',
    );
    await untouched(plan);
    await rig.core
      .sql`UPDATE incident SET state = 'resolved', ended_at = clock_timestamp() WHERE id = ${head(plan).incidentId}`;
    expect(await rig.mind.runRest(click(plan))).toMatchObject({
      code: 'AT_WORK',
      reason: expect.stringContaining('is over'),
    });
  });

  test('while nothing may be changed', async () => {
    const plan = await halfRun();
    const { target } = head(plan);
    await rig.core.sql`
      INSERT INTO switch (scope, stopped, by, reason) VALUES (${`target:${target}`}, true, 'UADMIN', 'stop')`;
    expect(await rig.mind.runRest(click(plan))).toMatchObject({ code: 'STOPPED' });
    await rig.core.sql`DELETE FROM switch WHERE scope = ${`target:${target}`}`;
    const killSwitch = createKillSwitch(rig.core.sql, { mode: 'AUDIT', dataDir: scratchDir() });
    const watching = createChangeOfMind({
      ...rig.core,
      policy: rig.core.policy,
      gate: createGate({ ...rig.core.gateDeps, killSwitch }),
    });
    expect(await watching.runRest(click(plan))).toMatchObject({ code: 'AUDIT_MODE' });
    await untouched(plan);
  });

  test('while a limit keeps a step back', async () => {
    const plan = await halfRun();
    rig.world.limited.add('c');
    await rig.core.sql`INSERT INTO rate_claim (action_id, key) VALUES ('somebody', 'limited')`;
    expect(await rig.mind.runRest(click(plan))).toMatchObject({
      code: 'RATE_LIMITED',
      reason: expect.stringContaining('Step 2 of 2'),
    });
    await untouched(plan);
  });

  test('while nobody knows whether a step ran; once somebody has said so, the rest is asked for', async () => {
    const plan = await rig.propose(ABC);
    await rig.approve(plan);
    await rig.turn(head(plan).incidentId);
    Object.assign(rig.world.part('b'), { ends: 'unknown', looks: 'cannot_tell' });
    await rig.drive(plan, ([, b]) => b?.state === 'unknown');
    await rig.core.sql`UPDATE action SET done_by = clock_timestamp() WHERE plan_id = ${head(plan).id}`;
    await rig.drive(plan, judged);
    await setState(plan, 'reported');
    rig.world.ran.length = 0;
    expect(await rig.mind.runRest(click(plan))).toMatchObject({
      code: 'STEP_UNKNOWN',
      reason: expect.stringContaining('step 2'),
    });
    await untouched(plan);
    const b = (await rig.steps(plan))[1]?.id ?? head(plan).id;
    await resolveUnknownOutcome(rig.core, { actionId: b, ran: true, by: 'UONCALL', reason: 'I looked.' });
    expect(await rig.mind.runRest(click(plan))).toMatchObject({ ok: true });
    expect((await asked(plan)).map(({ command }) => command)).toEqual(['part_do c']);
  });

  test('after what ran was taken back', async () => {
    const plan = await halfRun();
    expect(await rig.undo.press(click(plan))).toMatchObject({ ok: true });
    await rig.turn(head(plan).incidentId, 'undo');
    expect(rig.world.ran).toEqual(['part_undo a']);
    expect(await rig.mind.runRest(click(plan))).toMatchObject({ code: 'NO_REST' });
  });
});

test('a No to a thing it touches is on its card, and it runs by the explicit word only', async () => {
  const system = 'one behind two names';
  const plan = await halfRun(ABC, rig.target(system));
  const no = await rig.propose(['part_undo c'], rig.target(system));
  await rig.core.approvals.decide({
    ...click(no),
    decision: 'deny',
    reason: 'I am at it',
    anotherWay: false,
    reach: { scope: 'object', minutes: null },
  });
  expect(await rig.mind.runRest(click(plan))).toMatchObject({ ok: true });
  const rest = await asked(plan);
  expect(rest.map(({ denialsAcknowledged }) => denialsAcknowledged.length)).toEqual([1, 1]);
  // Said no to itself, it is not asked for by Sentry any more; only people have it asked again, with that on its card.
  await rig.core.approvals.decide({ ...click(rest), decision: 'deny', reason: '', anotherWay: false });
  await setState(plan, 'reported');
  expect(await rig.mind.runRest(click(plan))).toMatchObject({ ok: true });
  const again = (await asked(plan)).filter(({ state }) => state === 'proposed');
  expect(again.map(({ denialsAcknowledged }) => denialsAcknowledged.length)).toEqual([2]);
  expect(rig.world.ran).toEqual([]);
});

test('whoever asks for it has asked for it: where that needs somebody else, it is not approved by them', async () => {
  const plan = await halfRun(['part_do a', 'part_do b', 'part_burn c']);
  expect(await rig.mind.runRest(click(plan))).toMatchObject({ ok: true });
  const rest = await asked(plan);
  const approve = (by: string) =>
    rig.core.approvals.decide({ ...click(rest, by), decision: 'approve', reason: '', anotherWay: false });
  expect(await approve('UONCALL')).toMatchObject({ code: 'SELF_APPROVAL' });
  expect(await approve('USECOND')).toMatchObject({ ok: true });
});

test('each click is on record with its answer', async () => {
  const plan = await halfRun();
  const [last] = await rig.core.sql<Row>`SELECT max(seq)::int AS seq FROM audit_entry`;
  await rig.mind.runRest(click(plan, 'USTRANGER'));
  await rig.mind.runRest(click(plan));
  const rows = await rig.core
    .sql<Row>`SELECT body FROM audit_entry WHERE seq > ${Number(last?.['seq'])} ORDER BY seq`;
  const kinds = rows.map((row) => JSON.parse(String(row['body'])) as { kind: string; actor: string });
  expect(kinds.filter(({ kind }) => kind.startsWith('plan.rest'))).toMatchObject([
    { kind: 'plan.rest_refused', actor: 'USTRANGER' },
    { kind: 'plan.rest_asked', actor: 'UONCALL' },
  ]);
});
