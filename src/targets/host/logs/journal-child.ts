import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';
import { jsonOf } from '../../../core/json-of.ts';
import { cleanEnvironment } from '../connect/run-declared.ts';

/** An entry of the journal. `message` null: it has none that is text, or far too much. */
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
const WAITING_BYTES = 8 * 1024 * 1024;
const TAKEN = 200;
/** The journal takes messages of hundreds of megabytes. Of one entry so much is held, and so much of its text kept. */
const ENTRY_BYTES = 4 * 1024 * 1024;
const MESSAGE_CHARACTERS = 128 * 1024;

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
  let bytes = 0;
  const isFull = (): boolean => waiting.length >= WAITING || bytes >= WAITING_BYTES;
  const takeLine = lineTaker((line, isCut) => {
    const entry = isCut ? cutEntry(line) : entryOf(line);
    if (entry) waiting.push(entry);
    else said = 'it said what is no entry of a journal';
    bytes += entry?.message?.length ?? 0;
  });
  child.stdout.on('data', (chunk: Buffer) => {
    takeLine(chunk);
    if (isFull()) child.stdout.pause();
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
      bytes -= taken.reduce((sum, { message }) => sum + (message?.length ?? 0), 0);
      if (!isFull()) child.stdout.resume();
      return taken;
    },
    async close() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Gives out whole lines, and of one that is too long its beginning. */
function lineTaker(onLine: (line: string, isCut: boolean) => void): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let [length, held] = [0, 0];
  const add = (part: Buffer): void => {
    const kept = part.subarray(0, ENTRY_BYTES - held);
    parts.push(kept);
    held += kept.length;
    length += part.length;
  };
  return (chunk) => {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      add(chunk.subarray(from, end));
      onLine(Buffer.concat(parts).toString('utf8'), length > held);
      parts = [];
      length = held = 0;
      from = end + 1;
    }
    add(chunk.subarray(from));
  };
}

function entryOf(line: string): JournalEntry | null {
  // Half a line of a journalctl that was killed is none: its entry comes again.
  const read = Entry.safeParse(jsonOf(line));
  if (!read.success) return null;
  const { __CURSOR: cursor, MESSAGE: message } = read.data;
  return { cursor, message: message?.slice(0, MESSAGE_CHARACTERS) ?? null };
}

/** Where its beginning says which one it is. */
function cutEntry(beginning: string): JournalEntry | null {
  const [, cursor] = /^\{\s*"__CURSOR"\s*:\s*"([^"\\]+)"/.exec(beginning) ?? [];
  return cursor === undefined ? null : { cursor, message: null };
}
