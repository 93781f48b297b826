import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/infra/db/client.ts';
import { migrateEngine } from '../../../src/infra/dbos/enqueue-function.ts';
import { readTurnQueue } from '../../../src/infra/dbos/turn-queue.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';

let scratch: ScratchDatabase;
let db: Database;
beforeAll(async () => {
  scratch = await scratchDatabase({ migrate: true });
  db = openDatabase(scratch.url);
  await migrateEngine(scratch.url, db.sql);
});
afterAll(async () => {
  await db.close();
  await scratch.drop();
});
beforeEach(async () => {
  await db.sql`DELETE FROM dbos.workflow_status`;
  await db.sql`DELETE FROM process`;
});

/** No engine runs here: nothing takes a turn but what the test says. */
async function turn(incident: string, agedSeconds: number, delayMs = 0): Promise<string> {
  const [row] = await db.sql<{
    id: string;
  }>`SELECT sentry_enqueue_turn(${incident}, 'test', ${delayMs}) AS id`;
  await db.sql`UPDATE dbos.workflow_status SET created_at = created_at - ${agedSeconds * 1000},
                 delay_until_epoch_ms = delay_until_epoch_ms - ${agedSeconds * 1000}
               WHERE workflow_uuid = ${row!.id}`;
  return row!.id;
}
async function began(id: string, agoSeconds: number): Promise<void> {
  await db.sql`UPDATE dbos.workflow_status SET status = 'PENDING',
                 started_at_epoch_ms = (extract(epoch FROM clock_timestamp()) * 1000)::bigint - ${agoSeconds * 1000}
               WHERE workflow_uuid = ${id}`;
}
async function read() {
  const { oldestWaitMs, stalledMs, ...counts } = await readTurnQueue(db.sql, 'me');
  return {
    waits: Math.floor(oldestWaitMs / 10_000) * 10,
    stalled: Math.floor(stalledMs / 10_000) * 10,
    ...counts,
  };
}

it('with nothing to do, nothing waits', async () => {
  expect(await read()).toEqual({ waits: 0, stalled: 0, waiting: 0, running: 0, beatMs: null });
});

it('a turn that nobody begins is a stalled engine, however its clock stands [F19]', async () => {
  await turn('INC-1', 90);
  expect(await read()).toMatchObject({ waits: 90, stalled: 90, waiting: 1 });
});

it('a delayed turn waits from when it is due', async () => {
  await turn('INC-1', 0, 3_600_000);
  expect(await read()).toMatchObject({ waits: 0, waiting: 0 });
  await turn('INC-2', 70, 20_000);
  expect(await read()).toMatchObject({ waits: 50, stalled: 50, waiting: 1 });
});

it('a turn behind another of its incident waits for that one, not for the engine', async () => {
  await began(await turn('INC-1', 90), 80);
  await turn('INC-1', 70);
  expect(await read()).toMatchObject({ waits: 0, stalled: 0, waiting: 0, running: 1 });
});

it('where others have just begun, whoever waits long is not stalled', async () => {
  await turn('INC-1', 90);
  await began(await turn('INC-2', 90), 1);
  expect(await read()).toMatchObject({ waits: 90, stalled: 0 });
});

it('where every place is taken, the engine is busy and not stalled', async () => {
  for (let n = 0; n < 40; n += 1) await began(await turn(`INC-${n}`, 300), 200);
  await turn('INC-99', 100);
  expect(await read()).toMatchObject({ waits: 100, stalled: 0, waiting: 1, running: 40 });
});

it('tells how long ago this process last had a heartbeat', async () => {
  await db.sql`INSERT INTO process (executor_id, pid, host, beat_at)
               VALUES ('me', 1, 'h', clock_timestamp() - interval '20 s'), ('other', 2, 'h', clock_timestamp())`;
  expect((await readTurnQueue(db.sql, 'me')).beatMs).toBeGreaterThanOrEqual(20_000);
});
