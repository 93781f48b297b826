import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Alert } from '../../../src/core/alert.ts';
import type { Tx } from '../../../src/core/sql.ts';
import { createAcceptIn } from '../../../src/ingest/accept.ts';
import { alertSource } from '../../../src/sources/registry.ts';
import { type AcceptDatabase, acceptDatabase } from '../../support/accept-database.ts';
import { domainOf } from '../../support/targets.ts';

let db: AcceptDatabase;
beforeAll(async () => {
  db = await acceptDatabase(2);
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.sql`TRUNCATE incident, alert, event, asked_turn, alert_end CASCADE`;
});

const acceptIn = createAcceptIn([], domainOf);
const BATCH = 100;
const hourAgo = Date.now() - 3_600_000;
const at = (minute: number) => new Date(hourAgo + minute * 60_000).toISOString();

/** What Alertmanager sends of a group of so many disks of one database. */
async function group(size: number, status: 'firing' | 'resolved'): Promise<readonly Alert[]> {
  const read = await alertSource('alertmanager').read(
    {
      groupKey: '{}:{alertname="DiskFull", database="orders-db"}',
      groupLabels: { alertname: 'DiskFull', database: 'orders-db' },
      alerts: Array.from({ length: size }, (_, n) => ({
        status,
        labels: { alertname: 'DiskFull', database: 'orders-db', device: `sd${n}` },
        startsAt: at(0),
        endsAt: status === 'resolved' ? at(5) : '0001-01-01T00:00:00Z',
      })),
    },
    { receivedAt: new Date(hourAgo) },
  );
  if (!read.ok) throw new Error(`${read.field}: ${read.reason}`);
  return read.alerts;
}

const inBatches = (alerts: readonly Alert[]): readonly (readonly Alert[])[] =>
  Array.from({ length: Math.ceil(alerts.length / BATCH) }, (_, n) =>
    alerts.slice(n * BATCH, (n + 1) * BATCH),
  );

/** What accepting hands to the database. */
async function handed(alerts: readonly Alert[]): Promise<string> {
  let json: unknown;
  const tx = Object.assign(async () => [], { json: (value: unknown) => (json = value) });
  await acceptIn(tx as unknown as Tx, alerts);
  return JSON.stringify(json);
}

/** Pages of the database touched by accepting them, with everything that its functions do. */
async function pagesOf(alerts: readonly Alert[]): Promise<number> {
  const rows = await db.sql<{ 'QUERY PLAN': readonly [{ Plan: Readonly<Record<string, number>> }] }>`
    EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM sentry_accept_alerts(${await handed(alerts)}::text::jsonb)`;
  const plan = rows[0]?.['QUERY PLAN'][0].Plan;
  return (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0);
}

async function pagesPerEnd(size: number): Promise<number> {
  await db.sql`TRUNCATE incident, alert, event, asked_turn, alert_end CASCADE`;
  for (const batch of inBatches(await group(size, 'firing'))) await db.sql.begin((tx) => acceptIn(tx, batch));
  expect(await db.sql`SELECT members, members_firing FROM incident`).toMatchObject([
    { members: size, members_firing: size },
  ]);
  // Counted are the pages of an end, not what the beginnings left behind, nor what a server short of time has not tidied up yet.
  let pages = 0;
  for (const batch of inBatches(await group(size, 'resolved'))) {
    await db.sql`VACUUM (ANALYZE) incident, alert, alert_state, event, asked_turn`;
    pages += await pagesOf(batch);
  }
  expect(
    await db.sql`SELECT members_firing, source_resolved_at IS NOT NULL AS over FROM incident`,
  ).toMatchObject([{ members_firing: 0, over: true }]);
  return pages / size;
}

test('the end of a member costs the same in a group of 500 and in one of 5,000', async () => {
  const small = await pagesPerEnd(500);
  const large = await pagesPerEnd(5_000);
  // Each read all alerts of the group before: ten times the group, ten times the pages of an end.
  expect(large / small).toBeLessThan(1.5);
}, 300_000);
