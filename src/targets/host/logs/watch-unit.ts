import { existsSync } from 'node:fs';
import type { Json } from '../../../core/tool-call.ts';
import type { LogMatch, LogReader, WatchedLog } from '../../../core/watched-log.ts';
import type { HostLog } from '../config.ts';
import { followJournal, type JournalChild } from './journal-child.ts';
import { type RecordMatcher, recordMatcher, startMatcher } from './match-records.ts';
import { RecordSplitter } from './split-records.ts';

/** How far a unit's journal was read: after an entry, or from a second on where there was none yet. */
type UnitPosition = { readonly cursor: string } | { readonly since: number };

const RETRY_MS = 5_000;
const SETTLE_MS = 1_000;

const journalctlPath = (): string | undefined =>
  ['/usr/bin/journalctl', '/bin/journalctl'].find((each) => existsSync(each));

/** A unit's journal, as journalctl tells it. What the journal itself has thrown away, nobody can read. */
export function watchUnit(unit: string, log: HostLog, given?: string): WatchedLog {
  return {
    name: unit,
    open: async (position): Promise<LogReader> =>
      new UnitReader(unit, log, position as unknown as UnitPosition | null, given ?? journalctlPath()),
  };
}

class UnitReader implements LogReader {
  problem: string | null = null;
  readonly #splitter: RecordSplitter;
  readonly #matcher: RecordMatcher;
  readonly #notes: string[] = [];
  readonly #unit: string;
  readonly #program: string | undefined;
  #child: JournalChild | null = null;
  /** After the record that was given out last. */
  #position: UnitPosition;
  /** Where the entries end that were taken in after it. */
  readonly #ends: Array<{ readonly offset: number; readonly cursor: string }> = [];
  #retryAt = Number.NEGATIVE_INFINITY;
  #grewAt = 0;

  constructor(unit: string, log: HostLog, position: UnitPosition | null, program: string | undefined) {
    this.#matcher = recordMatcher(log);
    this.#unit = unit;
    this.#program = program;
    this.#position = position ?? { since: Math.floor(Date.now() / 1_000) };
    this.#splitter = new RecordSplitter(
      { starts: startMatcher(log), onRecord: this.#matcher.onRecord },
      { offset: 0, inLongLine: false },
    );
  }

  async step(): Promise<boolean> {
    const now = performance.now();
    if (this.#program === undefined) {
      this.problem =
        'There is no journalctl on this host: without systemd, name the file of the log instead.';
      return false;
    }
    if (this.#child?.failure !== undefined && this.#child.isEmpty) {
      this.problem = this.#child.failure;
      this.#child = null;
      this.#retryAt = now + RETRY_MS;
    }
    if (this.#child === null && now >= this.#retryAt)
      this.#child = followJournal(this.#program, this.#unit, this.#resumeAt());
    const entries = this.#child?.take() ?? [];
    for (const { cursor, message } of entries) {
      if (message === null)
        this.#notes.push('An entry of the journal holds no text, or megabytes of it, and was passed over.');
      this.#splitter.push(Buffer.from(`${message ?? ''}\n`));
      const { readOffset: offset } = this.#splitter;
      this.#ends.push({ offset, cursor });
    }
    if (entries.length > 0) {
      this.problem = null;
      this.#grewAt = now;
    } else if (now - this.#grewAt >= SETTLE_MS) this.#splitter.settle();
    await this.#matcher.match();
    this.#move();
    return entries.length > 0;
  }

  /** A child that ended is followed by one that begins after what was taken in, not after what was given out. */
  #resumeAt(): UnitPosition {
    const last = this.#ends.at(-1);
    return last ? { cursor: last.cursor } : this.#position;
  }

  #move(): void {
    const { offset } = this.#splitter.place;
    const after = this.#ends.findLastIndex((end) => end.offset <= offset);
    const passed = this.#ends[after];
    if (!passed) return;
    this.#position = { cursor: passed.cursor };
    this.#ends.splice(0, after + 1);
  }

  takeMatches(): readonly LogMatch[] {
    return this.#matcher.takeMatches();
  }

  takeNotes(): readonly string[] {
    return [...this.#notes.splice(0), ...this.#matcher.takeNotes()];
  }

  get position(): Json {
    return { ...this.#position };
  }

  get lines(): number {
    return this.#splitter.lines;
  }

  get cut(): number {
    return this.#splitter.cut;
  }

  async close(): Promise<void> {
    await this.#child?.close();
  }
}
