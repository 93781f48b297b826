import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { openDatabase } from '../../src/infra/db/client.ts';
import { startEmbeddedPostgres } from '../../src/infra/db/embedded/start-embedded-postgres.ts';
import { migrateDatabase } from '../../src/infra/db/migrate.ts';
import { createBoxes } from '../support/chaos-box.ts';
import { startWorker, type Worker } from '../support/chaos-process.ts';
import { createCore } from '../support/core.ts';
import { quiet } from '../support/quiet.ts';
import { scratchDir } from '../support/scratch-dir.ts';
import { waitFor } from '../support/wait-for.ts';

const RESTARTS = 4;
/** A seventh of a processor. */
const RUNS_MS = 15;
const STANDS_MS = 90;

const migrations = new URL('../../prisma/migrations', import.meta.url).pathname;
const dataDir = scratchDir();
const start = () => startEmbeddedPostgres({ dataDir, name: 'starved', log: quiet });
let server: Awaited<ReturnType<typeof start>>;
let worker: Worker;
let starving: Promise<void> | undefined;
let isStarved = false;

afterEach(async () => {
  isStarved = false;
  await starving;
  await worker?.kill();
  await server?.stop();
});

async function starve(): Promise<void> {
  while (isStarved && worker.isRunning()) {
    worker.pause();
    await sleep(STANDS_MS);
    worker.goOn();
    await sleep(RUNS_MS);
  }
}

test(`a bot with a seventh of a processor outlives ${RESTARTS} restarts of PostgreSQL, and works on [C1]`, {
  timeout: 400_000,
}, async () => {
  server = await start();
  await migrateDatabase(server.url, migrations);
  const setUp = openDatabase(server.url, { max: 2 });
  await createBoxes(setUp.sql, ['box']);
  await (await createCore({ url: server.url, tools: [] })).stop();
  await setUp.close();
  worker = await startWorker({ kind: 'bot', url: server.url, target: server.url });
  isStarved = true;
  starving = starve();
  for (let n = 0; n < RESTARTS; n += 1) {
    await sleep(1_500);
    process.kill(server.pid, n % 2 === 0 ? 'SIGINT' : 'SIGKILL');
    await sleep(1_500);
    server = await start();
    expect(worker.isRunning(), worker.output()).toBe(true);
  }
  const { sql, close } = openDatabase(server.url, { max: 1 });
  const [row] = await sql<{ id: string }>`
    INSERT INTO incident (title, severity, domain, target, source, fingerprint, labels, annotations)
    VALUES ('box is broken', 'critical', 'postgres', 'box', 'test', 'starved', '{}', '{}') RETURNING id`;
  const id = row?.id ?? '';
  await sql`SELECT sentry_enqueue_turn(${id}, 'test', 0)`;
  await waitFor(
    'it to work on an incident',
    async () => (await sql`SELECT 1 FROM incident WHERE id = ${id} AND state <> 'open'`).length > 0,
    { timeoutMs: 60_000, everyMs: 200, seen: () => worker.output() },
  );
  expect(worker.isRunning(), worker.output()).toBe(true);
  await close();
});
