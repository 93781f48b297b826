import { type FileHandle, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { beginAlike, bytesBefore, changeOf, type FilePosition, LogFile } from './log-file.ts';
import {
  findFile,
  keyOf,
  type OpenLog,
  type RotatedFile,
  rotatedFiles,
  TELLING_BYTES,
} from './log-folder.ts';
import { type Place, RecordSplitter, type SplitOptions } from './split-records.ts';

/** How far a log was read. */
export interface LogPosition {
  /** Oldest first: those that are not finished, then the one that had the log's name last. */
  readonly files: readonly FilePosition[];
  /** µs: when a file that is finished was changed last. */
  readonly finished: number;
}

export interface FollowOptions extends SplitOptions {
  readonly path: string;
  readonly open: OpenLog;
  /** ms, never going back. */
  readonly now?: () => number;
}

/** A file that was renamed is finished when nobody has written to it for so long: its writer may hold it open for a while. */
const RENAMED_MS = 10 * 60_000;
/** The same of a file that nobody can find any more: it keeps its room on the disk while we hold it. */
const UNLINKED_MS = 5_000;
/** The lines of one record are written at once. */
const SETTLE_MS = 1_000;
const LINE_LOOKED_FOR = 64 * 1024;
/** How often the log's name is looked at. */
const LOOK_MS = 500;
/** Files that were renamed and may still be written to; of more, the patience is less. */
const MANY_FILES = 16;
const atBeginning: Place = { offset: 0, inLongLine: false };
const nothing = Buffer.alloc(0);

/**
 * Reads a log file with all that becomes of it: renamed and made anew, copied and emptied, taken away. Nothing is read twice
 * and nothing left out that can be found; what cannot is said once (`takeNotes`).
 */
export class FileFollower {
  /** Why the log cannot be read now. */
  problem: string | null = null;
  readonly #options: FollowOptions;
  readonly #now: () => number;
  readonly #files: LogFile[] = [];
  readonly #grewAt = new Map<LogFile, number>();
  /** Of which there was nothing more when they were looked at last. */
  readonly #atEnd = new Set<LogFile>();
  /** Of a file that may not be opened: from where it is to be read once it may. */
  #waiting: FilePosition | null = null;
  #finished = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;
  readonly #notes: string[] = [];
  /** Of files that are finished. */
  #lines = 0;
  #cut = 0;

  constructor(options: FollowOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  get lines(): number {
    return this.#files.reduce((sum, { splitter }) => sum + splitter.lines, this.#lines);
  }

  get cut(): number {
    return this.#files.reduce((sum, { splitter }) => sum + splitter.cut, this.#cut);
  }

  get position(): LogPosition {
    const files = this.#files.map(({ position }) => position);
    return { files: this.#waiting ? [...files, this.#waiting] : files, finished: this.#finished };
  }

  takeNotes(): readonly string[] {
    return this.#notes.splice(0);
  }

  /** `null`: from now on, and of a log that is not there yet from its beginning. */
  async begin(position: LogPosition | null): Promise<void> {
    if (position === null) return this.#beginNow();
    this.#finished = position.finished;
    const known = new Set(position.files.map(keyOf));
    for (const each of position.files) {
      const others = new Set([...known].filter((key) => key !== keyOf(each)));
      const found = await findFile(this.#options.path, each, this.#options.open, others);
      if (found) await this.#add(found.handle, each, found.before, each.changedAt);
      else if (!(await this.#isShut(each))) {
        this.#finished = Math.max(this.#finished, each.changedAt);
        this.#note(
          `The file that was read up to byte ${each.offset} is gone, or was emptied, without a copy that is not compressed: what was written to it after that is lost.`,
        );
      }
    }
  }

  /** Takes in what there is to read, a part at a time; false: nothing now. */
  async step(): Promise<boolean> {
    const now = this.#now();
    if (now - this.#lookedAt >= LOOK_MS) {
      this.#lookedAt = now;
      await this.#lookAtName();
      await this.#finish(now);
    }
    for (const file of this.#files) {
      const since = file.changedAt;
      const result = (await this.#wasCopied(file)) ? 'rewritten' : await file.read();
      if (result === 'more' || result === 'hole') this.#grewAt.set(file, now);
      if (result === 'end') this.#atEnd.add(file);
      else this.#atEnd.delete(file);
      if (result === 'more') return true;
      if (result === 'rewritten') {
        await this.#emptied(file, since);
        return true;
      }
    }
    return false;
  }

  async close(): Promise<void> {
    await Promise.all(this.#files.splice(0).map(({ handle }) => handle.close()));
  }

  async #beginNow(): Promise<void> {
    const { path, open } = this.#options;
    const opened = await open(path);
    if (!opened.ok) {
      this.problem = opened.code === 'PATH_MISSING' ? null : opened.reason;
      if (opened.code === 'PATH_UNREADABLE') this.#waiting = await endOf(path);
      return;
    }
    const length = Math.min(opened.size, LINE_LOOKED_FOR);
    const last = Buffer.alloc(length);
    const { bytesRead } = await opened.handle.read(last, 0, length, opened.size - length);
    // A line that is being written now is told whole.
    const lineAt = last.lastIndexOf(10, bytesRead - 1) + 1;
    const isWhole = lineAt > 0 || opened.size === length;
    const offset = isWhole ? opened.size - length + lineAt : opened.size;
    const before = isWhole ? last.subarray(0, lineAt) : last;
    await this.#add(opened.handle, { offset, inLongLine: !isWhole }, before);
  }

  /** Whether it is the log itself, which only may not be opened now. */
  async #isShut(position: FilePosition): Promise<boolean> {
    const { path, open } = this.#options;
    const opened = await open(path);
    if (opened.ok) await opened.handle.close();
    if (opened.ok || opened.code !== 'PATH_UNREADABLE') return false;
    const end = await endOf(path);
    if (!end || keyOf(end) !== keyOf(position)) return false;
    this.#waiting = position;
    this.problem = opened.reason;
    return true;
  }

  /** The log's name may be another file's by now. */
  async #lookAtName(): Promise<void> {
    const { path, open } = this.#options;
    const named = await stat(path, { bigint: true }).catch(() => null);
    const key = named && `${named.dev}:${named.ino}`;
    const current = this.#files.at(-1);
    // The descriptor stays good when its name may not be opened any more.
    if (current && key === keyOf(current)) {
      this.problem = null;
      return;
    }
    const opened = await open(path);
    if (!opened.ok) {
      // Between a rename and the new file it is away for a moment; so is a log that its program has yet to begin.
      this.problem = opened.code === 'PATH_MISSING' ? null : opened.reason;
      return;
    }
    this.problem = null;
    await this.#between(current);
    const waiting = this.#waiting;
    this.#waiting = null;
    const before = waiting && keyOf(waiting) === key ? await bytesBefore(opened.handle, waiting) : null;
    await (waiting && before
      ? this.#add(opened.handle, waiting, before)
      : this.#add(opened.handle, atBeginning, nothing));
  }

  /** Files that had the name since, and lost it again before anybody looked. */
  async #between(current: LogFile | undefined): Promise<void> {
    if (!current && this.#finished === 0) return;
    // What is older was read, or was there before the watch began.
    const since = Math.max(this.#finished, (await current?.changedNow()) ?? 0);
    const known = new Set(this.#files.map(keyOf));
    for (const file of await rotatedFiles(this.#options.path)) {
      // The clock of files is coarse: of two rotations within one tick of it, the later one is new, too.
      const isSameTick = file.changedAt === since && since > this.#finished && file.kind === 'plain';
      if (known.has(file.key) || (file.changedAt <= since && !isSameTick)) continue;
      const name = basename(file.path);
      if (file.kind === 'compressed')
        this.#note(`${name} was compressed before it was read: its lines are lost.`);
      else if (file.kind === 'link') this.#note(`${name} is a link, which is not followed.`);
      else {
        const opened = await this.#options.open(file.path);
        if (opened.ok) await this.#add(opened.handle, atBeginning, nothing);
        else this.#note(`${name} could not be read: ${opened.reason}`);
      }
    }
  }

  /** Of a file of which too little was read to know it again: whether it was copied and emptied since. */
  async #wasCopied(file: LogFile): Promise<boolean> {
    const since = file.changedAt;
    if (file.splitter.readOffset >= TELLING_BYTES || (await file.changedNow()) === since) return false;
    for (const { path } of await this.#unread(since)) {
      const copy = await this.#options.open(path);
      // One that begins as the file does was made, and the file is yet to be emptied.
      const isOther = copy.ok && !(await beginAlike(copy.handle, file.handle));
      if (copy.ok) await copy.handle.close();
      if (isOther) return true;
    }
    return false;
  }

  /** What was read of a file is no longer in it. A copy of it, where there is one, is read from where we were. */
  async #emptied(file: LogFile, since: number): Promise<void> {
    const { position } = file;
    const { path, open } = this.#options;
    const known = new Set(this.#files.map(keyOf));
    const copy = await findFile(path, position, open, known);
    const copies = copy ? [await this.#open(copy.handle, position, copy.before)] : [];
    // Emptied more than once since: the other copies are new from their beginning.
    for (const newer of await this.#unread(copies[0]?.changedAt ?? since)) {
      const opened = await open(newer.path);
      if (!opened.ok) continue;
      const before = copies.length === 0 ? await bytesBefore(opened.handle, position) : null;
      copies.push(await this.#open(opened.handle, before ? position : atBeginning, before ?? nothing));
    }
    const said = `It was emptied (copytruncate) when it was read up to byte ${position.offset}`;
    if (copies.length > 0) {
      this.#files.splice(this.#files.indexOf(file), 0, ...copies);
      this.#note(
        `${said}; the rest was found in its copy. Lines written between copy and emptying are in neither.`,
      );
    } else {
      file.splitter.end();
      this.#note(`${said}, and there is no copy: lines written after the last look are lost.`);
    }
    this.#lines += file.splitter.lines;
    this.#cut += file.splitter.cut;
    file.startAnew(this.#options);
  }

  /** Plain rotated files that are not being read, and were changed after a time; oldest first. */
  async #unread(since: number): Promise<readonly RotatedFile[]> {
    const known = new Set(this.#files.map(keyOf));
    const rotated = await rotatedFiles(this.#options.path);
    return rotated.filter((file) => file.kind === 'plain' && file.changedAt > since && !known.has(file.key));
  }

  /** Lets go of renamed files that are read to their end, and gives out records that nothing is added to. */
  async #finish(now: number): Promise<void> {
    // One that waits for its turn to be read, behind others, is not idle.
    const idleOf = (file: LogFile): number =>
      this.#atEnd.has(file) ? now - (this.#grewAt.get(file) ?? now) : 0;
    for (const file of this.#files) if (idleOf(file) >= SETTLE_MS) file.splitter.settle();
    const isMany = this.#files.length > MANY_FILES;
    const over = this.#files
      .slice(0, -1)
      .filter((file) => idleOf(file) >= (file.isUnlinked || isMany ? UNLINKED_MS : RENAMED_MS));
    for (const file of over) {
      // Written to, or emptied, since it was looked at: while this process stood still.
      if ((await file.changedNow()) !== file.changedAt) continue;
      file.splitter.end();
      this.#lines += file.splitter.lines;
      this.#cut += file.splitter.cut;
      this.#finished = Math.max(this.#finished, file.changedAt);
      this.#files.splice(this.#files.indexOf(file), 1);
      this.#grewAt.delete(file);
      this.#atEnd.delete(file);
      await file.handle.close();
    }
  }

  async #add(handle: FileHandle, place: Place, before: Buffer, changedAt?: number): Promise<void> {
    this.#files.push(await this.#open(handle, place, before, changedAt));
  }

  async #open(handle: FileHandle, place: Place, before: Buffer, changedAt?: number): Promise<LogFile> {
    const { offset, inLongLine } = place;
    const splitter = new RecordSplitter(this.#options, { offset, inLongLine }, before);
    const file = new LogFile(handle, await handle.stat({ bigint: true }), splitter, changedAt);
    this.#grewAt.set(file, this.#now());
    return file;
  }

  #note(text: string): void {
    this.#notes.push(text);
  }
}

/** Of a file that may be looked at, and not opened: nothing of what it holds by now is to be told. */
async function endOf(path: string): Promise<FilePosition | null> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  if (!found?.isFile()) return null;
  const { dev, ino, size } = found;
  return {
    device: String(dev),
    inode: String(ino),
    offset: Number(size),
    inLongLine: false,
    changedAt: changeOf(found),
    mark: null,
    markBytes: 0,
  };
}
