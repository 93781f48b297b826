import { appendFileSync, copyFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { lineOf, mistakes, type Reader, startReader, storedLines } from '../../bench/log-scene.ts';
import { type AcceptDatabase, acceptDatabase } from '../support/accept-database.ts';
import { scratchDir } from '../support/scratch-dir.ts';
import { waitFor } from '../support/wait-for.ts';

/**
 * Processes that watch one log, killed (kill -9) while it is written and rotated: every matching line has its alert, and none
 * has two. They store as often as they can, so that kills fall into transactions.
 */
const LINES = 200_000;
const AT_ONCE = 1_000;
const KILLS = 12;

let db: AcceptDatabase;
const readers: Reader[] = [];
afterEach(async () => {
  await Promise.all(readers.splice(0).map((reader) => reader.kill()));
  await db.close();
});

test.each([
  ['one process after the other', 1],
  ['two processes at once', 2],
])('%s, killed %#: each matching line exactly once', { timeout: 500_000 }, async (_, processes) => {
  db = await acceptDatabase();
  const dir = scratchDir();
  const log = join(dir, 'app.log');
  writeFileSync(log, '');
  const start = async (): Promise<void> => void readers.push(await startReader(db, dir, 1));
  for (let n = 0; n < processes; n += 1) await start();
  await waitFor(
    'it has begun',
    async () => (await db.sql`SELECT FROM watch_state WHERE position IS NOT NULL`).length > 0,
  );
  const killAt = new Set(
    Array.from({ length: KILLS }, (_, n) => AT_ONCE * Math.floor(((n + 1) * LINES) / AT_ONCE / (KILLS + 1))),
  );
  for (let n = 0; n < LINES; n += AT_ONCE) {
    appendFileSync(log, Array.from({ length: AT_ONCE }, (_, at) => lineOf(n + at)).join(''));
    if (n % 20_000 === 10_000) {
      renameSync(log, `${log}.${n}`);
      writeFileSync(log, '');
    } else if (n % 20_000 === 0) {
      // Nobody writes between copy and emptying: what is written there is lost to everybody.
      copyFileSync(log, `${log}.${n + 1}`);
      truncateSync(log, 0);
    }
    if (!killAt.has(n)) continue;
    const [first] = readers.splice(0, 1);
    await first?.kill();
    await start();
    // Some die at work, some before they have begun.
    if (n % 3 === 0) await waitFor('it goes on', async () => (await storedLines(db.sql)) > n / 2);
  }
  await waitFor('all is stored', async () => (await storedLines(db.sql)) >= LINES, {
    timeoutMs: 60_000,
    seen: () => readers.map((reader) => reader.said()),
  });
  expect(await mistakes(db.sql, LINES)).toMatchObject({ lost: 0, doubled: 0 });
  expect(await storedLines(db.sql)).toBe(LINES);
});
