import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createKillSwitchService,
  type KillSwitchService,
} from '../../src/incidents/kill-switch/kill-switch-service.ts';
import { type Database, openDatabase } from '../../src/infra/db/client.ts';
import { createAccept } from '../../src/ingest/accept.ts';
import { createKillSwitch } from '../../src/safety/kill-switch/kill-switch.ts';
import { createBoxes } from '../support/chaos-box.ts';
import { approvedAction } from '../support/chaos-ledger.ts';
import { startWorker, type Worker } from '../support/chaos-process.ts';
import { boxAlert, boxTarget, type Core, createCore } from '../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../support/postgres.ts';
import { domainOf } from '../support/targets.ts';
import type { Row } from '../support/typed.ts';
import { waitFor } from '../support/wait-for.ts';

/**
 * Promise 1 under a hand on the switch: incidents run in two processes, each on a target of its own, and *Stop* is pressed at
 * any moment of theirs. What took effect, and when, is asked of the targets.
 */
const AFTER_APPROVE = 190;
const WHILE_RUNNING = 60;
const ON_THE_WAY = 30;
const EVERYTHING = 20;
const AT_ONCE = 12;

interface Press {
  readonly scope: string;
  /** The database's clock when it was pressed, when it was set, and when it answered; and when it was taken back. */
  readonly pressedAt: string;
  readonly setAt: string;
  readonly answeredAt: string;
  readonly resumedAt: string | null;
  /** `box/how` of the mutations it named. */
  readonly named: readonly string[];
}

let databases: readonly ScratchDatabase[] = [];
let core: Core;
let target: Database;
let board: KillSwitchService;
const workers: Worker[] = [];
const boxes = Array.from({ length: AFTER_APPROVE + WHILE_RUNNING + ON_THE_WAY }, (_, n) => `box-${n}`);
const shared = Array.from({ length: EVERYTHING * 3 }, (_, n) => `all-${n}`);
const presses: Press[] = [];

beforeAll(async () => {
  databases = [await scratchDatabase({ migrate: true }), await scratchDatabase()];
  const [record, system] = databases.map((database) => database.url) as [string, string];
  core = await createCore({ url: record, tools: [] });
  target = openDatabase(system, { max: 6 });
  await createBoxes(target.sql, [...boxes, ...shared]);
  const targets = new Map([...boxes, ...shared].map((name) => [name, boxTarget]));
  board = createKillSwitchService({
    ...core,
    targets,
    killSwitch: createKillSwitch(core.sql, { mode: 'ACTIVE', dataDir: '/nonexistent' }),
  });
  const spawn = (part: string) =>
    startWorker({
      kind: 'turns',
      part,
      url: record,
      target: system,
      before: '250',
      after: '20',
      // Long enough to be met by a press also on a busy machine.
      hold: '500',
      random: true,
    });
  workers.push(...(await Promise.all([spawn('0'), spawn('1')])));
});

afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.kill()));
  await core?.stop();
  await target?.close();
  await Promise.all(databases.map((database) => database.drop()));
});

const now = async (): Promise<string> => {
  const [row] = await target.sql<Row>`SELECT clock_timestamp()::text AS at`;
  return String(row?.['at']);
};

/** Presses *Stop*, and *Resume* a little later where asked. */
async function press(scope: string, resumeAfterMs?: number): Promise<Press> {
  const pressedAt = await now();
  let setAt: Promise<string> | undefined;
  const order = { scope, by: 'UADMIN', reason: 'test' };
  const running = await board.stop({ ...order, forMs: null }, () => {
    setAt = now();
  });
  const answeredAt = await now();
  let resumedAt: string | null = null;
  if (resumeAfterMs !== undefined) {
    await sleep(resumeAfterMs);
    resumedAt = await now();
    await board.resume(order);
  }
  const named = running.map((action) => `${action.target}/${action.command.replace('mend --how ', '')}`);
  const made = { scope, pressedAt, setAt: (await setAt) ?? answeredAt, answeredAt, resumedAt, named };
  presses.push(made);
  return made;
}

const approve = (box: string): Promise<void> =>
  approvedAction(core, {
    id: `act_${box}`,
    tool: 'box_mend',
    target: box,
    input: { how: 'way' },
    command: 'mend --how way',
    guard: {},
  });

/** An incident from its alert on, approved as soon as somebody may, pressed at some moment of it. */
async function fromItsAlert(box: string): Promise<void> {
  const accept = createAccept(core.sql, [{ ...boxTarget, name: box }], domainOf);
  const labels = { alertname: 'BoxBroken', source_type: 'database', instance: box };
  const { incidentId } = await accept(boxAlert({ target: box, labels }));
  const until = performance.now() + Math.random() * 900;
  while (performance.now() < until) {
    const [card] = await core.sql<Row>`
      SELECT id, plan_hash FROM action WHERE incident_id = ${incidentId} AND state = 'proposed' AND NOT audit_only`;
    if (card)
      await core.approvals.decide({
        actionId: String(card['id']) as never,
        planHash: String(card['plan_hash']),
        by: 'UONCALL',
        decision: 'approve',
        reason: '',
        anotherWay: false,
      });
    await sleep(20);
  }
  await press(`target:${box}`);
}

async function whileRunning(box: string): Promise<void> {
  await approve(box);
  await waitFor(
    'a claim',
    async () =>
      (await core.sql`SELECT 1 FROM action WHERE target = ${box} AND state NOT IN ('proposed', 'approved')`)
        .length > 0,
    { everyMs: 5 },
  );
  await sleep(Math.random() * 60);
  await press(`target:${box}`);
}

async function afterApprove(box: string): Promise<void> {
  await approve(box);
  await sleep(Math.random() * 60);
  await press(`target:${box}`);
}

/** So many at once, until there are none. */
async function inTurn(jobs: (() => Promise<void>)[], atOnce: number): Promise<void> {
  const waiting = [...jobs];
  const worker = async (): Promise<void> => {
    for (let job = waiting.shift(); job; job = waiting.shift()) await job();
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

test('Stop pressed at 300 moments in two processes: nothing takes effect after its answer, and before it only what it names', {
  timeout: 480_000,
}, async () => {
  const kinds = [
    ...boxes.slice(0, AFTER_APPROVE).map((box) => () => afterApprove(box)),
    ...boxes.slice(AFTER_APPROVE, AFTER_APPROVE + WHILE_RUNNING).map((box) => () => whileRunning(box)),
    ...boxes.slice(AFTER_APPROVE + WHILE_RUNNING).map((box) => () => fromItsAlert(box)),
  ];
  await inTurn(
    kinds.toSorted(() => Math.random() - 0.5),
    AT_ONCE,
  );
  // Everything, and a whole domain, with several incidents under way; taken back after a while.
  for (let n = 0; n < EVERYTHING; n += 1) {
    await Promise.all(shared.slice(n * 3, n * 3 + 3).map((box) => approve(box)));
    await sleep(Math.random() * 100);
    await press(n % 2 === 0 ? '*' : 'domain:postgres', 30);
  }
  await waitFor(
    'all actions to end',
    async () =>
      (await core.sql`SELECT 1 FROM action WHERE state IN ('approved', 'started', 'unknown')`).length === 0,
    { timeoutMs: 30_000 },
  );

  const effects = (await target.sql`SELECT key, box, at::text AS at FROM effect ORDER BY at`) as unknown as {
    key: string;
    box: string;
    at: string;
  }[];
  let between = 0;
  let stopped = 0;
  let running = 0;
  for (const { scope, pressedAt, setAt, answeredAt, resumedAt, named } of presses) {
    const box = scope.startsWith('target:') ? scope.slice('target:'.length) : null;
    const its = effects.filter(
      (effect) => (box === null || effect.box === box) && (resumedAt === null || effect.at < resumedAt),
    );
    const after = its.filter((effect) => effect.at > answeredAt);
    expect(after, `${scope} had answered at ${answeredAt}, naming ${named.join(', ') || 'nothing'}`).toEqual(
      [],
    );
    const meanwhile = its.filter((effect) => effect.at > setAt && !named.includes(effect.key));
    expect(meanwhile, `${scope} was set at ${setAt}, naming ${named.join(', ') || 'nothing'}`).toEqual([]);
    const covered = await core.sql`
      SELECT 1 FROM action WHERE (${box}::text IS NULL OR target = ${box}) AND decided_at < ${pressedAt}::timestamptz
         AND coalesce(started_at, finished_at, 'infinity') > ${pressedAt}::timestamptz`;
    between += covered.length > 0 ? 1 : 0;
    running += named.length > 0 ? 1 : 0;
    stopped += box !== null && its.length === 0 ? 1 : 0;
  }
  const summary = { presses: presses.length, between, stopped, running, effects: effects.length };
  process.stdout.write(`switch: ${JSON.stringify(summary)}\n`);
  expect(presses.length).toBeGreaterThanOrEqual(300);
  // Between *Approve* and the claim, of mutations that never began, and of some that it had to name: or the moments were none.
  expect(between).toBeGreaterThanOrEqual(100);
  expect(stopped).toBeGreaterThan(20);
  expect(running).toBeGreaterThan(0);
  // Each action took effect at most once.
  expect(new Set(effects.map((effect) => effect.key)).size).toBe(effects.length);
});
