import type { LineMatcher } from '../../../safety/grep/line-matcher.ts';

/** Bytes of a line, or of a record of many lines, that patterns are tried on: more belongs to no message that anybody reads. */
const MAX_RECORD = 64 * 1024;
/** So many bytes before a place tell whether a file is still the one that was read up to there. */
export const MARK_BYTES = 256;

const NEWLINE = 10;
const RETURN = 13;
const NUL = 0;
const nothing = Buffer.alloc(0);

/** Where a splitter stands in its file, at the border of a record. */
export interface Place {
  /** Everything before it was given out. */
  readonly offset: number;
  /** It is within a line whose beginning was given out; what is left of it belongs to nothing. */
  readonly inLongLine: boolean;
}

export interface SplitOptions {
  /** Fits the first line of a record of several (a stack trace); without it each line is a record. */
  readonly starts: LineMatcher | null;
  readonly onRecord: (text: string) => void;
}

/**
 * Cuts the bytes of a log into records. A line counts once its newline is there; a record of several lines once the next one
 * begins, or when `settle` says that nothing more comes. Bytes that are no UTF-8 become U+FFFD; NULs before a line are the
 * hole that a writer without O_APPEND leaves behind after its file was emptied, and belong to nothing.
 */
export class RecordSplitter {
  lines = 0;
  /** Lines of which only the first part was looked at. */
  cut = 0;
  /** From `MARK_BYTES` before the place on (less at the file's beginning), with all that was not given out yet. */
  #buffer: Buffer = nothing;
  /** In the buffer: where the place is, and up to where it was looked for newlines. */
  #at = 0;
  #seen = 0;
  #inLongLine: boolean;
  #offset: number;
  /** Where in the buffer the lines of the record begin that is not complete; -1: there is none. */
  #record = -1;
  /** Where the line after that record begins. */
  #lineAfterRecord = 0;
  readonly #options: SplitOptions;

  /** `before`: the bytes before the place, for `mark`. */
  constructor(options: SplitOptions, place: Place, before: Buffer = nothing) {
    this.#options = options;
    this.#offset = place.offset;
    this.#inLongLine = place.inLongLine;
    this.#buffer = before;
    this.#at = before.length;
    this.#seen = before.length;
  }

  get place(): Place {
    return { offset: this.#offset, inLongLine: this.#inLongLine };
  }

  /** How far bytes were taken in. */
  get readOffset(): number {
    return this.#offset + this.#buffer.length - this.#at;
  }

  /** The last bytes that were taken in, for whoever reads on to compare. */
  get lastBytes(): Buffer {
    return this.#buffer.subarray(Math.max(0, this.#buffer.length - MARK_BYTES));
  }

  /** The bytes right before the place. */
  get mark(): Buffer {
    return this.#buffer.subarray(Math.max(0, this.#at - MARK_BYTES), this.#at);
  }

  push(chunk: Buffer): void {
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
    let line = this.#lineStart();
    for (;;) {
      const end = this.#buffer.indexOf(NEWLINE, this.#seen);
      if (end === -1) break;
      this.#seen = end + 1;
      this.#takeLine(line, end);
      line = this.#lineStart();
    }
    this.#seen = this.#buffer.length;
    if (!this.#inLongLine && this.#seen - line > MAX_RECORD) {
      this.#endRecord(line);
      this.#giveLine(line, this.#seen);
      this.#inLongLine = true;
      this.#moveTo(this.#seen);
    } else if (this.#inLongLine) this.#moveTo(this.#seen);
    this.#forget();
  }

  /** Gives out the record whose lines are all there, as nothing has come after it for a while. */
  settle(): void {
    if (this.#record === -1) return;
    this.#endRecord(this.#lineAfterRecord);
    this.#forget();
  }

  /** Gives out all that is left: nothing comes any more, not even a newline. */
  end(): void {
    this.settle();
    const line = this.#lineStart();
    if (!this.#inLongLine && line < this.#buffer.length) this.#giveLine(line, this.#buffer.length);
    this.#moveTo(this.#buffer.length);
    this.#forget();
  }

  /**
   * Whether NULs that come now would belong to nothing: no line has begun, or more of it than is looked at has come. A record that
   * waits for more lines is given out before them, or all of a hole would be kept with it.
   */
  beginHole(): boolean {
    if (this.#inLongLine) return true;
    if (this.#lineStart() < this.#buffer.length) return false;
    this.settle();
    return true;
  }

  /** Takes in NULs that belong to nothing, without their bytes: after `beginHole`. */
  passHole(bytes: number): void {
    const zeros = Buffer.alloc(Math.min(bytes, MARK_BYTES));
    this.#buffer = Buffer.concat([this.#buffer, zeros]).subarray(-MARK_BYTES);
    this.#at = this.#buffer.length;
    this.#seen = this.#at;
    this.#offset += bytes;
  }

  /** Where the line begins that is not complete; past the NULs before it. */
  #lineStart(): number {
    let at = this.#record === -1 ? this.#at : this.#lineAfterRecord;
    if (this.#inLongLine || this.#buffer[at] !== NUL) return at;
    while (this.#buffer[at] === NUL) at += 1;
    if (this.#record === -1) this.#moveTo(at);
    else this.#lineAfterRecord = at;
    this.#seen = Math.max(this.#seen, at);
    return at;
  }

  #takeLine(start: number, end: number): void {
    if (this.#inLongLine) {
      this.#inLongLine = false;
      this.#moveTo(end + 1);
      return;
    }
    const { starts } = this.#options;
    if (starts === null) {
      this.#giveLine(start, end);
      this.#moveTo(end + 1);
      return;
    }
    this.lines += 1;
    const isFirst = starts(this.#text(start, Math.min(end, start + MAX_RECORD)));
    // What is too much for one record is two: every line is looked at.
    if (isFirst || end - this.#record > MAX_RECORD) this.#endRecord(start);
    if (this.#record === -1) this.#record = start;
    this.#lineAfterRecord = end + 1;
  }

  #giveLine(start: number, end: number): void {
    this.lines += 1;
    this.#give(start, end);
  }

  #give(start: number, end: number): void {
    if (end - start > MAX_RECORD) this.cut += 1;
    this.#options.onRecord(this.#text(start, Math.min(end, start + MAX_RECORD)));
  }

  #endRecord(end: number): void {
    if (this.#record === -1) return;
    const start = this.#record;
    this.#record = -1;
    this.#give(start, end);
    this.#moveTo(end);
  }

  #text(start: number, end: number): string {
    let to = end;
    while (to > start && (this.#buffer[to - 1] === NEWLINE || this.#buffer[to - 1] === RETURN)) to -= 1;
    return this.#buffer.toString('utf8', start, to);
  }

  #moveTo(at: number): void {
    this.#offset += at - this.#at;
    this.#at = at;
  }

  /** Keeps what is needed of the buffer, as a copy: the chunk itself is given back. */
  #forget(): void {
    const from = Math.max(0, this.#at - MARK_BYTES);
    this.#buffer = Buffer.from(this.#buffer.subarray(from));
    this.#at -= from;
    this.#seen -= from;
    this.#lineAfterRecord -= from;
    if (this.#record !== -1) this.#record -= from;
  }
}
