import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { planHash } from '../../../src/actions/proposals/plan-hash.ts';
import type { Json } from '../../../src/core/tool-call.ts';
import type { Row } from '../../support/typed.ts';
import { kinds, services, session, settings } from './denials-kinds.ts';
import { type DenialsRig, NOAH, OLIVIA, startDenialsRig } from './denials-rig.ts';

/** A person said No to a thing: nothing that meets it again runs without the explicit word, however it is met. */
let rig: DenialsRig;
beforeAll(async () => {
  rig = await startDenialsRig();
}, 180_000);
afterAll(() => rig.stop());

const DAYS = { scope: 'object', minutes: 7 * 24 * 60 } as const;
const UNTIL_GONE = { scope: 'object', minutes: null } as const;

/** Every test has things of its own, or begins where nothing stands. */
async function forget(): Promise<void> {
  await rig.core.sql`DELETE FROM denial`;
  await rig.core.sql`UPDATE action SET state = 'void' WHERE state IN ('proposed', 'approved')`;
}

describe.each(kinds)('a denied $kind', ({ kind, calls }) => {
  test('stands on the card of whoever meets it again: other tools, names and ways, processes, after a restart', async () => {
    await forget();
    const [first, ...others] = await calls(rig);
    const denied = await rig.propose(first);
    const id = await rig.deny(denied, kind === 'session' ? UNTIL_GONE : DAYS);
    const second = await rig.another();
    for (const call of [first, ...others]) {
      const here = await rig.propose(call);
      expect({ call, denials: here.denialsAcknowledged }).toEqual({ call, denials: [id] });
      const there = await rig.propose(call, second);
      expect(there.denialsAcknowledged).toEqual([id]);
      await rig.core.sql`UPDATE action SET state = 'void' WHERE id IN (${here.id}, ${there.id})`;
    }
    // Whose Core was started after the denial knows of it as well as those that ran.
    await second.stop();
    const later = await (await rig.another()).records.load(denied.incidentId);
    expect(later?.denials).toMatchObject([{ id, kind, saidBy: OLIVIA, reason: 'I am working there' }]);
  });

  test('voids what was approved before it in another incident, and no approval of that ever runs', async () => {
    await forget();
    const [first, other] = await calls(rig);
    const approved = await rig.propose(other);
    await rig.approve(approved);
    const denied = await rig.propose(first);
    await rig.deny(denied, DAYS);
    expect(await rig.now(approved)).toMatchObject({ state: 'void' });
    expect(await rig.execute(approved)).toMatchObject({ kind: 'not_run', why: 'void', code: 'VOID' });
    // Somebody's hand in the ledger: by the audit log it was taken back.
    const { sql } = rig.core;
    await sql`UPDATE action SET state = 'approved' WHERE id = ${approved.id}`;
    expect(await rig.execute(approved)).toMatchObject({ kind: 'not_run', code: 'NOT_APPROVED' });
    await sql`UPDATE action SET state = 'void' WHERE id = ${approved.id}`;
    // A denial that came between the approval and the claim, which looks for itself.
    const [kept] = await sql<{ no: Json }>`SELECT to_jsonb(d) AS no FROM denial d`;
    await forget();
    const next = await rig.propose(other);
    await rig.approve(next);
    await sql`INSERT INTO denial SELECT * FROM jsonb_populate_record(NULL::denial, ${sql.json(kept?.no ?? null)})`;
    expect(await rig.execute(next)).toMatchObject({ kind: 'not_run', why: 'void', code: 'DENIED' });
    expect(await rig.now(next)).toMatchObject({ state: 'approved', startedAt: null });
  });

  test('is not asked for again in the round in which it was denied, by none of its ways', async () => {
    await forget();
    const [first, ...others] = await calls(rig);
    const denied = await rig.propose(first);
    await rig.deny(denied, DAYS);
    for (const call of [first, ...others])
      expect(await rig.call(denied.incidentId, call)).toMatchObject({
        kind: 'refused',
        code: 'DENIED',
        reason: expect.stringContaining('I am working there'),
      });
    await rig.core.sql`UPDATE incident SET round = 2 WHERE id = ${denied.incidentId}`;
    expect(await rig.call(denied.incidentId, first)).toMatchObject({ kind: 'proposed' });
  });
});

describe('the explicit word', () => {
  test('lets a denied session be ended, once, by the approval of the very card that shows the No', async () => {
    await forget();
    const key = await rig.busySession('payroll');
    const end = session('postgres_terminate_backend', 'shop-db', key);
    const id = await rig.deny(await rig.propose(end), UNTIL_GONE);
    const shown = await rig.propose(session('postgres_terminate_backend', 'checkout-db', key));
    expect(shown.denialsAcknowledged).toEqual([id]);
    await rig.approve(shown);
    expect(await rig.execute(shown)).toMatchObject({ kind: 'ran', outcome: { kind: 'succeeded' } });
    expect(await rig.isAlive(key.pid)).toBe(false);
  });

  test('is bound to the No it was said to: with another one since, it counts no more', async () => {
    await forget();
    const key = await rig.busySession('reports');
    const end = session('postgres_terminate_backend', 'shop-db', key);
    await rig.deny(await rig.propose(end), UNTIL_GONE);
    const shown = await rig.propose(end);
    await rig.approve(shown);
    await rig.deny(await rig.propose(end), UNTIL_GONE, { by: NOAH });
    expect(await rig.now(shown)).toMatchObject({ state: 'void' });
    expect((await rig.propose(end)).denialsAcknowledged).toHaveLength(2);
    expect(await rig.isAlive(key.pid)).toBe(true);
  });

  test('cannot be written into the ledger: the denials are part of the plan that was hashed', async () => {
    await forget();
    const key = await rig.busySession('stock');
    const end = session('postgres_terminate_backend', 'shop-db', key);
    const approved = await rig.propose(end);
    await rig.approve(approved);
    const id = await rig.deny(await rig.propose(end), UNTIL_GONE);
    await rig.core
      .sql`UPDATE action SET state = 'approved', denials_acknowledged = ARRAY[${id}] WHERE id = ${approved.id}`;
    expect(await rig.execute(approved)).toMatchObject({ kind: 'not_run', code: 'PLAN_CHANGED' });
    await rig.core
      .sql`UPDATE action SET denials_acknowledged = '{}', objects = '[]' WHERE id = ${approved.id}`;
    expect(await rig.execute(approved)).toMatchObject({ kind: 'not_run', code: 'PLAN_CHANGED' });
    expect(await rig.isAlive(key.pid)).toBe(true);
  });
});

test('a plan of before its things were kept is held to what it would touch now', async () => {
  await forget();
  const key = await rig.busySession('old-plan');
  const end = session('postgres_terminate_backend', 'shop-db', key);
  const old = await rig.propose(end);
  const hash = planHash({ ...old, objects: [] });
  await rig.core
    .sql`UPDATE action SET objects = '[]', object_keys = '{}', plan_hash = ${hash} WHERE id = ${old.id}`;
  await rig.approve(await rig.now(old));
  await rig.deny(await rig.propose(end), UNTIL_GONE);
  expect(await rig.now(old)).toMatchObject({ state: 'approved' });
  expect(await rig.execute(old)).toMatchObject({ kind: 'not_run', why: 'void', code: 'DENIED' });
  expect(await rig.isAlive(key.pid)).toBe(true);
});

describe('a race', () => {
  test('of a denial and a claim, in two processes: it runs before the No, or not at all', async () => {
    await forget();
    const second = await rig.another();
    for (let round = 0; round < 6; round += 1) {
      const key = await rig.busySession(`race-${round}`);
      const approved = await rig.propose(session('postgres_terminate_backend', 'shop-db', key));
      await rig.approve(approved);
      const open = await rig.propose(session('postgres_cancel_query', 'checkout-db', key));
      const [ran] = await Promise.all([rig.execute(approved), rig.deny(open, UNTIL_GONE, { core: second })]);
      const { state, startedAt } = await rig.now(approved);
      const [said] = await rig.core.sql<Row>`SELECT said_at FROM denial WHERE action_id = ${open.id}`;
      const ended = !(await rig.isAlive(key.pid));
      expect({ round, ended }).toEqual({ round, ended: ran.kind === 'ran' });
      if (ran.kind === 'ran') expect(String(startedAt) <= String(said?.['said_at'])).toBe(true);
      else expect({ round, state, startedAt }).toEqual({ round, state: 'void', startedAt: null });
    }
  });
});

describe('what it does not cover', () => {
  test('another session of the same pid; another of the application, unless all of it was denied', async () => {
    await forget();
    const [one, other] = [await rig.busySession('twins'), await rig.busySession('other-app')];
    const denied = await rig.propose(session('postgres_terminate_backend', 'shop-db', one));
    await rig.deny(denied, UNTIL_GONE);
    const free = await rig.propose(session('postgres_terminate_backend', 'shop-db', other));
    expect(free.denialsAcknowledged).toEqual([]);
    // The pid goes to somebody else: by the server's own word another session.
    await rig.core.sql`
      UPDATE denial SET keys = ARRAY[replace(keys[1], ${one.pid} || '/', ${other.pid} || '/')] WHERE action_id = ${denied.id}`;
    const reused = await rig.propose(session('postgres_cancel_query', 'shop-db', other));
    expect(reused.denialsAcknowledged).toEqual([]);
  });

  test('the application: each of its sessions, by the user it came as, and nobody else’s', async () => {
    await forget();
    const [one, two, stranger] = [
      await rig.busySession('backoffice'),
      await rig.busySession('backoffice'),
      await rig.busySession('frontend'),
    ];
    const denied = await rig.propose(session('postgres_terminate_backend', 'shop-db', one));
    const id = await rig.deny(denied, { scope: 'application', minutes: 60 });
    const covered = await rig.propose(session('postgres_cancel_query', 'checkout-db', two));
    const free = await rig.propose(session('postgres_cancel_query', 'checkout-db', stranger));
    expect(covered.denialsAcknowledged).toEqual([id]);
    expect(free.denialsAcknowledged).toEqual([]);
  });

  test('this action here: it again in this incident, and nothing else', async () => {
    await forget();
    const key = await rig.busySession('once');
    const end = session('postgres_terminate_backend', 'shop-db', key);
    const denied = await rig.propose(end);
    await rig.deny(denied, { scope: 'action', minutes: null });
    expect(await rig.call(denied.incidentId, end)).toMatchObject({ kind: 'refused', code: 'DENIED' });
    const cancel = session('postgres_cancel_query', 'shop-db', key);
    expect(await rig.call(denied.incidentId, cancel)).toMatchObject({ kind: 'proposed' });
    expect((await rig.propose(end)).denialsAcknowledged).toEqual([]);
  });

  test('what comes after its time, and what somebody took back', async () => {
    await forget();
    const [, set] = await settings.calls(rig);
    const denied = await rig.propose(set);
    const id = await rig.deny(denied, DAYS);
    await rig.core.sql`UPDATE denial SET until = clock_timestamp() - interval '1 second' WHERE id = ${id}`;
    expect((await rig.propose(set)).denialsAcknowledged).toEqual([]);
    await rig.core.sql`UPDATE denial SET until = NULL, taken_back_at = clock_timestamp() WHERE id = ${id}`;
    expect((await rig.propose(set)).denialsAcknowledged).toEqual([]);
  });
});

describe('who may', () => {
  test('not: a stranger denies nothing, and their click is on record', async () => {
    await forget();
    const [set] = await settings.calls(rig);
    const action = await rig.propose(set);
    await expect(rig.deny(action, DAYS, { by: 'USTRANGER' })).rejects.toThrow(/may approve or deny this/);
    expect(await rig.core.sql`SELECT FROM denial`).toEqual([]);
    const [entry] = await rig.core.sql<Row>`SELECT body FROM audit_entry ORDER BY seq DESC LIMIT 1`;
    expect(String(entry?.['body'])).toContain('approval.refused');
  });
});

describe('two names of one system', () => {
  test('are one system to the ledger: one action at a time, and rules count both', async () => {
    await forget();
    const [set] = await settings.calls(rig);
    const first = await rig.propose(set);
    const key = await rig.busySession('parallel');
    const second = await rig.propose(session('postgres_terminate_backend', 'checkout-db', key));
    await rig.approve(second);
    await rig.core.sql`
      UPDATE action SET state = 'started', claim_id = 'c', started_at = clock_timestamp(), done_by = clock_timestamp() + interval '1 hour'
       WHERE id = ${first.id}`;
    expect(await rig.execute(second)).toMatchObject({
      kind: 'later',
      reason: expect.stringMatching(/has not ended/),
    });
    await rig.core.sql`UPDATE action SET state = 'void' WHERE id = ${first.id}`;
    expect(await rig.execute(second)).toMatchObject({ kind: 'ran' });
  });

  test('restart one service once in its ten minutes', async () => {
    await forget();
    await rig.core.sql`DELETE FROM rate_claim`;
    const [restart, again] = await services.calls(rig);
    const first = await rig.propose(restart);
    await rig.approve(first);
    expect(await rig.execute(first)).toMatchObject({ kind: 'ran', outcome: { kind: 'succeeded' } });
    const id = await rig.incident(again.target);
    expect(await rig.call(id, again)).toMatchObject({ kind: 'refused', code: 'RATE_LIMITED' });
  });
});

test('nothing of all this has changed the file that was denied', () => {
  expect(readFileSync(join(rig.host.dir, 'app', 'conf.d', 'pool.conf'), 'utf8')).toBe('pool=4\n');
});
