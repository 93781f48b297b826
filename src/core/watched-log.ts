import type { Severity } from './alert.ts';
import type { Json } from './tool-call.ts';

/** A log that a target declares as worth watching. */
export interface WatchedLog {
  /** As people call it: a path, or a unit like `shop-web.service`. Unique within its target. */
  readonly name: string;
  /** From a position of an earlier reader; null: from now on. Never fails for what the log is like: that is a `problem`. */
  open(position: Json | null): Promise<LogReader>;
}

/** Reads one log. What it has given out before a position is not given out again by a reader that is opened there. */
export interface LogReader {
  /** Takes in what is new, a part at a time; false: there is nothing now. */
  step(): Promise<boolean>;
  /** What matched since the last call. */
  takeMatches(): readonly LogMatch[];
  /** After all that was given out. */
  readonly position: Json;
  /** So far, by this reader. `cut`: of which only the first part was looked at. */
  readonly lines: number;
  readonly cut: number;
  /** Why nothing can be read now, for people. */
  readonly problem: string | null;
  /** What is lost, or passed over, and was not told yet. */
  takeNotes(): readonly string[];
  close(): Promise<void>;
}

/** A record of a log that one of its patterns fits: the first of them. */
export interface LogMatch {
  readonly pattern: string;
  readonly severity: Severity;
  /** As it stands in the log, secrets and all. */
  readonly text: string;
}
