import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { IncidentId } from '../../src/core/ids.ts';
import type { IncidentState } from '../../src/core/incident.ts';
import { type Database, openDatabase } from '../../src/infra/db/client.ts';
import { createBoxes } from '../support/chaos-box.ts';
import { startWorker, type Worker } from '../support/chaos-process.ts';
import { boxAlert, type Core, createCore } from '../support/core.ts';
import { type ScratchDatabase, scratchDatabase } from '../support/postgres.ts';
import { scratchDir } from '../support/scratch-dir.ts';
import { waitFor } from '../support/wait-for.ts';

/** Far less than the hour that a clock steps by here, and far more than a turn needs on a busy machine. */
const SOON_MS = 120_000;
const HOUR_MS = 3_600_000;

let databases: readonly ScratchDatabase[] = [];
let core: Core;
let target: Database;
let worker: Worker;
let clock: string;

const step = (ms: number): void => writeFileSync(clock, String(ms));

beforeEach(async () => {
  databases = [await scratchDatabase({ migrate: true }), await scratchDatabase()];
  core = await createCore({ url: databases[0]?.url ?? '', tools: [] });
  target = openDatabase(databases[1]?.url ?? '', { max: 3 });
  await createBoxes(target.sql, ['box']);
  clock = join(scratchDir(), 'clock');
  step(0);
  worker = await startWorker({
    kind: 'bot',
    url: databases[0]?.url ?? '',
    target: databases[1]?.url ?? '',
    clock,
  });
});
afterEach(async () => {
  await worker.kill();
  await core.stop();
  await target.close();
  await Promise.all(databases.map((database) => database.drop()));
});

async function until(id: IncidentId, state: IncidentState): Promise<void> {
  await waitFor(`${id} to be ${state}`, async () => (await core.records.incident(id))?.state === state, {
    timeoutMs: SOON_MS,
    everyMs: 50,
    seen: () => worker.output(),
  });
}

async function open(): Promise<IncidentId> {
  const { incidentId } = await core.accept(boxAlert());
  if (!incidentId) throw new Error('not accepted');
  return incidentId;
}

async function approve(id: IncidentId): Promise<void> {
  const action = (await core.records.load(id))?.actions.at(-1);
  if (!action) throw new Error('no action');
  const { id: actionId, planHash } = action;
  const decision = {
    actionId,
    planHash,
    by: 'UONCALL',
    decision: 'approve',
    reason: '',
    anotherWay: false,
  } as const;
  expect(await core.approvals.decide(decision)).toMatchObject({ ok: true });
}

test('turns go on when the clock of the machine steps an hour back, and forth, and back [C6]', {
  timeout: 400_000,
}, async () => {
  const id = await open();
  await until(id, 'awaiting_approval');
  step(-HOUR_MS);
  await approve(id);
  await until(id, 'resolved');
  // Where it is right again before the next look at it, only the engine's plans tell.
  for (const forMs of [2000, 0, 100]) {
    step(HOUR_MS);
    await core.sql`SELECT sentry_enqueue_turn(${id}, 'asked', 0)`;
    await noTurnWaits();
    await sleep(forMs);
    step(0);
    await core.sql`SELECT sentry_enqueue_turn(${id}, 'asked', 1500)`;
    await noTurnWaits();
  }
});

test('a delay that began before the clock of the database was set back begins again, and is not an hour longer [C6]', async () => {
  const id = await open();
  await until(id, 'awaiting_approval');
  // What a clock that has been set back an hour makes of a turn that waits for two seconds.
  await core.sql`SELECT sentry_enqueue_turn(${id}, 'late', 2000)`;
  await core.sql`
    UPDATE dbos.workflow_status SET created_at = created_at + ${HOUR_MS}, delay_until_epoch_ms = delay_until_epoch_ms + ${HOUR_MS}
     WHERE status = 'DELAYED' AND delay_until_epoch_ms - created_at < 60000`;
  await noTurnWaits();
});

/** But that of the approval's end, which is minutes away. */
async function noTurnWaits(): Promise<void> {
  await waitFor(
    'no turn to wait',
    async () => {
      const rows = await core.sql`
        SELECT 1 FROM dbos.workflow_status WHERE status IN ('ENQUEUED', 'PENDING')
            OR status = 'DELAYED' AND delay_until_epoch_ms - created_at < 60000`;
      return rows.length === 0;
    },
    { timeoutMs: SOON_MS, everyMs: 50, seen: () => worker.output() },
  );
}
