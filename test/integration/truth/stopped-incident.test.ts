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
    expect(await press(action)).toMatchObject({ ok: false, code: 'VOID' });
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
