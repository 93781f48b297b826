import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { appendFile, mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { RE2JS } from 're2js';
import { openDatabase } from '../src/infra/db/client.ts';
import { lineOf, mistakes, startReader, storedLines } from './log-scene.ts';

const run = promisify(execFile);
const LINES = 1_000_000;
const ROTATE_EVERY = 100_000;
const KILL_EVERY = 250_000;
const WRITTEN_AT_ONCE = 5_000;

/**
 * A million lines written to a log that is renamed and made anew every 100,000, while the process that watches it is killed
 * (kill -9) and started again every 250,000; from the first line to the last one stored. Baselines, over the same files in the
 * same run: node reading them line by line and trying the same pattern, and `grep -c`.
 */
export async function benchLogWatcher(
  dataDir: string,
  { databaseUrl }: { readonly databaseUrl: string },
): Promise<object> {
  const database = openDatabase(databaseUrl, { max: 2, name: 'bench' });
  const scene = { url: databaseUrl, sql: database.sql };
  const dir = join(dataDir, 'logs');
  await mkdir(dir);
  const log = join(dir, 'app.log');
  await writeFile(log, '');
  let reader = await startReader(scene, dir);
  try {
    while ((await database.sql`SELECT FROM watch_state WHERE position IS NOT NULL`).length === 0)
      await sleep(20);
    const began = performance.now();
    let kills = 0;
    let rotations = 0;
    for (let n = 0; n < LINES; n += WRITTEN_AT_ONCE) {
      if (n > 0 && n % ROTATE_EVERY === 0) {
        rotations += 1;
        await rename(log, `${log}.${rotations}`);
        await writeFile(log, '');
      }
      await appendFile(log, Array.from({ length: WRITTEN_AT_ONCE }, (_, at) => lineOf(n + at)).join(''));
      if (n > 0 && n % KILL_EVERY === 0) {
        kills += 1;
        await reader.kill();
        reader = await startReader(scene, dir);
      }
    }
    const writtenMs = performance.now() - began;
    while ((await storedLines(database.sql)) < LINES) await sleep(20);
    const ms = performance.now() - began;
    // Time enough for a line that were told again.
    await sleep(2_000);
    const { matching, lost, doubled } = await mistakes(database.sql, LINES);
    const files = (await readdir(dir)).map((name) => join(dir, name));
    const node = await readByNode(files);
    const grep = await readByGrep(files);
    const perSecond = (LINES / ms) * 1_000;
    return {
      bench: 'log-watcher',
      lines: LINES,
      matching,
      rotations,
      kills,
      writtenPerSecond: Math.round((LINES / writtenMs) * 1_000),
      linesPerSecond: Math.round(perSecond),
      nodeLinesPerSecond: Math.round(node),
      ratioToNode: round(perSecond / node),
      grepLinesPerSecond: Math.round(grep),
      ratioToGrep: round(perSecond / grep),
      stored: await storedLines(database.sql),
      lost,
      doubled,
      wrong: lost + doubled,
    };
  } finally {
    await reader.kill();
    await database.close();
  }
}

const round = (ratio: number): number => Math.round(ratio * 1_000) / 1_000;

/** The least that a program of node could do: no position, no alert, no database. */
async function readByNode(files: readonly string[]): Promise<number> {
  const pattern = RE2JS.compile('ERROR|FATAL');
  const began = performance.now();
  let lines = 0;
  for (const file of files)
    for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      lines += 1;
      pattern.test(line);
    }
  return (lines / (performance.now() - began)) * 1_000;
}

async function readByGrep(files: readonly string[]): Promise<number> {
  const began = performance.now();
  await run('grep', ['-cE', 'ERROR|FATAL', ...files]);
  return (LINES / (performance.now() - began)) * 1_000;
}
