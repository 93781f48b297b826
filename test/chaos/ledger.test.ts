import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/infra/db/client.ts';
import { createBoxes } from '../support/chaos-box.ts';
import { approvedAction } from '../support/chaos-ledger.ts';
import { startWorker, type Worker } from '../support/chaos-process.ts';
import { type Core, createCore } from '../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../support/postgres.ts';
import type { Row } from '../support/typed.ts';
import { waitFor } from '../support/wait-for.ts';

/**
 * Promise 3, measured: approved actions on shared targets, three processes that execute whatever they find, and a hand
 * that kills and pauses them at random, most often inside a run. What took effect is counted by the targets.
 */
const ACTIONS = 60;
const TARGETS = 15;
const WORKERS = 3;
const TIMEOUT_MS = 400;
/** Window 3 s, timeout and margin 1.5 s: a pause longer than this outlives the claim. */
const CLAIM_MS = 3_000 + TIMEOUT_MS + 1_500;

let databases: readonly ScratchDatabase[] = [];
let core: Core;
let target: Database;
const workers: Worker[] = [];

beforeAll(async () => {
  databases = [await scratchDatabase({ migrate: true }), await scratchDatabase()];
  core = await createCore({ url: databases[0]?.url ?? '', tools: [] });
  target = openDatabase(databases[1]?.url ?? '', { max: 4 });
  const boxes = Array.from({ length: TARGETS }, (_, n) => `box-${n}`);
  await createBoxes(target.sql, boxes);
  for (let n = 0; n < ACTIONS; n += 1) {
    const how = `way-${n}`;
    await approvedAction(core, {
      id: `act_${String(n).padStart(3, '0')}`,
      tool: 'box_mend',
      target: boxes[n % TARGETS] ?? '',
      input: { how },
      command: `mend --how ${how}`,
      guard: {},
    });
  }
});

afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.kill()));
  await core?.stop();
  await target?.close();
  await Promise.all(databases.map((database) => database.drop()));
});

async function spawnOne(): Promise<void> {
  workers.push(
    await startWorker({
      kind: 'ledger',
      url: databases[0]?.url ?? '',
      target: databases[1]?.url ?? '',
      before: '300',
      after: '150',
      timeout: String(TIMEOUT_MS),
      random: true,
    }),
  );
}

const running = (): readonly Worker[] => workers.filter((worker) => worker.isRunning());

async function left(): Promise<number> {
  const [row] =
    await core.sql<Row>`SELECT count(*) AS n FROM action WHERE state IN ('approved', 'started', 'unknown')`;
  return Number(row?.['n']);
}

/** Strikes at whoever has just entered a run, while there are runs to strike at. */
async function storm(): Promise<{ kills: number; pauses: number; longPauses: number }> {
  const done = { kills: 0, pauses: 0, longPauses: 0 };
  const paused = new Set<Worker>();
  let coming: Promise<void> | undefined;
  let seen = 0;
  while ((await left()) > ACTIONS / 6) {
    const entered = await target.sql<Row>`SELECT pid FROM entered ORDER BY at OFFSET ${seen}`;
    seen += entered.length;
    const victim = running().find((worker) => worker.pid === Number(entered.at(-1)?.['pid'] ?? 0));
    if (victim && !paused.has(victim) && Math.random() < 0.5) {
      await sleep(Math.random() * 250);
      const strike = (['long', 'kill', 'short'] as const)[(done.kills + done.pauses) % 3];
      if (strike === 'kill') {
        await victim.kill();
        done.kills += 1;
      } else {
        const long = strike === 'long';
        const ms = long ? CLAIM_MS + 300 + Math.random() * 1_500 : Math.random() * 1_500;
        paused.add(victim);
        victim.pause();
        done.pauses += 1;
        if (long) done.longPauses += 1;
        void sleep(ms).then(() => {
          victim.goOn();
          paused.delete(victim);
        });
      }
    }
    // Not waited for: on a busy machine the others would be done before the next strike.
    if (running().length < WORKERS)
      coming ??= spawnOne().finally(() => {
        coming = undefined;
      });
    await sleep(10);
  }
  await coming;
  for (const worker of workers) worker.goOn();
  return done;
}

interface Ended {
  readonly id: string;
  readonly state: string;
  readonly key: string;
  readonly target: string;
  readonly outcome: string;
  readonly from: string;
  readonly doneBy: string;
  readonly to: string;
}

async function ended(): Promise<readonly Ended[]> {
  return core.sql<Ended & Record<string, unknown>>`
    SELECT id, state, target || '/' || (input->>'how') AS key, target, outcome, started_at AS "from",
           done_by AS "doneBy", finished_at AS "to" FROM action ORDER BY id`;
}

/** What is wrong with one action, given the moments at which its target says that it took effect. */
function wrongWith({ state, from, doneBy, to }: Ended, effects: readonly string[]): string | null {
  const [at] = effects;
  if (state !== 'succeeded' && state !== 'failed') return `was never settled: ${state}`;
  if (effects.length > 1) return `took effect ${effects.length} times`;
  if (state === 'succeeded' && !at) return 'succeeded without an effect';
  if (state === 'failed' && at) return `took effect at ${at}, was judged not done at ${to}`;
  if (at && (at < from || at > doneBy)) return `took effect at ${at}, outside its claim ${from} to ${doneBy}`;
  return null;
}

test(`${ACTIONS} actions, ${WORKERS} processes, kill -9 and pauses: none twice, none after it was judged, none overlapping`, async () => {
  const begun = Date.now();
  await Promise.all(Array.from({ length: WORKERS }, spawnOne));
  const done = await storm();
  while (running().length < WORKERS && (await left()) > 0) await spawnOne();
  await waitFor('every action to be settled', async () => (await left()) === 0, {
    timeoutMs: 90_000,
    everyMs: 200,
    seen: () => workers.map((worker) => worker.output()),
  });
  // Whoever was paused inside a run has gone on by now: its late statement, if any, is in the target's log.
  await Promise.all(workers.map((worker) => worker.ended));

  const actions = await ended();
  const effects = await target.sql<{ key: string; at: string }>`SELECT key, at FROM effect`;
  const late = await target.sql`SELECT key FROM late`;
  const wrong = actions.flatMap((action) => {
    const moments = effects.filter(({ key }) => key === action.key).map(({ at }) => at);
    const problem = wrongWith(action, moments);
    return problem ? [`${action.id} ${problem}`] : [];
  });
  const overlapping = actions.flatMap((one) =>
    actions
      .filter((other) => other.id !== one.id && other.target === one.target)
      .filter((other) => one.from <= other.from && other.from < one.to)
      .map((other) => `${one.id} and ${other.id}`),
  );
  const unrun = actions.filter((action) => action.state === 'failed');
  const looked = actions.filter((action) => /looking at the target/.test(action.outcome));
  process.stdout.write(
    `  ${ACTIONS} actions in ${Math.round((Date.now() - begun) / 1000)} s: ${done.kills} kills, ${done.pauses} pauses ` +
      `(${done.longPauses} past the claim); ${effects.length} effects, ${unrun.length} judged not run, ${looked.length} by looking; ` +
      `${late.length} late statements refused by the target; ${wrong.length} wrong, ${overlapping.length} overlapping\n`,
  );
  expect(wrong).toEqual([]);
  expect(overlapping).toEqual([]);
  expect(effects.length + unrun.length).toBe(ACTIONS);
  // It was rough enough to have shown something.
  expect(done.kills).toBeGreaterThan(0);
  expect(done.longPauses).toBeGreaterThan(0);
  expect(looked.length).toBeGreaterThan(0);
}, 480_000);
