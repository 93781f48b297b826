import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IncidentId } from '../../../src/core/ids.ts';
import type { IncidentState } from '../../../src/core/incident.ts';
import { boxAlert, boxTools, type Core, createCore, type Machine } from '../../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { waitFor } from '../../support/wait-for.ts';

const machine: Machine = { broken: true, generation: 1, effects: 0, helps: true };
let database: ScratchDatabase;
let core: Core;

beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  core = await createCore({ url: database.url, tools: boxTools(machine) });
  await core.start();
});
afterAll(async () => {
  await core.stop();
  await database.drop();
});

function reset(state: Partial<Machine> = {}): void {
  Object.assign(machine, { broken: true, generation: 1, effects: 0, helps: true }, state);
}

async function open(): Promise<IncidentId> {
  const { incidentId } = await core.accept(boxAlert());
  if (!incidentId) throw new Error('not accepted');
  return incidentId;
}

async function until(id: IncidentId, state: IncidentState) {
  let seen: unknown;
  await waitFor(
    `${id} to be ${state}`,
    async () => {
      const incident = await core.records.incident(id);
      seen = incident?.state;
      return incident?.state === state;
    },
    { seen: () => seen },
  );
  const record = await core.records.load(id);
  if (!record) throw new Error('no record');
  return record;
}

async function proposed(id: IncidentId) {
  const record = await until(id, 'awaiting_approval');
  const action = record.actions.at(-1);
  if (!action) throw new Error('no action');
  return action;
}

const approve = (action: { id: string; planHash: string }, by = 'UONCALL') =>
  core.approvals.decide({
    actionId: action.id as never,
    planHash: action.planHash,
    by,
    decision: 'approve',
    reason: '',
    anotherWay: false,
  });

describe('an incident from alert to verified fix', () => {
  test('is diagnosed, waits for approval, runs the fix once and resolves', async () => {
    reset();
    const id = await open();
    const action = await proposed(id);
    expect(machine.effects).toBe(0);
    expect(await approve(action)).toMatchObject({ ok: true });
    const record = await until(id, 'resolved');
    expect(machine.effects).toBe(1);
    expect(record.actions[0]).toMatchObject({ state: 'succeeded', decidedBy: 'UONCALL', outcome: 'mended' });
    expect(record.events.map((event) => event.type)).toEqual(
      expect.arrayContaining([
        'diagnosis.concluded',
        'action.proposed',
        'action.approved',
        'action.started',
        'action.finished',
        'verification.concluded',
      ]),
    );
  });

  test('runs once when a hundred people press Approve at once', async () => {
    reset();
    const id = await open();
    const action = await proposed(id);
    const answers = await Promise.all(Array.from({ length: 100 }, () => approve(action)));
    expect(answers.filter((answer) => answer.ok)).toHaveLength(1);
    expect(
      new Set(answers.filter((answer) => !answer.ok).map((answer) => (answer.ok ? '' : answer.code))),
    ).toEqual(new Set(['ALREADY_DECIDED']));
    await until(id, 'resolved');
    expect(machine.effects).toBe(1);
  });

  test('refuses whoever may not approve, and runs nothing', async () => {
    reset();
    const id = await open();
    const action = await proposed(id);
    expect(await approve(action, 'USTRANGER')).toMatchObject({ ok: false, code: 'NOT_AN_APPROVER' });
    expect(await approve({ ...action, planHash: '0'.repeat(64) })).toMatchObject({
      ok: false,
      code: 'PLAN_CHANGED',
    });
    expect((await core.records.action(action.id))?.state).toBe('proposed');
    expect(machine.effects).toBe(0);
  });

  test('voids the approval when the state has moved, and proposes anew', async () => {
    reset();
    const id = await open();
    const action = await proposed(id);
    machine.generation = 2;
    expect(await approve(action)).toMatchObject({ ok: true });
    const next = await waitFor('another proposal', async () => {
      const last = (await core.records.load(id))?.actions.at(-1);
      return last && last.id !== action.id && last.state === 'proposed' ? last : null;
    });
    expect((await core.records.action(action.id))?.state).toBe('void');
    expect(machine.effects).toBe(0);
    expect(next.guard).toEqual({ generation: 2 });
  });

  test('goes back to diagnosis when the fix did not help, and escalates after three', async () => {
    reset({ helps: false });
    const id = await open();
    const seen = new Set<string>();
    for (let round = 1; round <= 3; round += 1) {
      const action = await waitFor(`a proposal in round ${round}`, async () => {
        const last = (await core.records.load(id))?.actions.at(-1);
        return last?.state === 'proposed' && !seen.has(last.id) ? last : null;
      });
      seen.add(action.id);
      await approve(action);
    }
    const record = await until(id, 'escalated');
    expect(machine.effects).toBe(3);
    expect(record.events.filter((event) => event.type === 'verification.concluded')).toHaveLength(3);
    expect(record.incident.verdict).toBe('not_fixed');
  });

  test('takes a denial with a reason back to planning when asked for another way', async () => {
    reset();
    const id = await open();
    const action = await proposed(id);
    await core.approvals.decide({
      actionId: action.id,
      planHash: action.planHash,
      by: 'UONCALL',
      decision: 'deny',
      reason: 'too rough',
      anotherWay: true,
    });
    const next = await waitFor('another proposal', async () => {
      const last = (await core.records.load(id))?.actions.at(-1);
      return last && last.id !== action.id ? last : null;
    });
    expect(next.command).not.toBe(action.command);
    expect(machine.effects).toBe(0);
  });

  test('ends when the source says so, and the open card is void', async () => {
    reset();
    const alert = boxAlert();
    const { incidentId } = await core.accept(alert);
    const id = incidentId as IncidentId;
    const action = await proposed(id);
    await core.accept({
      ...alert,
      status: 'resolved',
      deliveryKey: `${alert.deliveryKey}-resolved`,
      endsAt: new Date().toISOString(),
    });
    await until(id, 'resolved');
    expect(await approve(action)).toMatchObject({ ok: false, code: 'VOID' });
    expect(machine.effects).toBe(0);
  });

  test('expires undecided proposals and refuses the late click', async () => {
    reset();
    const id = await open();
    const action = await proposed(id);
    await core.sql`UPDATE action SET expires_at = clock_timestamp() - interval '1 second' WHERE id = ${action.id}`;
    expect(await approve(action)).toMatchObject({ ok: false, code: 'EXPIRED' });
    await core.jobs.enqueueTurn(id, 'test');
    await until(id, 'reported');
    expect(machine.effects).toBe(0);
  });

  test('stops at a person’s word and goes on where it was', async () => {
    reset();
    const id = await open();
    const action = await proposed(id);
    expect(await core.steering.stop(id, 'UONCALL', 'wait')).toMatchObject({ ok: true });
    expect(await core.records.action(action.id)).toMatchObject({ state: 'void' });
    expect(await core.steering.resume(id, 'UONCALL')).toMatchObject({ ok: true });
    await waitFor('another card', async () => (await proposed(id)).id !== action.id);
    expect(machine.effects).toBe(0);
    await approve(await proposed(id));
    await until(id, 'resolved');
    expect(machine.effects).toBe(1);
  });

  test('obeys the switch set after the approval', async () => {
    reset();
    const id = await open();
    const action = await proposed(id);
    await core.sql`UPDATE switch SET stopped = true, by = 'UADMIN', reason = 'drill' WHERE scope = '*'`;
    try {
      await approve(action);
      await until(id, 'reported');
      expect(machine.effects).toBe(0);
    } finally {
      await core.sql`UPDATE switch SET stopped = false WHERE scope = '*'`;
    }
  });
});
