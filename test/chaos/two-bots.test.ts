import { afterEach, expect, test } from 'vitest';
import type { Action } from '../../src/core/action.ts';
import type { IncidentId } from '../../src/core/ids.ts';
import type { IncidentState } from '../../src/core/incident.ts';
import { endAbandonedTransactions } from '../../src/infra/db/abandoned-transactions.ts';
import { type Database, openDatabase } from '../../src/infra/db/client.ts';
import { createBoxes } from '../support/chaos-box.ts';
import { startWorker, type Worker } from '../support/chaos-process.ts';
import { boxAlert, type Core, createCore } from '../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../support/postgres.ts';
import { quiet } from '../support/quiet.ts';
import type { Row } from '../support/typed.ts';
import { waitFor } from '../support/wait-for.ts';

/**
 * Whole cores as processes on one record, killed and paused inside the run of an approved action. The box counts what
 * took effect on it; the record is read past the bots.
 */
const TIMEOUT_MS = 1_000;
/** From the claim on: window, timeout and margin (gate/ledger.ts). */
const CLAIM_MS = 3_000 + TIMEOUT_MS + 1_500;
const SLOW_MS = 60_000;

let databases: readonly ScratchDatabase[] = [];
let core: Core;
let target: Database;
const workers: Worker[] = [];

/** A fresh record and a broken box; `core` decides and reads, and works on nothing itself. */
async function scene(): Promise<void> {
  databases = [await scratchDatabase({ migrate: true }), await scratchDatabase()];
  // As a start does: one that is paused may hold what the others wait for.
  await endAbandonedTransactions(databases[0]?.url ?? '', quiet);
  core = await createCore({ url: databases[0]?.url ?? '', tools: [] });
  target = openDatabase(databases[1]?.url ?? '', { max: 3 });
  await createBoxes(target.sql, ['box']);
}

afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.kill()));
  await core.stop();
  await target.close();
  await Promise.all(databases.map((database) => database.drop()));
});

async function bot(times: { readonly before?: number; readonly after?: number } = {}): Promise<Worker> {
  const worker = await startWorker({
    kind: 'bot',
    url: databases[0]?.url ?? '',
    target: databases[1]?.url ?? '',
    before: String(times.before ?? 0),
    after: String(times.after ?? 0),
    timeout: String(TIMEOUT_MS),
  });
  workers.push(worker);
  return worker;
}

async function open(): Promise<IncidentId> {
  const { incidentId } = await core.accept(boxAlert());
  if (!incidentId) throw new Error('not accepted');
  return incidentId;
}

async function proposed(id: IncidentId, not?: string): Promise<Action> {
  return waitFor(
    'a proposal',
    async () => {
      const record = await core.records.load(id);
      const action = record?.actions.at(-1);
      return action?.state === 'proposed' &&
        action.id !== not &&
        record?.incident.state === 'awaiting_approval'
        ? action
        : null;
    },
    { timeoutMs: SLOW_MS, seen: () => workers.map((worker) => worker.output()) },
  );
}

async function approve(action: Action): Promise<void> {
  const { id: actionId, planHash } = action;
  const decided = await core.approvals.decide({
    actionId,
    planHash,
    by: 'UONCALL',
    decision: 'approve',
    reason: '',
    anotherWay: false,
  });
  expect(decided).toMatchObject({ ok: true });
}

async function until(id: IncidentId, state: IncidentState) {
  let seen: unknown;
  await waitFor(
    `${id} to be ${state}`,
    async () => {
      seen = (await core.records.incident(id))?.state;
      return seen === state;
    },
    { timeoutMs: SLOW_MS, everyMs: 20, seen: () => seen },
  );
  const record = await core.records.load(id);
  if (!record) throw new Error('no record');
  return record;
}

const entered = () =>
  waitFor('the run to begin', async () => (await target.sql`SELECT 1 FROM entered`).length > 0, {
    timeoutMs: SLOW_MS,
    everyMs: 5,
  });

async function effects(): Promise<number> {
  return (await target.sql`SELECT 1 FROM effect`).length;
}

async function doneBy(id: string): Promise<string> {
  const [row] = await core.sql<Row>`SELECT done_by FROM action WHERE id = ${id}`;
  return String(row?.['done_by']);
}

test('killed inside the run before the effect: the next start waits, looks, and the plan is approved again', async () => {
  await scene();
  const first = await bot({ before: 30_000 });
  const id = await open();
  const action = await proposed(id);
  await approve(action);
  await entered();
  await first.kill();
  await bot();
  const again = await proposed(id, action.id);
  const judged = await core.records.action(action.id);
  expect(judged).toMatchObject({ state: 'failed', toolCallId: null });
  expect(judged?.outcome).toMatch(/did not run/);
  expect(String(judged?.finishedAt) > (await doneBy(action.id))).toBe(true);
  expect(await effects()).toBe(0);
  // What never ran says nothing about whether it helps: nothing is learned from it.
  expect((await core.records.load(id))?.episodes).toEqual([]);
  await approve(again);
  const record = await until(id, 'resolved');
  expect(await effects()).toBe(1);
  expect(record.events.filter((event) => event.type === 'action.finished')).toHaveLength(2);
  process.stdout.write(
    '  killed before the effect: judged not run after its deadline, approved again, 1 effect\n',
  );
});

test('killed inside the run after the effect: the next start looks, and it is not run again', async () => {
  await scene();
  const first = await bot({ after: 30_000 });
  const id = await open();
  const action = await proposed(id);
  await approve(action);
  await waitFor('the effect', async () => (await effects()) > 0, { timeoutMs: SLOW_MS, everyMs: 5 });
  await first.kill();
  await bot();
  const record = await until(id, 'resolved');
  expect(await effects()).toBe(1);
  expect(record.actions).toHaveLength(1);
  expect(record.actions[0]).toMatchObject({ id: action.id, state: 'succeeded' });
  expect(record.actions[0]?.outcome).toMatch(/looking at the target shows that it took effect/);
  expect(String(record.actions[0]?.finishedAt) > (await doneBy(action.id))).toBe(true);
  expect(record.events.filter((event) => event.type === 'action.finished')).toHaveLength(1);
  process.stdout.write('  killed after the effect: found to have taken effect, not run again, 1 effect\n');
});

test('one of two bots is killed: the other takes its turn over within 10 s [C10]', async () => {
  await scene();
  await Promise.all([bot({ after: 500 }), bot({ after: 500 })]);
  const id = await open();
  const action = await proposed(id);
  await approve(action);
  const pid = await waitFor(
    'the run to begin',
    async () => {
      const [row] = await target.sql<Row>`SELECT pid FROM entered`;
      return row && Number(row['pid']);
    },
    { timeoutMs: SLOW_MS, everyMs: 5 },
  );
  const victim = workers.find((worker) => worker.pid === pid);
  await victim?.kill();
  const killedAt = Date.now();
  const [before] =
    await core.sql<Row>`SELECT count(*) AS n FROM dbos.workflow_status WHERE status = 'PENDING'`;
  expect(Number(before?.['n'])).toBeGreaterThan(0);
  // Taken over: no pending turn belongs to a process that is not there.
  await waitFor(
    'the turn to be taken over',
    async () => {
      const rows = await core.sql`
        SELECT 1 FROM dbos.workflow_status w WHERE w.status = 'PENDING'
          AND NOT EXISTS (SELECT FROM process p WHERE p.executor_id = w.executor_id AND p.pid <> ${pid})`;
      return rows.length === 0;
    },
    { timeoutMs: SLOW_MS, everyMs: 20 },
  );
  const takenOverMs = Date.now() - killedAt;
  // It died before or after the effect, as it happened: only in the first case there is something left to approve.
  const ended = await waitFor(
    'the end, or a new proposal',
    async () => {
      const record = await core.records.load(id);
      const last = record?.actions.at(-1);
      if (record?.incident.state === 'resolved') return record;
      return record?.incident.state === 'awaiting_approval' && last && last.id !== action.id ? record : null;
    },
    { timeoutMs: SLOW_MS },
  );
  const last = ended.actions.at(-1);
  if (last && last.id !== action.id) await approve(last);
  await until(id, 'resolved');
  expect(await effects()).toBe(1);
  process.stdout.write(`  one of two killed inside the run: taken over in ${takenOverMs} ms, 1 effect\n`);
});

test('paused inside the run past its deadline and continued: nothing takes effect after it was judged', async () => {
  await scene();
  const paused = await bot({ before: 300 });
  const id = await open();
  const action = await proposed(id);
  await approve(action);
  await entered();
  paused.pause();
  await bot();
  const again = await proposed(id, action.id);
  const judged = await core.records.action(action.id);
  expect(judged).toMatchObject({ state: 'failed', toolCallId: null });
  const heldMs = Date.parse(judged?.finishedAt ?? '') - Date.parse(judged?.startedAt ?? '');
  expect(heldMs).toBeGreaterThan(CLAIM_MS - 1_000);
  paused.goOn();
  await waitFor(
    'the late statement to be refused',
    async () => (await target.sql`SELECT 1 FROM late`).length > 0,
    {
      timeoutMs: SLOW_MS,
    },
  );
  expect(await effects()).toBe(0);
  await approve(again);
  const record = await until(id, 'resolved');
  expect(await effects()).toBe(1);
  // Its own late outcome changes no judgement, and is told nowhere twice.
  expect(await core.records.action(action.id)).toEqual(judged);
  expect(record.events.filter((event) => event.type === 'action.finished')).toHaveLength(2);
  const late = await waitFor('the late outcome to be audited', async () =>
    (await core.sql<Row>`SELECT body FROM audit_entry WHERE body LIKE '%"late":true%'`).at(0),
  );
  expect(String(late['body'])).toContain(action.id);
  process.stdout.write(
    '  paused past the deadline: judged by the other, the late statement refused by the target, 1 effect\n',
  );
});

test('two incidents approved at once on one target never run at the same time', async () => {
  await scene();
  await Promise.all([bot({ before: 200, after: 200 }), bot({ before: 200, after: 200 })]);
  const ids = [await open(), await open()];
  const actions = await Promise.all(ids.map((id) => proposed(id)));
  await Promise.all(actions.map(approve));
  const atRest = async () => {
    const states = await Promise.all(ids.map(async (id) => (await core.records.incident(id))?.state));
    return states.every((state) => state === 'resolved' || state === 'reported') ? states : null;
  };
  const states = await waitFor('both to be at rest', atRest, { timeoutMs: SLOW_MS });
  const rows = await core.sql`
    SELECT a.id FROM action a JOIN action b ON a.target = b.target AND a.id <> b.id
    WHERE a.started_at <= b.started_at AND b.started_at < a.finished_at`;
  expect(rows).toEqual([]);
  // The first mends what both are about: the second has nothing left to mend, unless it had looked just before.
  expect(await effects()).toBe(states.filter((state) => state === 'resolved').length);
  expect(states).toContain('resolved');
  process.stdout.write(
    '  two incidents, one target, approved at once: one after the other, or nothing left to do\n',
  );
});

test('a process that stands still between the claim and the run gives itself no later deadline', async () => {
  await scene();
  const first = await bot();
  const id = await open();
  const action = await proposed(id);
  await first.kill();
  await approve(action);
  const approved = await core.records.action(action.id);
  if (!approved) throw new Error('no action');
  // The switch's file is looked at right after the claim: the process stands still there, as a SIGSTOP would have it.
  let looks = 0;
  const killSwitch = {
    ...core.gateDeps.killSwitch,
    local() {
      looks += 1;
      if (looks === 2) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, CLAIM_MS + 500);
      return core.gateDeps.killSwitch.local();
    },
  };
  const { boxesTools } = await import('../support/chaos-box.ts');
  const { createGate } = await import('../../src/actions/gate.ts');
  const tools = boxesTools(target.sql, { beforeMs: () => 0, afterMs: () => 0, timeoutMs: TIMEOUT_MS });
  const gate = createGate({
    ...core.gateDeps,
    killSwitch,
    registry: { get: (name) => tools.find((tool) => tool.name === name) },
  });
  const hooks = {
    claimed: async () => undefined,
    released: async () => undefined,
    ended: async () => undefined,
  };
  await gate.execute(approved, hooks, new AbortController().signal);
  expect(looks).toBeGreaterThanOrEqual(2);
  expect(await effects()).toBe(0);
  process.stdout.write('  stood still between claim and run: its statement came late and was refused\n');
});
