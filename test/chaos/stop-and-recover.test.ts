import { afterAll, beforeAll, expect, test } from 'vitest';
import { nothingLeft, type Part, partOf, signalPart } from '../support/chaos.ts';
import { ChaosScene, checkThread } from '../support/chaos-scene.ts';
import { killLeftovers } from '../support/processes-under.ts';
import { type Product, startProduct } from '../support/product.ts';
import { scratchDir } from '../support/scratch-dir.ts';
import { waitFor } from '../support/wait-for.ts';

/** Ctrl-C in every state of an incident, and `kill -9` of every part: nothing stays behind, nothing is lost. */
const SLOW_MS = 90_000;

let dataDir: string;
let product: Product;
let scene: ChaosScene;

beforeAll(async () => {
  dataDir = scratchDir();
  await start();
});

afterAll(async () => {
  await scene?.close();
  await product?.stop();
  killLeftovers(dataDir);
});

async function start(): Promise<void> {
  product = await startProduct({ dataDir, timeoutMs: 120_000 });
  scene = new ChaosScene(dataDir, product.pageUrl ?? '');
}

/** Ctrl-C: ends cleanly, in bounded time, with every process of the data folder. */
async function stop(): Promise<number> {
  const begun = performance.now();
  await scene.close();
  expect(await product.stop()).toBe(0);
  await nothingLeft(dataDir);
  return Math.round(performance.now() - begun);
}

async function begin(): Promise<string> {
  const seq = await scene.lastSeq();
  await scene.cause();
  return scene.incidentAfter(seq);
}

async function approving(id: string, use: () => Promise<void>): Promise<void> {
  const done = new AbortController();
  const pressing = scene.approveWhenAsked(id, done.signal);
  try {
    await use();
  } finally {
    done.abort();
    await pressing;
  }
}

async function seen(id: string, type: string): Promise<void> {
  await waitFor(
    `${type} of ${id}`,
    async () =>
      (await scene.record.sql`SELECT 1 FROM event WHERE incident_id = ${id} AND type = ${type} LIMIT 1`)
        .length > 0,
    { timeoutMs: SLOW_MS, everyMs: 3 },
  );
}

/** Shop-db's sessions end with the start they belong to: the alert is over then, and the incident with it. */
for (const type of [
  'incident.opened',
  'triage.concluded',
  'action.proposed',
  'action.approved',
  'verification.checked',
])
  test(`Ctrl-C right after ${type}: no process stays, and the next start brings the incident to its end`, async () => {
    const id = await begin();
    await approving(id, () => seen(id, type));
    const alerts = (await scene.record.sql`SELECT 1 FROM alert WHERE incident_id = ${id}`).length;
    const ms = await stop();
    await start();
    await approving(id, () => scene.until(id, 'resolved', 150_000));
    await checkThread(scene, id);
    const claimed = (await scene.actions(id)).filter((action) => action['claim_id'] !== null);
    expect(claimed.filter((action) => action['state'] === 'succeeded').length).toBeLessThanOrEqual(1);
    expect(claimed.filter((action) => ['started', 'unknown'].includes(String(action['state'])))).toEqual([]);
    const after = (await scene.record.sql`SELECT 1 FROM alert WHERE incident_id = ${id}`).length;
    expect(after).toBeGreaterThanOrEqual(alerts);
    process.stdout.write(
      `  Ctrl-C after ${type}: all processes gone in ${ms} ms, ${id} resolved by the next start\n`,
    );
  }, 600_000);

for (const part of ['record', 'chroma', 'slack', 'faults', 'shop-db'] as const satisfies readonly Part[])
  test(`kill -9 of ${part} while idle: it comes back by itself`, async () => {
    const { pid } = signalPart(dataDir, part, 'SIGKILL');
    const begun = performance.now();
    await waitFor(`${part} to be back`, async () => (partOf(dataDir, part)?.pid ?? pid) !== pid, {
      timeoutMs: SLOW_MS,
    });
    const ms = Math.round(performance.now() - begun);
    process.stdout.write(`  kill -9 of ${part}: there again after ${ms} ms\n`);
  });

test('an incident is fixed after all of that', async () => {
  const id = await begin();
  await approving(id, () => scene.until(id, 'resolved', 150_000));
  await checkThread(scene, id);
  expect((await scene.state(id)).verdict).toBe('fixed');
  await scene.clear();
}, 600_000);

test('kill -9 of everything at once: the next start recovers, and an incident is fixed', async () => {
  await scene.close();
  killLeftovers(dataDir);
  await product.exited;
  await nothingLeft(dataDir);
  await start();
  const id = await begin();
  await approving(id, () => scene.until(id, 'resolved', 150_000));
  await checkThread(scene, id);
  expect((await scene.state(id)).verdict).toBe('fixed');
  const ms = await stop();
  process.stdout.write(
    `  everything killed at once: started again, ${id} fixed, all processes gone in ${ms} ms\n`,
  );
}, 600_000);
