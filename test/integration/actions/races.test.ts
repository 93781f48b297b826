import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createGate, type Gate } from '../../../src/actions/gate.ts';
import type { LedgerHooks } from '../../../src/actions/ledger/execution.ts';
import type { Action } from '../../../src/core/action.ts';
import { type Database, openDatabase } from '../../../src/infra/db/client.ts';
import { createRecords } from '../../../src/record/record.ts';
import { createAuditLog } from '../../../src/safety/audit/audit-chain.ts';
import { createKillSwitch } from '../../../src/safety/kill-switch/kill-switch.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import type { Row } from '../../support/typed.ts';
import {
  actionOf,
  approved,
  call,
  createRig,
  decide,
  execute,
  mend,
  never,
  noHooks,
  openIncident,
  propose,
  type Rig,
  typed,
} from './rig.ts';

let rig: Rig;
/** A second process, as far as the database can tell: connections, records and gate of its own. */
let elsewhere: Database;
let otherGate: Gate;

beforeAll(async () => {
  rig = await createRig({ approvers: ['UONCALL', 'USECOND'].map((id) => ({ kind: 'user', id }) as const) });
  elsewhere = openDatabase(rig.database.url, { max: 5 });
  const { sql } = elsewhere;
  await sql`SELECT 1`;
  otherGate = createGate({
    ...rig.core.gateDeps,
    sql,
    records: createRecords(sql),
    audit: createAuditLog(sql),
    killSwitch: createKillSwitch(sql, { mode: 'ACTIVE', dataDir: rig.dataDir }),
  });
});
beforeEach(() => {
  Object.assign(rig.machine, { broken: true, generation: 1, effects: 0, helps: true });
});
afterEach(async () => {
  await rig.core.sql`UPDATE action SET state = 'failed' WHERE state IN ('started', 'unknown')`;
  await rig.core.sql`UPDATE switch SET stopped = false`;
  await rig.core.sql`DELETE FROM switch WHERE scope <> '*'`;
});
afterAll(async () => {
  await elsewhere.close();
  await rig.stop();
});

const stop = (scope: string): Promise<unknown> =>
  Promise.resolve(elsewhere.sql`
    INSERT INTO switch (scope, stopped, by) VALUES (${scope}, true, 'UADMIN')
    ON CONFLICT (scope) DO UPDATE SET stopped = true`);
/** Holds the claim open for as long as `until` takes. */
const held = (until: Promise<unknown>, entered: () => void = () => undefined): LedgerHooks => ({
  ...noHooks,
  claimed: async () => {
    entered();
    await until;
    return undefined;
  },
});
function latch(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
const scopes = ['*', 'domain:postgres', 'target:box'];

describe('the switch', () => {
  test.each(scopes)(
    'set on %s during a claim waits for it, also where the scope has no row yet',
    async (scope) => {
      const action = await approved(rig);
      const { promise, resolve } = latch();
      const claiming = latch();
      const running = execute(rig, action.id, rig.core.gate, held(promise, claiming.resolve));
      await claiming.promise;
      let isSet = false;
      const setting = stop(scope).then(() => {
        isSet = true;
      });
      await sleep(150);
      expect(isSet).toBe(false);
      resolve();
      await setting;
      // Whoever pressed *Stop* is answered now, and finds what had begun by its name.
      expect(['started', 'succeeded']).toContain((await actionOf(rig, action.id)).state);
      await running;
      const next = await approved(rig).catch(() => null);
      expect(next).toBeNull();
    },
  );

  test('without its trigger the new scope would not wait: the test above can fail', async () => {
    await typed(rig, 'ALTER TABLE switch DISABLE TRIGGER switch_in_order');
    try {
      const action = await approved(rig);
      const { promise, resolve } = latch();
      const claiming = latch();
      const running = execute(rig, action.id, rig.core.gate, held(promise, claiming.resolve));
      await claiming.promise;
      await stop('target:box');
      expect((await actionOf(rig, action.id)).state).toBe('approved');
      resolve();
      await running;
      expect(rig.machine.effects).toBe(1);
    } finally {
      await typed(rig, 'ALTER TABLE switch ENABLE TRIGGER switch_in_order');
    }
  });

  test('a claim that begins while a new scope is being set is refused', async () => {
    const action = await approved(rig);
    const { promise, resolve } = latch();
    const inserted = latch();
    const setting = elsewhere.sql.begin(async (tx) => {
      await tx`INSERT INTO switch (scope, stopped, by) VALUES ('target:box', true, 'UADMIN')`;
      inserted.resolve();
      await promise;
    });
    await inserted.promise;
    const running = execute(rig, action.id);
    await sleep(150);
    resolve();
    await setting;
    expect(await running).toMatchObject({ kind: 'not_run', code: 'STOPPED' });
    expect(rig.machine.effects).toBe(0);
  });

  test('set at 60 moments between approval and claim, with two processes: nothing begins after it but what it can name', {
    timeout: 120_000,
  }, async () => {
    let stoppedBefore = 0;
    let ranBefore = 0;
    // Spread over twice what a run takes on this machine now, so that some come before and some after its claim.
    let spanMs = 25;
    for (let round = 0; round < 60; round += 1) {
      const action = await approved(rig);
      rig.machine.effects = 0;
      const setting = sleep(Math.random() * 2 * spanMs).then(async () => {
        await stop(scopes[round % 3] ?? '*');
        return actionOf(rig, action.id);
      });
      const begunAt = performance.now();
      const runs = [
        execute(rig, action.id).then(() => {
          spanMs = performance.now() - begunAt;
        }),
        sleep(Math.random() * 5).then(() => execute(rig, action.id, otherGate)),
      ];
      const named = await setting;
      await Promise.all(runs);
      const begun = named.state !== 'approved';
      expect(rig.machine.effects).toBe(begun ? 1 : 0);
      if (begun) ranBefore += 1;
      else stoppedBefore += 1;
      await rig.core.sql`UPDATE switch SET stopped = false`;
      await rig.core.sql`DELETE FROM switch WHERE scope <> '*'`;
    }
    // Both have to occur, or the moments were none.
    expect([stoppedBefore > 0, ranBefore > 0]).toEqual([true, true]);
    process.stdout.write(`switch: ${stoppedBefore} stopped, ${ranBefore} had begun\n`);
  });

  test('a switch that is not there is a stop', async () => {
    const action = await approved(rig);
    await typed(rig, `DELETE FROM switch`);
    try {
      expect(await execute(rig, action.id)).toMatchObject({ kind: 'not_run', code: 'STOPPED' });
    } finally {
      await typed(rig, `INSERT INTO switch (scope, stopped) VALUES ('*', false)`);
    }
  });

  test('a stop file is obeyed as soon as it lies there, whatever it is, and when nobody can tell', async () => {
    const dataDir = scratchDir();
    const { local } = createKillSwitch(rig.core.sql, { mode: 'ACTIVE', dataDir });
    const file = join(dataDir, 'STOP_SENTRY');
    expect(local()).toBeUndefined();
    const ways = [
      () => writeFileSync(file, ''),
      () => mkdirSync(file),
      () => symlinkSync('/nonexistent/anywhere', file),
    ];
    for (const lay of ways) {
      lay();
      expect(local()).toMatchObject({ code: 'STOPPED' });
      rmSync(file, { recursive: true });
      expect(local()).toBeUndefined();
    }
    // A file where the folder should be: it cannot be seen whether STOP_SENTRY is in it.
    const odd = join(dataDir, 'odd');
    writeFileSync(odd, '');
    expect(createKillSwitch(rig.core.sql, { mode: 'ACTIVE', dataDir: odd }).local()).toMatchObject({
      code: 'STOPPED',
    });
    chmodSync(odd, 0o600);
    expect(createKillSwitch(rig.core.sql, { mode: 'AUDIT', dataDir }).local()).toMatchObject({
      code: 'AUDIT_MODE',
    });
  });

  test('laid between the claim and the run it still stops the run, and the outcome says so', async () => {
    const action = await approved(rig);
    const file = join(rig.dataDir, 'STOP_SENTRY');
    const lay: LedgerHooks = {
      ...noHooks,
      claimed: async () => {
        writeFileSync(file, '');
        return undefined;
      },
    };
    try {
      const result = await execute(rig, action.id, rig.core.gate, lay);
      expect(result).toMatchObject({ kind: 'ran', outcome: { kind: 'failed' } });
    } finally {
      rmSync(file);
    }
    expect(rig.machine.effects).toBe(0);
    expect((await actionOf(rig, action.id)).outcome).toContain('STOP_SENTRY');
  });

  test('AUDIT mode runs nothing that was approved before it', async () => {
    const action = await approved(rig);
    const gate = createGate({
      ...rig.core.gateDeps,
      killSwitch: createKillSwitch(rig.core.sql, { mode: 'AUDIT', dataDir: rig.dataDir }),
    });
    expect(await gate.execute(action, noHooks, never)).toMatchObject({ kind: 'not_run', code: 'AUDIT_MODE' });
    expect(rig.machine.effects).toBe(0);
  });
});

describe('decisions at the same time', () => {
  test('approve, deny, expire and void: one of them holds, and the record tells of one', {
    timeout: 120_000,
  }, async () => {
    const seen = new Set<string>();
    for (let round = 0; round < 40; round += 1) {
      const action = await propose(rig);
      const isShort = round % 4 === 0;
      await rig.core
        .sql`UPDATE action SET expires_at = clock_timestamp() + ${isShort ? 4 : 10_000} * interval '1 ms' WHERE id = ${action.id}`;
      const soon = (): Promise<void> => sleep(Math.random() * 8);
      const [yes, no] = await Promise.all([
        soon().then(() => decide(rig, action, 'approve')),
        soon().then(() => decide(rig, action, 'deny')),
        soon().then(() => rig.core.approvals.expire(action.id)),
        round % 3 === 0
          ? soon().then(() => rig.core.sql.begin((tx) => rig.core.approvals.void(tx, action, 'test')))
          : null,
      ]);
      const { state } = await actionOf(rig, action.id);
      seen.add(state);
      expect([yes?.ok, no?.ok].filter(Boolean).length).toBeLessThanOrEqual(1);
      const decisions = await rig.core.sql<Row>`
        SELECT count(*) AS n FROM audit_entry WHERE body LIKE ${`%${action.id}%`} AND body LIKE '%"kind":"approval.decided"%'`;
      expect(decisions[0]?.['n']).toBe(yes?.ok || no?.ok ? 1 : 0);
      rig.machine.effects = 0;
      await execute(rig, action.id);
      // What was approved in the last of its 4 ms has run out by now.
      if (isShort) expect(rig.machine.effects).toBeLessThanOrEqual(state === 'approved' ? 1 : 0);
      else expect(rig.machine.effects).toBe(state === 'approved' ? 1 : 0);
    }
    expect(seen.has('approved') && seen.has('denied')).toBe(true);
  });

  test('what became void after a turn had read it as approved is void, for its own reason, and not refused', async () => {
    const action = await approved(rig);
    await rig.core.sql.begin((tx) => rig.core.approvals.void(tx, action, 'Somebody has said no to the box.'));
    expect(await rig.core.gate.execute(action, noHooks, never)).toMatchObject({
      kind: 'not_run',
      why: 'void',
      code: 'VOID',
      reason: 'Somebody has said no to the box.',
    });
    expect(rig.machine.effects).toBe(0);
  });

  test('two processes that execute run it once, and a third time it is history', async () => {
    for (let round = 0; round < 15; round += 1) {
      rig.machine.effects = 0;
      const action = await approved(rig);
      await Promise.all([
        execute(rig, action.id),
        execute(rig, action.id, otherGate),
        execute(rig, action.id),
      ]);
      expect(rig.machine.effects).toBe(1);
    }
  });

  test('two incidents on one target run one after the other', async () => {
    const [one, two] = [await approved(rig), await approved(rig, mend('other'))];
    const { promise, resolve } = latch();
    const claiming = latch();
    const first = execute(rig, one.id, rig.core.gate, held(promise, claiming.resolve));
    await claiming.promise;
    const second = execute(rig, two.id, otherGate);
    await sleep(100);
    resolve();
    expect(await first).toMatchObject({ kind: 'ran' });
    const outcome = await second;
    expect(['ran', 'later']).toContain(outcome.kind);
    const spans = await rig.core.sql`
      SELECT a.id FROM action a JOIN action b ON a.id < b.id AND a.started_at < b.finished_at AND b.started_at < a.finished_at
       WHERE a.target = 'box' AND a.id IN (${one.id}, ${two.id}) AND b.id IN (${one.id}, ${two.id})`;
    expect(spans).toHaveLength(0);
  });
});

test('an incident that a person stops between the turn’s look and the claim runs nothing, and goes on later', async () => {
  const action: Action = await approved(rig);
  const lost: LedgerHooks = { ...noHooks, claimed: async () => 'lost' };
  expect(await execute(rig, action.id, rig.core.gate, lost)).toMatchObject({ kind: 'later' });
  expect(rig.machine.effects).toBe(0);
  expect((await actionOf(rig, action.id)).state).toBe('approved');
  expect(await execute(rig, action.id)).toMatchObject({ kind: 'ran' });
  expect(rig.machine.effects).toBe(1);
});

test('the investigation’s own hook says so when the incident has been stopped', async () => {
  const { ledgerHooks } = await import('../../../src/incidents/ledger-hooks.ts');
  const incidentId = await openIncident(rig);
  const action = await propose(rig, mend('a'), incidentId);
  await rig.core.sql`UPDATE incident SET state = 'awaiting_approval' WHERE id = ${incidentId}`;
  const incident = await rig.core.records.incident(incidentId);
  if (!incident) throw new Error('no incident');
  await decide(rig, action);
  // The turn has read the incident; now a person stops it, whose stop has not got to the action.
  await rig.core
    .sql`UPDATE incident SET state = 'stopped', stopped_from = 'awaiting_approval' WHERE id = ${incidentId}`;
  const run = {
    deps: rig.core,
    incident,
    reason: 'test',
    durably: <T>(_: string, fn: () => Promise<T>) => fn(),
  };
  const result = await execute(rig, action.id, rig.core.gate, ledgerHooks(run, action));
  expect(result).toMatchObject({ kind: 'later' });
  expect(rig.machine.effects).toBe(0);
  expect((await rig.core.records.incident(incidentId))?.state).toBe('stopped');
});

describe('an approval and a new look for the cause', () => {
  /** A turn that proposed and died left its card in a report; a hint has the cause looked for again. */
  async function openCard() {
    const incidentId = await openIncident(rig);
    const action = await propose(rig, mend('a'), incidentId);
    await rig.core.sql`UPDATE incident SET state = 'reported' WHERE id = ${incidentId}`;
    return { incidentId, action };
  }

  test('the old card is void from the same moment on, and its press says so', async () => {
    const { incidentId, action } = await openCard();
    await rig.core.steering.hint(incidentId, 'UONCALL', 'it is the disk');
    expect(await actionOf(rig, action.id)).toMatchObject({ state: 'void' });
    expect(await decide(rig, action)).toMatchObject({ ok: false });
    expect(await execute(rig, action.id)).toMatchObject({ kind: 'not_run' });
    expect(rig.machine.effects).toBe(0);
  });

  test('pressed at the same moment it is void, too, whichever was first, and nothing runs', async () => {
    const { incidentId, action } = await openCard();
    const [yes] = await Promise.all([
      decide(rig, action),
      rig.core.steering.hint(incidentId, 'UONCALL', 'it is the disk'),
    ]);
    expect(await actionOf(rig, action.id)).toMatchObject({ state: 'void' });
    const { events } = (await rig.core.records.load(incidentId))!;
    expect(events.filter(({ type }) => type === 'action.approved')).toHaveLength(yes.ok ? 1 : 0);
    expect(events.filter(({ type }) => type === 'action.void')).toHaveLength(1);
    await execute(rig, action.id);
    expect(rig.machine.effects).toBe(0);
  });

  test('a card of an earlier round that nobody has withdrawn yet is not approved', async () => {
    const { incidentId, action } = await openCard();
    await rig.core.sql`UPDATE incident SET round = round + 1 WHERE id = ${incidentId}`;
    expect(await decide(rig, action)).toMatchObject({ ok: false, code: 'LOOKED_AGAIN' });
    expect((await actionOf(rig, action.id)).state).toBe('proposed');
    expect(await decide(rig, action, 'deny')).toMatchObject({ ok: true });
  });
});

describe('what is riskier than its card said', () => {
  test.each([
    ['low', 'medium', 'void'],
    ['low', 'high', 'void'],
    ['medium', 'high', 'void'],
    ['low', 'nothing of the kind', 'void'],
    ['medium', 'low', 'ran'],
    ['high', 'high', 'ran'],
  ])('proposed as %s, %s when it is about to run: %s', async (then, now, ends) => {
    const incidentId = await openIncident(rig);
    const tool = rig.core.gateDeps.registry.get('box_mend');
    if (tool?.kind !== 'active') throw new Error('no tool');
    let risk = then;
    const judged = {
      ...tool,
      preflight: async (...given: Parameters<typeof tool.preflight>) => ({
        ...(await tool.preflight(...given)),
        risk: risk as never,
      }),
    };
    const asked: unknown[] = [];
    const { rules, ...deps } = rig.core.gateDeps;
    const demands: NonNullable<typeof rules>['demands'] = async (subject) => {
      asked.push(subject.risk);
      if (!rules) throw new Error('no rules');
      return rules.demands(subject);
    };
    const gate = createGate({
      ...deps,
      registry: { get: () => judged } as never,
      ...(rules ? { rules: { demands } } : {}),
    });
    const proposed = await call(rig, 'surgeon', incidentId, mend(`${then} ${now}`), gate);
    if (proposed.kind !== 'proposed') throw new Error(JSON.stringify(proposed));
    const action = await actionOf(rig, proposed.actionId);
    expect(action.risk).toBe(then);
    await decide(rig, action);
    risk = now;
    const end = await execute(rig, action.id, gate);
    if (ends === 'ran') expect(end).toMatchObject({ kind: 'ran' });
    else
      expect(end).toMatchObject({
        kind: 'not_run',
        why: 'void',
        code: 'STATE_MOVED',
        reason: expect.stringContaining(`was proposed as one of ${then} risk`),
      });
    expect(rig.machine.effects).toBe(ends === 'ran' ? 1 : 0);
    if (ends === 'ran' && asked.length > 0) expect(asked.at(-1)).toBe(now);
  });
});

test.each([
  [undefined, 'an autoscaler is in charge', 'void'],
  ['an autoscaler is in charge', 'a budget allows none', 'void'],
  ['an autoscaler is in charge', 'an autoscaler is in charge', 'ran'],
  ['an autoscaler is in charge', undefined, 'ran'],
])('objected to by %j on its card, by %j when it is about to run: %s [F4]', async (then, now, ends) => {
  const incidentId = await openIncident(rig);
  const tool = rig.core.gateDeps.registry.get('box_mend');
  if (tool?.kind !== 'active') throw new Error('no tool');
  let objection = then;
  const judged = {
    ...tool,
    preflight: async (...given: Parameters<typeof tool.preflight>) => ({
      ...(await tool.preflight(...given)),
      risk: 'high',
      ...(objection === undefined ? {} : { objection }),
    }),
  };
  const gate = createGate({ ...rig.core.gateDeps, registry: { get: () => judged } as never });
  const proposed = await call(rig, 'surgeon', incidentId, mend(`${then} then ${now}`), gate);
  if (proposed.kind !== 'proposed') throw new Error(JSON.stringify(proposed));
  const action = await actionOf(rig, proposed.actionId);
  // What is objected to takes two.
  for (const by of ['UONCALL', 'USECOND']) await decide(rig, action, 'approve', by);
  objection = now;
  const before = rig.machine.effects;
  expect(await execute(rig, action.id, gate)).toMatchObject(
    ends === 'ran' ? { kind: 'ran' } : { kind: 'not_run', why: 'void', code: 'STATE_MOVED' },
  );
  expect(rig.machine.effects - before).toBe(ends === 'ran' ? 1 : 0);
});

test.each([
  ['api needs it.', 'api needs it.', 'ran'],
  ['api needs it.', 'api, web need it.', 'void'],
  ['', 'api needs it.', 'void'],
  ['api needs it.', '', 'void'],
  ['', '', 'ran'],
])('felt by %j on its card, by %j when it is about to run: %s [F4]', async (then, now, ends) => {
  const incidentId = await openIncident(rig);
  const tool = rig.core.gateDeps.registry.get('box_mend');
  if (tool?.kind !== 'active') throw new Error('no tool');
  let felt = then;
  const judged = {
    ...tool,
    preflight: async (...given: Parameters<typeof tool.preflight>) => ({
      ...(await tool.preflight(...given)),
      felt,
    }),
  };
  const gate = createGate({ ...rig.core.gateDeps, registry: { get: () => judged } as never });
  const proposed = await call(rig, 'surgeon', incidentId, mend(`felt ${then} then ${now}`), gate);
  if (proposed.kind !== 'proposed') throw new Error(JSON.stringify(proposed));
  const action = await actionOf(rig, proposed.actionId);
  await decide(rig, action);
  felt = now;
  const before = rig.machine.effects;
  expect(await execute(rig, action.id, gate)).toMatchObject(
    ends === 'ran' ? { kind: 'ran' } : { kind: 'not_run', why: 'void', code: 'STATE_MOVED' },
  );
  expect(rig.machine.effects - before).toBe(ends === 'ran' ? 1 : 0);
});
