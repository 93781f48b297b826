import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { deleteOldPresence, noteRunning, timesAway } from '../../../../src/infra/dbos/presence.ts';
import { type AcceptDatabase, acceptDatabase } from '../../../support/accept-database.ts';

let db: AcceptDatabase;
beforeAll(async () => {
  db = await acceptDatabase(4);
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.sql`TRUNCATE presence`;
});

const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
const ran = (since: string, until: string) =>
  db.sql`INSERT INTO presence (since, until) VALUES (${since}, ${until})`;
const away = () => timesAway(db.sql, ago(120), ago(-1));

test('before its first start nobody was away, and two signs of life close together are one time', async () => {
  expect(await away()).toEqual([]);
  await noteRunning(db.sql);
  await Promise.all([1, 2, 3].map(() => noteRunning(db.sql)));
  expect(await away()).toEqual([]);
  expect(await db.sql`SELECT FROM presence`).toHaveLength(1);
});

test('a stop is known from the last sign of life before it to the first one after it, whoever ran', async () => {
  const [stopped, back] = [ago(30), ago(10)];
  await ran(ago(90), stopped);
  // Another process ended sooner.
  await ran(ago(80), ago(50));
  await ran(back, ago(5));
  await noteRunning(db.sql);
  const times = await away();
  expect(times.map(({ from }) => from)).toEqual([stopped, expect.any(String)]);
  expect(times[0]?.to).toBe(back);
});

test('a stop that began before the time that is asked about is known, a short restart is none', async () => {
  await ran(ago(300), ago(200));
  await ran(ago(100), ago(60));
  await ran(ago(59), ago(0));
  expect(await away()).toHaveLength(1);
  expect(await timesAway(db.sql, ago(90), ago(0))).toEqual([]);
});

test('a time that goes on is kept, an old one is not', async () => {
  await ran(ago(60 * 24 * 60), ago(60 * 24 * 50));
  await ran(ago(60 * 24 * 40), ago(60 * 24 * 35));
  await ran(ago(60 * 24 * 40 - 1), ago(0));
  await deleteOldPresence(db.sql, 30);
  expect(await db.sql`SELECT FROM presence`).toHaveLength(2);
});

test('the last of what is old stays, or the time away after it would not be known', async () => {
  await ran(ago(60 * 24 * 4), ago(60 * 24 * 3));
  await ran(ago(10), ago(0));
  await deleteOldPresence(db.sql, 2);
  expect(await away()).toHaveLength(1);
});

test('a clock that was set back hides no time away', async () => {
  await ran(ago(60), ago(-60 * 24));
  await ran(ago(-120), ago(-180));
  await noteRunning(db.sql);
  const [row] = await db.sql<{ until: string }>`SELECT until FROM presence`;
  expect(Date.parse(row?.until ?? '')).toBeLessThanOrEqual(Date.now() + 1_000);
  expect(await db.sql`SELECT FROM presence`).toHaveLength(1);
});
