import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { voidAction } from '../../../src/actions/approvals/end-approval.ts';
import { createGate, type Gate } from '../../../src/actions/gate.ts';
import {
  type ExecutionResult,
  executionParts,
  type LedgerHooks,
} from '../../../src/actions/ledger/execution.ts';
import { claim, WINDOW_MS } from '../../../src/actions/ledger/ledger.ts';
import type { Action } from '../../../src/core/action.ts';
import { ledgerHooks } from '../../../src/incidents/ledger-hooks.ts';
import { type Database, openDatabase } from '../../../src/infra/db/client.ts';
import { createRecords } from '../../../src/record/record.ts';
import {
  actionOf,
  approved,
  createRig,
  decide,
  execute,
  mend,
  never,
  noHooks,
  openIncident,
  propose,
  type Rig,
} from './rig.ts';

let rig: Rig;
let elsewhere: Database;
let otherGate: Gate;

beforeAll(async () => {
  rig = await createRig();
  elsewhere = openDatabase(rig.database.url, { max: 3 });
  otherGate = createGate({
    ...rig.core.gateDeps,
    sql: elsewhere.sql,
    records: createRecords(elsewhere.sql),
  });
});
beforeEach(async () => {
  Object.assign(rig.machine, { broken: true, generation: 1, effects: 0, helps: true });
  await rig.core.sql`UPDATE action SET state = 'failed' WHERE state IN ('started', 'unknown')`;
});
afterAll(async () => {
  await elsewhere.close();
  await rig.stop();
});

/** A process whose claim has committed, and comes back `lateMs` late: `meanwhile` sees what others see then. */
function late(meanwhile: (action: Action) => unknown = () => undefined, lateMs = WINDOW_MS): Gate {
  const lateClaim: typeof claim = async (deps, options) => {
    const claimed = await claim(deps, options);
    if (claimed.kind !== 'claimed') return claimed;
    await meanwhile(options.action);
    return { ...claimed, begunAt: claimed.begunAt - lateMs - 1 };
  };
  return createGate(rig.core.gateDeps, { ledger: { ...executionParts.ledger, claim: lateClaim } });
}

const counted = async (id: string): Promise<number> =>
  (await rig.core.sql`SELECT 1 FROM rate_claim WHERE action_id = ${id}`).length;

/** Approved in an incident that waits for it, and the hooks of its turn. */
async function inIncident(): Promise<{
  readonly action: Action;
  readonly hooks: () => Promise<LedgerHooks>;
  readonly state: () => Promise<string | undefined>;
}> {
  const incidentId = await openIncident(rig);
  await rig.core.sql`UPDATE incident SET state = 'awaiting_approval' WHERE id = ${incidentId}`;
  const action = await propose(rig, mend('way'), incidentId);
  await decide(rig, action);
  const read = () => rig.core.records.incident(incidentId);
  const hooks = async () => {
    const incident = await read();
    if (!incident) throw new Error('no incident');
    const durably = <T>(_: string, fn: () => Promise<T>) => fn();
    return ledgerHooks({ deps: rig.core, incident, reason: 'test', durably }, action);
  };
  return { action, hooks, state: async () => (await read())?.state };
}

test('a claim that came back late runs nothing, and its approval stands: the next try runs it once [C4]', async () => {
  const action = await approved(rig);
  // What a tool with a limit has counted in its claim.
  const count = ({ id }: Action) =>
    rig.core.sql`INSERT INTO rate_claim (action_id, key) VALUES (${id}, 'restart of box')`;
  expect(await execute(rig, action.id, late(count))).toEqual({ kind: 'given_back' });
  expect(rig.machine.effects).toBe(0);
  const after = await actionOf(rig, action.id);
  expect(after).toMatchObject({ state: 'approved', approvedBy: action.approvedBy, outcome: null });
  expect(after.expiresAt).toBe(action.expiresAt);
  expect(await counted(action.id)).toBe(0);
  expect(await execute(rig, action.id)).toMatchObject({ kind: 'ran', outcome: { kind: 'succeeded' } });
  expect(await execute(rig, action.id)).toMatchObject({ kind: 'ran' });
  expect(rig.machine.effects).toBe(1);
});

test('its incident waits for approval again, says why, and is remediated by the next try [C4]', async () => {
  const { action, hooks, state } = await inIncident();
  for (let n = 0; n < 2; n += 1) {
    expect(await execute(rig, action.id, late(), await hooks())).toEqual({ kind: 'given_back' });
    expect(await state()).toBe('awaiting_approval');
  }
  const told = await rig.core.sql<{ reason: string }>`
    SELECT body->>'reason' AS reason FROM event WHERE incident_id = ${action.incidentId} AND type = 'state.changed'
       AND body->>'from' = 'remediating'`;
  expect(told.map(({ reason }) => reason)).toEqual(
    Array(2).fill(expect.stringContaining('It stays approved')),
  );
  expect(await execute(rig, action.id, rig.core.gate, await hooks())).toMatchObject({ kind: 'ran' });
  expect(rig.machine.effects).toBe(1);
  expect(await state()).toBe('verifying');
  const begun = await rig.core.sql`
    SELECT 1 FROM event WHERE incident_id = ${action.incidentId} AND type = 'state.changed' AND body->>'to' = 'remediating'`;
  expect(begun).toHaveLength(3);
});

test('a turn is there that tries again, and one try asks for one [C4]', async () => {
  const { action, hooks } = await inIncident();
  const waiting = async () =>
    (
      await rig.core.sql`
        SELECT 1 FROM dbos.workflow_status WHERE queue_partition_key = ${action.incidentId} AND status = 'DELAYED'`
    ).length;
  const before = await waiting();
  await execute(rig, action.id, late(), await hooks());
  expect(await waiting()).toBe(before + 1);
});

test('what has expired by the time it is given back does not run [C4]', async () => {
  const action = await approved(rig);
  const expire = ({ id }: Action) =>
    rig.core.sql`UPDATE action SET expires_at = clock_timestamp() WHERE id = ${id}`;
  expect(await execute(rig, action.id, late(expire))).toEqual({ kind: 'given_back' });
  expect(await execute(rig, action.id)).toMatchObject({ kind: 'not_run', code: 'EXPIRED' });
  expect(rig.machine.effects).toBe(0);
});

test('a stop that came meanwhile holds: switch, incident, and plan [C4]', async () => {
  const one = await approved(rig);
  expect(
    await execute(
      rig,
      one.id,
      late(() => rig.core.sql`UPDATE switch SET stopped = true WHERE scope = '*'`),
    ),
  ).toEqual({ kind: 'given_back' });
  expect(await execute(rig, one.id)).toMatchObject({ kind: 'not_run', code: 'STOPPED' });
  await rig.core.sql`UPDATE switch SET stopped = false`;

  const { action, hooks, state } = await inIncident();
  const stopped = ({ incidentId }: Action) =>
    rig.core.sql`UPDATE incident SET state = 'stopped', stopped_from = 'verifying' WHERE id = ${incidentId}`;
  expect(await execute(rig, action.id, late(stopped), await hooks())).toMatchObject({
    kind: 'ran',
    outcome: { kind: 'failed', text: expect.stringContaining('too late') },
  });
  expect(await state()).toBe('stopped');
  expect(rig.machine.effects).toBe(0);
});

test('a plan of which a person has called off the rest meanwhile does not begin again [C4]', async () => {
  const action = await approved(rig);
  const calledOff = async ({ id }: Action) => {
    const [row] = await rig.core.sql<Record<string, unknown>>`SELECT * FROM action WHERE id = ${id}`;
    await rig.core.sql`
      INSERT INTO action SELECT (jsonb_populate_record(a, ${rig.core.sql.json({
        id: `${id}_2`,
        step: 2,
        state: 'skipped',
        claim_id: null,
      })}::jsonb)).* FROM action a WHERE id = ${id}`;
    return row;
  };
  expect(await execute(rig, action.id, late(calledOff))).toMatchObject({
    kind: 'ran',
    outcome: { kind: 'failed' },
  });
  expect(rig.machine.effects).toBe(0);
});

test('another process that has judged the claim keeps its judgement [C4]', async () => {
  const action = await approved(rig);
  const judged = async ({ id }: Action) => {
    await rig.core.sql`UPDATE action SET done_by = clock_timestamp() - interval '1 s' WHERE id = ${id}`;
    const settled = await otherGate.settle(await actionOf(rig, id), noHooks, never);
    expect(settled.kind).toBe('ran');
  };
  expect((await execute(rig, action.id, late(judged))).kind).toBe('ran');
  const { state } = await actionOf(rig, action.id);
  expect(['failed', 'unknown']).toContain(state);
  expect(await execute(rig, action.id)).not.toMatchObject({ kind: 'given_back' });
  expect(rig.machine.effects).toBe(0);
});

test('late claims in two processes at once, and one in time: it runs once, and no one else is told that it did not [C4]', async () => {
  for (let round = 0; round < 20; round += 1) {
    rig.machine.effects = 0;
    const action = await approved(rig);
    const pause = () => sleep(Math.random() * 15);
    const attempt = async (gate: Gate): Promise<ExecutionResult> => {
      for (;;) {
        const result = await execute(rig, action.id, gate);
        if (result.kind === 'ran') return result;
        await pause();
      }
    };
    const slow = late(pause);
    await Promise.all([execute(rig, action.id, slow), attempt(otherGate), execute(rig, action.id, slow)]);
    expect(rig.machine.effects).toBe(1);
    expect((await actionOf(rig, action.id)).state).toBe('succeeded');
  }
});

test('taken back while its approval is being judged, it is void: it is asked for again, and nobody is told that it was refused', async () => {
  const action = await approved(rig);
  const { records, audit } = rig.core.gateDeps;
  const checks: typeof executionParts.checks = {
    ...executionParts.checks,
    async decided(deps, judged) {
      await rig.core.sql.begin((tx) => voidAction(tx, { records, audit }, action, 'Somebody said no.'));
      return executionParts.checks.decided(deps, judged);
    },
  };
  expect(await execute(rig, action.id, createGate(rig.core.gateDeps, { checks }))).toMatchObject({
    kind: 'not_run',
    why: 'void',
  });
  expect(rig.machine.effects).toBe(0);
});
