import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Action } from '../../../src/core/action.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';
import { approve, at, coreOf, open, proposed, resetWorld, until, world } from './recovery-rig.ts';

/** Somebody stops an incident whose fix has been proposed, or just approved. */
let database: ScratchDatabase;
beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  at.core = await coreOf(database.url);
  await at.core.start();
});
afterAll(async () => {
  await at.core.stop();
  await database.drop();
});
beforeEach(() => {
  resetWorld();
  world.acts = () => {
    world.waiting = 0;
  };
});

let opened = 0;
const openOne = (): Promise<IncidentId> => {
  opened += 1;
  const name = `BoxStopped${opened}`;
  return open(at.core, { source: 'slack', name, labels: { alertname: name, instance: 'box' } });
};
const press = ({ id, planHash }: Action, decision: 'approve' | 'deny' = 'approve') =>
  at.core.approvals.decide({
    actionId: id,
    planHash,
    by: 'UONCALL',
    decision,
    reason: '',
    anotherWay: false,
  });
const stop = (id: IncidentId) => at.core.steering.stop(id, 'UONCALL', 'wait');
const resume = (id: IncidentId) => at.core.steering.resume(id, 'UONCALL');
const stateOf = async ({ id }: Action) => (await at.core.records.action(id))?.state;

describe('what was proposed before the stop', () => {
  test('cannot be approved, does not run on *Resume*, and is asked for again', async () => {
    const id = await openOne();
    const action = await proposed(id);
    await stop(id);
    expect(await press(action)).toMatchObject({
      ok: false,
      code: 'INCIDENT_STOPPED',
      reason: expect.stringMatching(/<@UONCALL> has stopped .*resume/),
    });
    expect(await resume(id)).toMatchObject({ ok: true });
    await waitFor('another proposal', async () => {
      const record = await at.core.records.load(id);
      return record?.incident.state === 'awaiting_approval' && record.actions.at(-1)?.id !== action.id;
    });
    expect(world.acted).toBe(0);
    expect(await stateOf(action)).toBe('void');
    await approve(id);
    await until(id, 'resolved');
    expect(world.acted).toBe(1);
  });

  test('and came too late for the stop to see it cannot be approved either', async () => {
    const id = await openOne();
    const action = await proposed(id);
    // As an older version stopped it, or a turn that proposed at that very moment.
    await at.core
      .sql`UPDATE incident SET state = 'stopped', stopped_from = 'awaiting_approval' WHERE id = ${id}`;
    expect(await press(action)).toMatchObject({ ok: false, code: 'INCIDENT_STOPPED' });
    expect(await resume(id)).toMatchObject({ ok: true });
    expect(await stateOf(action)).toBe('void');
    expect(world.acted).toBe(0);
  });
});

test('what was approved and has not begun does not run on *Resume*', async () => {
  const id = await openOne();
  const action = await proposed(id);
  // Approved, and its turn has not come.
  await at.core.sql.begin(async (tx) => {
    await tx`UPDATE incident SET state = 'stopped', stopped_from = 'awaiting_approval' WHERE id = ${id}`;
    await tx`UPDATE action SET state = 'approved', decided_by = 'UONCALL' WHERE id = ${action.id}`;
  });
  await resume(id);
  expect(await stateOf(action)).toBe('void');
  await waitFor('another proposal', async () => (await proposed(id)).id !== action.id);
  expect(world.acted).toBe(0);
});

/** How many wait for a lock of another. */
const waiting = async (): Promise<number> =>
  (
    await at.core.sql`
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  ).length;

/** Both wait for the card's row, in this order; then it is let go. */
async function inThisOrder<A, B>(
  { id }: Action,
  first: () => Promise<A>,
  second: () => Promise<B>,
): Promise<readonly [A, B]> {
  const both = await at.core.sql.begin(async (tx) => {
    await tx`SELECT FROM action WHERE id = ${id} FOR UPDATE`;
    const one = first();
    await waitFor('the first to wait', async () => (await waiting()) === 1);
    const two = second();
    await waitFor('the second to wait', async () => (await waiting()) === 2);
    return [one, two] as const;
  });
  return Promise.all(both);
}

test('stopped right before it is approved, it is not approved', async () => {
  const id = await openOne();
  const action = await proposed(id);
  const [stopped, approved] = await inThisOrder(
    action,
    () => stop(id),
    () => press(action),
  );
  expect(stopped).toMatchObject({ ok: true });
  expect(approved).toMatchObject({ ok: false, reason: expect.stringContaining('stopped before it ran') });
  expect(await stateOf(action)).toBe('void');
  expect(world.acted).toBe(0);
});

test('stopped right after it was approved, it does not run, and is asked for again on *Resume*', async () => {
  const id = await openOne();
  const action = await proposed(id);
  const [approved, stopped] = await inThisOrder(
    action,
    () => press(action),
    () => stop(id),
  );
  expect([approved.ok, stopped.ok]).toEqual([true, true]);
  expect(await stateOf(action)).toBe('void');
  await resume(id);
  await waitFor('another proposal', async () => (await proposed(id)).id !== action.id);
  expect(world.acted).toBe(0);
});

test('a stop said at the moment at which the incident moves on stops it where it is then', async () => {
  const id = await openOne();
  const action = await proposed(id);
  const stopped = await at.core.sql.begin(async (tx) => {
    await tx`UPDATE incident SET state = 'reported' WHERE id = ${id}`;
    const answer = stop(id);
    await waitFor('the stop to wait', async () => (await waiting()) > 0);
    return { answer };
  });
  expect(await stopped.answer).toMatchObject({ ok: true });
  expect(await at.core.records.incident(id)).toMatchObject({ state: 'stopped', stoppedFrom: 'reported' });
  expect(await stateOf(action)).toBe('void');
});

test('stopped and approved at the same moment, it runs or it is stopped, and never runs after a stop that was granted', async () => {
  for (let round = 0; round < 12; round += 1) {
    const id = await openOne();
    const action = await proposed(id);
    const before = world.acted;
    const orders = [() => stop(id), () => press(action)];
    const answers = await Promise.all(
      (round % 2 === 0 ? orders : orders.toReversed()).map((order) => order()),
    );
    const stopped = round % 2 === 0 ? answers[0] : answers[1];
    if (stopped?.ok && (await at.core.records.incident(id))?.state === 'stopped') {
      expect(await stateOf(action)).toBe('void');
      expect(world.acted).toBe(before);
      await resume(id);
      await waitFor('another proposal', async () => (await proposed(id)).id !== action.id);
      expect(world.acted).toBe(before);
      await stop(id);
    } else {
      await until(id, 'resolved');
      expect(world.acted).toBe(before + 1);
    }
    world.waiting = 3;
  }
});
