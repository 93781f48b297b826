import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Action } from '../../../src/core/action.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import { BESIDE_TURN } from '../../../src/incidents/move.ts';
import { LASTING_TURN } from '../../../src/incidents/phases/lasting.ts';
import { scratchDatabase } from '../../support/postgres.ts';
import { type PlansRig, startPlansRig } from './plans-rig.ts';
import { approve, at, coreOf, open, proposed, resetWorld, world } from './recovery-rig.ts';

/** What acts or judges later goes by a name, and the name may stand for another server by then. */
let rig: PlansRig;
beforeAll(async () => {
  rig = await startPlansRig();
});
afterAll(() => rig.stop());
beforeEach(async () => {
  await rig.core.sql`DELETE FROM rate_claim`;
  rig.world.ran.length = 0;
  rig.world.parts.clear();
  rig.world.apart.clear();
});

const OTHER = /is now another server/;
const hasEnded = (_: readonly Action[], state: string): boolean =>
  !['awaiting_approval', 'remediating', 'verifying'].includes(state);
const ran = (steps: readonly Action[]): boolean => steps.every(({ state }) => state === 'succeeded');

function headOf([head]: readonly Action[]): Action {
  if (!head) throw new Error('no plan');
  return head;
}
async function recordOf(id: IncidentId) {
  const record = await rig.core.records.load(id);
  if (!record) throw new Error('no record');
  return record;
}
async function concluded(plan: readonly Action[]) {
  const { incident, events } = await recordOf(headOf(plan).incidentId);
  const last = events.findLast(({ type }) => type === 'verification.concluded');
  return {
    state: incident.state,
    verdict: incident.verdict,
    reason: last?.type === 'verification.concluded' ? last.reason : '',
  };
}
/** A plan that is approved and whose steps have run; nobody has looked yet whether it helped. */
async function done(steps: readonly string[] = ['part_do a'], target = rig.target()) {
  const plan = await rig.propose(steps, target);
  await rig.approve(plan);
  await rig.drive(plan, (now) => ran(now));
  return { plan, target, id: headOf(plan).incidentId };
}
async function fixed() {
  const one = await done();
  await rig.drive(one.plan, hasEnded);
  expect(await concluded(one.plan)).toMatchObject({ state: 'resolved', verdict: 'fixed' });
  return one;
}
const press = ({ id, planHash }: Action) => rig.undo.press({ actionId: id, planHash, by: 'UONCALL' });

describe('an undo', () => {
  test('goes to no other server that has the target’s name now, and is done where the action ran', async () => {
    const { plan, target } = await fixed();
    rig.failOver(target, 'a new machine');
    expect(await press(headOf(plan))).toMatchObject({
      ok: false,
      code: 'FAILED_OVER',
      reason: expect.stringContaining(`${target} is not the server on which this ran`),
    });
    rig.failOver(target, target);
    expect(await press(headOf(plan))).toMatchObject({ ok: true });
    await rig.turn(headOf(plan).incidentId, BESIDE_TURN);
    expect(rig.world.ran).toEqual(['part_do a', 'part_undo a']);
  });

  test('of a plan goes to none either, and no card asks for it', async () => {
    const { plan, target, id } = await done(['part_do a', 'part_do b']);
    await rig.drive(plan, hasEnded);
    rig.failOver(target, 'a new machine');
    expect(await press(headOf(plan))).toMatchObject({ code: 'FAILED_OVER' });
    expect((await recordOf(id)).actions.filter(({ undoes }) => undoes !== null)).toEqual([]);
  });

  test('is not done where nobody knows on which server the action ran', async () => {
    const { plan } = await fixed();
    await rig.core
      .sql`UPDATE action SET system_identifier = NULL, timeline_id = NULL WHERE id = ${headOf(plan).id}`;
    expect(await press(headOf(plan))).toMatchObject({ code: 'FAILED_OVER' });
  });

  test('that is approved runs on no other server', async () => {
    const { plan, target, id } = await fixed();
    expect(await press(headOf(plan))).toMatchObject({ ok: true });
    rig.failOver(target, 'a new machine');
    await rig.turn(id, BESIDE_TURN);
    expect(rig.world.ran).toEqual(['part_do a']);
    expect((await recordOf(id)).actions.at(-1)).toMatchObject({ state: 'void' });
  });
});

describe('whether it helped', () => {
  test('is not judged by another server that has the name before the first look', async () => {
    const { plan, target } = await done();
    rig.failOver(target, 'a new machine');
    await rig.drive(plan, hasEnded);
    expect(await concluded(plan)).toMatchObject({
      verdict: 'cannot_tell',
      reason: expect.stringMatching(OTHER),
    });
  });

  test('is not judged by another server that gets the name between two looks', async () => {
    const { plan, target, id } = await done();
    await rig.turn(id);
    rig.failOver(target, 'a new machine');
    await rig.drive(plan, hasEnded);
    expect(await concluded(plan)).toMatchObject({
      verdict: 'cannot_tell',
      reason: expect.stringMatching(OTHER),
    });
  });

  test('is not told to have failed by what another server shows', async () => {
    const { plan, target } = await done();
    rig.world.part('a').done = false;
    rig.failOver(target, 'a new machine');
    await rig.drive(plan, hasEnded);
    expect(await concluded(plan)).toMatchObject({ verdict: 'cannot_tell' });
  });

  test('is not said where nobody can tell which server it is, and that it failed is', async () => {
    const green = await done();
    rig.failOver(green.target, null);
    await rig.drive(green.plan, hasEnded);
    expect(await concluded(green.plan)).toMatchObject({
      verdict: 'cannot_tell',
      reason: expect.stringContaining('which server'),
    });
  });

  test('is judged as before where the criterion does not say which system it is about', async () => {
    const { plan, target } = await done();
    await rig.core.sql`UPDATE action SET verify = verify - 'systems' WHERE id = ${headOf(plan).id}`;
    rig.failOver(target, 'a new machine');
    await rig.drive(plan, hasEnded);
    expect(await concluded(plan)).toMatchObject({ verdict: 'fixed' });
  });

  test('is not judged by a neighbour that is another one', async () => {
    const { id, target } = await done();
    const plan = {
      steps: [{ tool: 'parts_left', input: {}, measure: { name: 'left', bound: 0 }, says: '' }],
      holdMs: 1,
      timeoutMs: 1,
      systems: { [target]: 'another/1' },
    };
    const signal = new AbortController().signal;
    const reading = await rig.core.gate.readCriterion({ incidentId: id, target, plan, purpose: 'x', signal });
    expect(reading).toMatchObject({ state: 'unread', holds: null, values: [null], toolCallIds: [] });
    expect(reading.lines).toEqual([expect.stringMatching(OTHER)]);
  });

  test('a step of a plan does not follow another server’s word for the step before it', async () => {
    const plan = await rig.propose(['part_do a', 'part_do b']);
    const { target } = headOf(plan);
    rig.world.part('a').during = async () => rig.failOver(target, 'a new machine');
    await rig.approve(plan);
    await rig.drive(plan, hasEnded);
    expect(rig.world.ran).toEqual(['part_do a']);
    expect(await concluded(plan)).toMatchObject({ verdict: 'cannot_tell' });
  });
});

describe('after fixed', () => {
  test('what another server shows does not open it again', async () => {
    const { target, id } = await fixed();
    rig.failOver(target, 'a new machine');
    rig.world.part('a').done = false;
    await rig.turn(id, LASTING_TURN);
    await rig.turn(id, LASTING_TURN);
    expect((await recordOf(id)).incident).toMatchObject({ state: 'resolved', verdict: 'fixed' });
  });

  test('what keeps it from coming back is not asked for on another server', async () => {
    const { target, id } = await fixed();
    const { incident, events } = await recordOf(id);
    const told = events.findLast(({ type }) => type === 'diagnosis.concluded');
    if (told?.type !== 'diagnosis.concluded') throw new Error('no diagnosis');
    const diagnosis = {
      ...told.diagnosis,
      origin: 'runbook',
      prevent: [{ tool: 'part_do', input: { part: 'keep' }, why: 'It stays done.' }],
    } as const;
    await rig.core.sql.begin((tx) =>
      rig.core.records.append(tx, id, { type: 'diagnosis.concluded', round: incident.round, diagnosis }),
    );
    rig.world.apart.add('keep');
    // It is so there already, which says nothing of the server that was mended.
    rig.world.part('keep').done = true;
    rig.failOver(target, 'a new machine');
    await rig.turn(id, BESIDE_TURN);
    const record = await recordOf(id);
    expect(record.actions.filter(({ beside }) => beside)).toEqual([]);
    expect(record.incident.nextStep).toContain('is not the server on which');
  });
});

test('a plan of what another server showed is not asked for here: it is looked at anew', async () => {
  const database = await scratchDatabase({ migrate: true });
  let system = 'the old one';
  resetWorld();
  at.core = await coreOf(database.url, {
    gate: { identity: async () => ({ systemIdentifier: system, timelineId: 1 }) },
  });
  await at.core.start();
  try {
    const id = await open();
    const action = await proposed(id);
    expect(action.verify.systems).toEqual({ box: 'the old one/1' });
    system = 'the new one';
    await approve(id);
    const again = await proposed(id, 2);
    expect(again.verify.systems).toEqual({ box: 'the new one/1' });
    const { actions, events } = (await at.core.records.load(id)) ?? { actions: [], events: [] };
    expect([world.acted, actions[0]?.state]).toEqual([0, 'void']);
    const anew = events.findLast((event) => event.type === 'state.changed' && event.to === 'diagnosing');
    expect(anew).toMatchObject({ reason: expect.stringContaining('is not the server that was looked at') });
  } finally {
    await at.core.stop();
    await database.drop();
  }
});
