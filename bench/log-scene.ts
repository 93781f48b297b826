import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Sql } from '../src/core/sql.ts';

/** One of so many lines matches; one of ten of those says what no other line does, the others what their part of the log does. */
const ONE_IN = 100;
const OWN_WORD_IN = 1_000;
const PART = 50_000;
const LETTERS = 'ghijklmnopqrstuv';

/** Letters: numbers and ids are masked, which would make all of them one message. */
const lettersOf = (n: number): string =>
  n.toString(16).replace(/./g, (digit) => LETTERS[Number.parseInt(digit, 16)] ?? '');

/** What a matching line says; null: it is none. */
function wordOf(n: number): string | null {
  if (n % ONE_IN !== 0) return null;
  return n % OWN_WORD_IN === 0 ? `own-${lettersOf(n)}` : `part-${lettersOf(Math.floor(n / PART))}`;
}

/** About 110 bytes, as a web shop writes them. */
export function lineOf(n: number): string {
  const word = wordOf(n);
  const head = `2026-11-23T10:00:00.${String(n % 1000).padStart(3, '0')}Z web-1 shop[812]`;
  return word === null
    ? `${head} INFO request ${n} GET /orders/${n} 200 in ${n % 90} ms, 5120 bytes sent\n`
    : `${head} ERROR checkout of ${word} failed: payment ${n} timed out after 3000 ms\n`;
}

export interface Reader {
  readonly id: string;
  /** kill -9; its heartbeat is gone at once, as the sweep on its own machine sees to. */
  kill(): Promise<void>;
  said(): string;
}

/** A process that watches `app.log` of a folder. */
export async function startReader(
  { url, sql }: { readonly url: string; readonly sql: Sql },
  dir: string,
  newsMs = 1_000,
): Promise<Reader> {
  const id = randomUUID();
  const script = fileURLToPath(new URL('./log-reader.ts', import.meta.url));
  const compiled = script.replace(/\.ts$/, '.js');
  const program = existsSync(compiled) ? [compiled] : ['--import', 'tsx', script];
  const child = spawn(process.execPath, [...program, url, dir, id, String(newsMs)]);
  let said = '';
  child.stderr.on('data', (bytes: Buffer) => {
    said += bytes.toString();
  });
  const ended = once(child, 'exit');
  await Promise.race([once(child.stdout, 'data'), ended]);
  if (!isRunning(child)) throw new Error(`a reader ended before it began: ${said}`);
  return {
    id,
    said: () => said,
    async kill() {
      child.kill('SIGKILL');
      await ended;
      await sql`DELETE FROM process WHERE executor_id = ${id}`;
    },
  };
}

const isRunning = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode === null && signalCode === null;

/** How many lines were read and stored. */
export async function storedLines(sql: Sql): Promise<number> {
  const [row] = await sql<{ lines: string }>`SELECT coalesce(sum(lines), 0) AS lines FROM watch_state`;
  return Number(row?.lines ?? 0);
}

/** Matching lines among the first `lines` that were told less often, and more often, than they stand there. */
export async function mistakes(
  sql: Sql,
  lines: number,
): Promise<{ readonly matching: number; readonly lost: number; readonly doubled: number }> {
  const rows = await sql<{ word: string; times: string }>`
    SELECT substring(annotations->>'line' FROM 'checkout of (\\S+) failed') AS word,
           sum((annotations->>'lines')::int) AS times
      FROM alert WHERE source = 'log-lines' GROUP BY 1`;
  const told = new Map(rows.map(({ word, times }) => [word, Number(times)]));
  const written = new Map<string, number>();
  for (let n = 0; n < lines; n += ONE_IN) {
    const word = wordOf(n) ?? '';
    written.set(word, (written.get(word) ?? 0) + 1);
  }
  let lost = 0;
  let doubled = 0;
  for (const word of new Set([...told.keys(), ...written.keys()])) {
    const more = (told.get(word) ?? 0) - (written.get(word) ?? 0);
    lost += Math.max(0, -more);
    doubled += Math.max(0, more);
  }
  return { matching: lines / ONE_IN, lost, doubled };
}
