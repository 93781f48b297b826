import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resolveUnknownOutcome } from '../../src/actions/approvals/resolve-unknown-outcome.ts';
import { asActionId, type IncidentId } from '../../src/core/ids.ts';
import { createTurn } from '../../src/incidents/turn.ts';
import { type Database, openDatabase } from '../../src/infra/db/client.ts';
import { boxesTools, createBoxes } from '../support/chaos-box.ts';
import { approvedAction } from '../support/chaos-ledger.ts';
import { startWorker, type Worker } from '../support/chaos-process.ts';
import { boxTarget, type Core, createCore } from '../support/core.ts';
import { mortal, mortally } from '../support/mortal.ts';
import { type ScratchDatabase, scratchDatabase } from '../support/postgres.ts';
import type { Row } from '../support/typed.ts';
import { waitFor } from '../support/wait-for.ts';

/**
 * Plans of three steps, each with one approval. Whoever works on one dies right before each of its writes, and two processes,
 * which find the same incidents, go on. Then the same under kill -9 and pauses. What took effect is counted by the targets.
 */
const TIMEOUT_MS = 1_500;
/** Window 3 s, timeout and margin 1.5 s: a pause longer than this outlives the claim. */
const CLAIM_MS = 3_000 + TIMEOUT_MS + 1_500;
/** More than one plan writes; the first test says how many that are. */
const BOXES = 60;
const STORM_BOXES = 4;
const STORM_PLANS = 8;
/** Enough to have shown something; then the rest may run in peace. */
const STRIKES = 8;

let databases: readonly ScratchDatabase[] = [];
let core: Core;
let target: Database;
let workers: Worker[] = [];
let plans = 0;
let moments = 0;

beforeAll(async () => {
  databases = [await scratchDatabase({ migrate: true }), await scratchDatabase()];
  target = openDatabase(databases[1]?.url ?? '', { max: 8 });
  const boxes = [
    ...Array.from({ length: BOXES }, (_, n) => `box-${n}`),
    ...Array.from({ length: STORM_BOXES }, (_, n) => `storm-${n}`),
  ];
  await createBoxes(target.sql, boxes);
  core = await createCore({
    url: databases[0]?.url ?? '',
    tools: boxesTools(mortal(target.sql), { beforeMs: () => 0, afterMs: () => 0, timeoutMs: TIMEOUT_MS }),
    gate: { targets: new Map(boxes.map((name) => [name, { ...boxTarget, name }])) },
    around: mortal,
  });
});

afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.kill()));
  await core?.stop();
  await target?.close();
  await Promise.all(databases.map((database) => database.drop()));
});

/** An approved plan of three; returns its incident. */
async function approvedPlan(box: string): Promise<string> {
  plans += 1;
  const name = `act_${String(plans).padStart(3, '0')}`;
  const step = (n: number) => ({
    id: n === 1 ? name : `${name}_${n}`,
    tool: 'box_mend',
    target: box,
    input: { how: `${name}_${n}` },
    command: `mend --how ${name}_${n}`,
    guard: {},
  });
  await approvedAction(core, step(1), undefined, [step(2), step(3)]);
  const [row] = await core.sql<Row>`SELECT incident_id FROM action WHERE id = ${name}`;
  return String(row?.['incident_id']);
}

async function spawn(options: Readonly<Record<string, string | true>>): Promise<Worker> {
  const worker = await startWorker({
    kind: 'plans',
    url: databases[0]?.url ?? '',
    target: databases[1]?.url ?? '',
    timeout: String(TIMEOUT_MS),
    ...options,
  });
  workers.push(worker);
  return worker;
}

interface Step {
  readonly id: string;
  readonly plan: string;
  readonly step: number;
  readonly state: string;
  readonly key: string;
  readonly target: string;
  readonly outcome: string | null;
  readonly from: string | null;
  readonly to: string | null;
}

async function allSteps(): Promise<readonly (readonly Step[])[]> {
  const rows = await core.sql<Step & Record<string, unknown>>`
    SELECT id, plan_id AS plan, step, state, target || '/' || (input->>'how') AS key, target, outcome,
           started_at AS "from", finished_at AS "to" FROM action ORDER BY plan_id, step`;
  return [...new Set(rows.map(({ plan }) => plan))].map((plan) => rows.filter((row) => row.plan === plan));
}

/** Every step's own end, and every prefix, against what the target counted: nothing twice, ahead, left open or told wrongly. */
async function wrong(): Promise<readonly string[]> {
  const effects = await target.sql<{ key: string; at: string }>`SELECT key, at FROM effect`;
  const found: string[] = [];
  for (const steps of await allSteps()) {
    let last = '';
    let isStopped = false;
    for (const { id, key, state, from, to, outcome } of steps) {
      const [at, ...more] = effects.filter((effect) => effect.key === key).map((effect) => effect.at);
      const say = (problem: string): void => void found.push(`${id} (${state}, ${outcome}) ${problem}`);
      if (more.length > 0) say(`took effect ${more.length + 1} times`);
      if (!['succeeded', 'failed', 'skipped'].includes(state)) say('was never settled');
      if ((state === 'succeeded') !== (at !== undefined)) say(`tells it wrongly: its effect is ${at}`);
      if (isStopped !== (state === 'skipped')) say('does not follow what was before it');
      if (at !== undefined && at < last) say(`took effect before the step before it, at ${last}`);
      if (from !== null && from < last) say(`began before the step before it had ended, at ${last}`);
      if (state === 'skipped' && !outcome) say('does not say why');
      // Told by a person after its plan had been stopped for not knowing.
      if (state !== 'succeeded' || outcome?.startsWith('Settled by')) isStopped = true;
      last = to ?? last;
    }
  }
  return found;
}

/** What looking could not tell, on a machine too busy to answer in time, a person tells who has looked at the target. */
async function settleByPerson(): Promise<void> {
  const rows = await core.sql<Row>`
    SELECT id, target || '/' || (input->>'how') AS key FROM action WHERE state = 'unknown' AND finished_at > done_by`;
  for (const row of rows) {
    const effects = await target.sql<Row>`SELECT FROM effect WHERE key = ${String(row['key'])}`;
    const actionId = asActionId(String(row['id']));
    await resolveUnknownOutcome(core, {
      actionId,
      ran: effects.length > 0,
      by: 'UONCALL',
      reason: 'I looked.',
    });
  }
}

async function left(): Promise<number> {
  const [row] =
    await core.sql<Row>`SELECT count(*) AS n FROM incident WHERE state IN ('awaiting_approval', 'remediating')`;
  return Number(row?.['n']);
}

/** Works on a plan alone until it has ended, or until it dies. */
function work(incident: string, dieAt: number) {
  const turn = createTurn(core);
  return mortally(dieAt, async () => {
    const isOpen = async (): Promise<boolean> => {
      const [row] = await core.sql<Row>`SELECT state FROM incident WHERE id = ${incident}`;
      return row?.['state'] === 'awaiting_approval' || row?.['state'] === 'remediating';
    };
    while (await isOpen()) await turn(incident as IncidentId, 'test', (_, fn) => fn());
  });
}

test('a plan that nobody disturbs runs whole', async () => {
  const { writes } = await work(await approvedPlan('box-0'), 0);
  moments = writes;
  expect(moments).toBeGreaterThan(20);
  expect(moments).toBeLessThan(BOXES);
  expect(await wrong()).toEqual([]);
  const [plan = []] = await allSteps();
  expect(plan.map(({ state }) => state)).toEqual(['succeeded', 'succeeded', 'succeeded']);
});

test('dead before each of its writes, a plan goes on in two others: no step twice, none ahead, each told truly', async () => {
  const all = Array.from({ length: moments }, (_, n) => n + 1);
  let died = 0;
  const next = async (): Promise<void> => {
    for (let dieAt = all.shift(); dieAt !== undefined; dieAt = all.shift())
      if ((await work(await approvedPlan(`box-${dieAt}`), dieAt)).isDead) died += 1;
  };
  await Promise.all([next(), next(), next(), next()]);
  const stopped = await left();
  const two = await Promise.all([spawn({}), spawn({})]);
  await waitFor('every plan to end', async () => (await left()) === 0, {
    timeoutMs: 240_000,
    everyMs: 200,
    seen: () => two.map((worker) => worker.output()),
  });
  await Promise.all(two.map((worker) => worker.ended));
  await settleByPerson();
  const states = (await allSteps()).map((steps) => steps.map(({ state }) => state).join(' '));
  const whole = states.filter((each) => each === 'succeeded succeeded succeeded').length;
  process.stdout.write(
    `  died at ${died} of ${moments} moments, ${stopped} plans left standing; ${whole} ran whole, ${states.length - whole} stopped\n`,
  );
  expect(died).toBe(moments);
  expect(stopped).toBeGreaterThan(20);
  expect(await wrong()).toEqual([]);
}, 600_000);

test('two processes, kill -9 and pauses on shared systems: no step twice, none ahead, no plan within another', async () => {
  for (let n = 0; n < STORM_PLANS; n += 1) await approvedPlan(`storm-${n % STORM_BOXES}`);
  workers = workers.filter((worker) => worker.isRunning());
  const running = (): readonly Worker[] => workers.filter((worker) => worker.isRunning());
  const busy = { before: '200', after: '100', random: true } as const;
  const paused = new Set<Worker>();
  let [kills, pauses, seen] = [0, 0, 0];
  await Promise.all([spawn(busy), spawn(busy)]);
  while ((await left()) > 0) {
    await settleByPerson();
    const entered = await target.sql<Row>`SELECT pid FROM entered ORDER BY at OFFSET ${seen}`;
    seen += entered.length;
    const victim = running().find((worker) => worker.pid === Number(entered.at(-1)?.['pid'] ?? 0));
    // The first pause and the first kill are sure, and no new process is waited for between them.
    const strikes = kills === 0 || Math.random() < 0.5;
    if (victim && !paused.has(victim) && kills + pauses < STRIKES && strikes) {
      await sleep(Math.random() * 200);
      if (kills < pauses) {
        await victim.kill();
        kills += 1;
      } else {
        paused.add(victim);
        victim.pause();
        pauses += 1;
        void sleep(CLAIM_MS + 300).then(() => {
          victim.goOn();
          paused.delete(victim);
        });
      }
    }
    while (running().length < 2 && (await left()) > 0) await spawn(busy);
    await sleep(20);
  }
  for (const worker of workers) worker.goOn();
  await Promise.all(workers.map((worker) => worker.ended));
  await settleByPerson();
  expect(await wrong()).toEqual([]);
  const spans = (await allSteps())
    .map((steps) => steps.filter(({ from }) => from !== null))
    .filter((steps) => steps.length > 0)
    .map((steps) => ({
      plan: steps[0]?.plan,
      target: steps[0]?.target,
      from: steps[0]?.from ?? '',
      to: steps.at(-1)?.to ?? '',
    }));
  const within = spans.flatMap((one) =>
    spans
      .filter((other) => other.plan !== one.plan && other.target === one.target)
      .filter((other) => one.from <= other.from && other.from < one.to)
      .map((other) => `${other.plan} within ${one.plan}`),
  );
  process.stdout.write(
    `  ${STORM_PLANS} plans: ${kills} kills, ${pauses} pauses past the claim; ${within.length} within another\n`,
  );
  expect(within).toEqual([]);
  expect(kills).toBeGreaterThan(0);
  expect(pauses).toBeGreaterThan(0);
}, 600_000);
