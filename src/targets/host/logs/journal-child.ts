import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { cleanEnvironment } from '../connect/run-declared.ts';

/** An entry of the journal. `message` null: it has none that is text. */
export interface JournalEntry {
  readonly cursor: string;
  readonly message: string | null;
}

export interface JournalChild {
  /** Why it ended; undefined while it runs. */
  readonly failure: string | undefined;
  readonly isEmpty: boolean;
  /** Some of the entries that have come. */
  take(): readonly JournalEntry[];
  close(): Promise<void>;
}

/** More wait no longer with us, but in the journal. */
const WAITING = 5_000;
const TAKEN = 1_000;

/** `journalctl -o json` (systemd's JOURNAL_EXPORT_FORMATS): bytes that are no UTF-8 come as a list of numbers. */
const Entry = z.object({
  __CURSOR: z.string(),
  MESSAGE: z
    .union([z.string(), z.array(z.int().min(0).max(255)).transform((bytes) => Buffer.from(bytes).toString())])
    .nullish()
    .catch(null),
});

/** Follows a unit's journal with a journalctl of our own, after a cursor or from a second on. */
export function followJournal(
  program: string,
  unit: string,
  from: { readonly cursor: string } | { readonly since: number },
): JournalChild {
  const after = 'cursor' in from ? `--after-cursor=${from.cursor}` : `--since=@${from.since}`;
  const words = ['--follow', '--no-tail', '--all', '--quiet', '--output=json', `--unit=${unit}`, after];
  const child = spawn(program, words, { cwd: '/', env: cleanEnvironment, stdio: ['ignore', 'pipe', 'pipe'] });
  const waiting: JournalEntry[] = [];
  let failure: string | undefined;
  let said = '';
  const lines = createInterface({ input: child.stdout, crlfDelay: Infinity });
  lines.on('line', (line) => {
    const read = Entry.safeParse(jsonOf(line));
    if (read.success) waiting.push({ cursor: read.data.__CURSOR, message: read.data.MESSAGE ?? null });
    else said = 'it said what is no entry of a journal';
    if (waiting.length >= WAITING) child.stdout.pause();
  });
  child.stderr.on('data', (bytes: Buffer) => {
    said = bytes.toString('utf8').trim().split('\n').at(-1)?.slice(0, 300) ?? said;
  });
  const ended = once(child, 'close').then(
    () => {
      failure = `journalctl ended${said === '' ? '' : `: ${said}`}`;
    },
    (error: unknown) => {
      failure = `journalctl could not be started: ${error instanceof Error ? error.message : ''}`;
    },
  );
  return {
    get failure() {
      return failure;
    },
    get isEmpty() {
      return waiting.length === 0;
    },
    take() {
      const taken = waiting.splice(0, TAKEN);
      if (waiting.length < WAITING / 2) child.stdout.resume();
      return taken;
    },
    async close() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // Half a line of a journalctl that was killed: its entry comes again.
    return null;
  }
}
