import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { sha256 } from '../../../safety/sha256.ts';
import { MARK_BYTES, type Place, RecordSplitter, type SplitOptions } from './split-records.ts';

/** Of its lines, some thousands are matched at a time: the event loop waits for them. */
const CHUNK = 256 * 1024;
/**
 * Of a hole in one step, which takes some milliseconds: whoever may write a log may make it of any size, and a writer without
 * O_APPEND leaves one as large as the log was. After it the reader rests, as after the end.
 */
const HOLE_BYTES = 64 * 1024 * 1024;
const zeros = Buffer.alloc(CHUNK);

/** How far a file was read, and how it is found again. */
export interface FilePosition extends Place {
  readonly device: string;
  readonly inode: string;
  /** µs of its last change that was seen: files between it and the one of today are newer. */
  readonly changedAt: number;
  /** Of the `markBytes` bytes before the offset; a reused inode, or a file written anew, has others there. Null: not known. */
  readonly mark: string | null;
  readonly markBytes: number;
}

/** `rewritten`: what was read of it is no longer there (copytruncate). `hole`: there is more, of NULs, and it can wait. */
export type ReadResult = 'more' | 'end' | 'hole' | 'rewritten';

/** One open file of a log, read by its descriptor: it stays the same whatever becomes of its name. */
export class LogFile {
  readonly handle: FileHandle;
  readonly device: string;
  readonly inode: string;
  #splitter: RecordSplitter;
  #changedAt: number;
  #isUnlinked = false;

  /** `changedAt`: when it was looked at last, where that was before. */
  constructor(handle: FileHandle, found: BigIntStats, splitter: RecordSplitter, changedAt?: number) {
    this.handle = handle;
    this.device = String(found.dev);
    this.inode = String(found.ino);
    this.#changedAt = changedAt ?? changeOf(found);
    this.#splitter = splitter;
  }

  get splitter(): RecordSplitter {
    return this.#splitter;
  }

  get changedAt(): number {
    return this.#changedAt;
  }

  get isUnlinked(): boolean {
    return this.#isUnlinked;
  }

  get position(): FilePosition {
    const { place, mark } = this.#splitter;
    const { device, inode } = this;
    return {
      ...place,
      device,
      inode,
      changedAt: this.#changedAt,
      mark: hashOf(mark),
      markBytes: mark.length,
    };
  }

  /** Takes in what has been written since, a part at a time. */
  async read(): Promise<ReadResult> {
    const { lastBytes, readOffset } = this.#splitter;
    const size = await this.#look();
    if (size < readOffset) return 'rewritten';
    if (size === readOffset) return 'end';
    // With the last bytes of what was read, in one call: a file that was emptied and written beyond the place meanwhile is
    // told by them, and cannot be emptied in between.
    const buffer = Buffer.allocUnsafe(lastBytes.length + Math.min(CHUNK, size - readOffset));
    const { bytesRead } = await this.handle.read(buffer, 0, buffer.length, readOffset - lastBytes.length);
    if (bytesRead < lastBytes.length || !buffer.subarray(0, lastBytes.length).equals(lastBytes))
      return 'rewritten';
    if (bytesRead === lastBytes.length) return 'end';
    const part = buffer.subarray(lastBytes.length, bytesRead);
    if (isZero(part) && this.#splitter.beginHole()) return this.#passHole(readOffset, size);
    this.#splitter.push(part);
    return 'more';
  }

  /** NULs from a place on, up to whatever else comes. */
  async #passHole(from: number, size: number): Promise<ReadResult> {
    const buffer = Buffer.allocUnsafe(CHUNK);
    const end = Math.min(size, from + HOLE_BYTES);
    let at = from;
    while (at < end) {
      const { bytesRead } = await this.handle.read(buffer, 0, Math.min(CHUNK, end - at), at);
      const part = buffer.subarray(0, bytesRead);
      if (bytesRead === 0 || !isZero(part)) {
        // Up to the first byte that is something.
        const zero = part.findIndex((byte) => byte !== 0);
        at += Math.max(0, zero);
        break;
      }
      at += bytesRead;
    }
    this.#splitter.passHole(at - from);
    return at < end ? 'more' : 'hole';
  }

  /** When it was changed last, µs; `changedAt` is that of what was read. */
  async changedNow(): Promise<number> {
    return changeOf(await this.handle.stat({ bigint: true }));
  }

  async #look(): Promise<number> {
    const found = await this.handle.stat({ bigint: true });
    this.#changedAt = changeOf(found);
    this.#isUnlinked = found.nlink === 0n;
    return Number(found.size);
  }

  /** It was emptied, and is read from its beginning. */
  startAnew(options: SplitOptions): void {
    this.#splitter = new RecordSplitter(options, { offset: 0, inLongLine: false });
  }
}

/** Whether an open file holds, right before a position's offset, what was read there; its bytes are what goes on from there. */
export async function bytesBefore(handle: FileHandle, position: FilePosition): Promise<Buffer | null> {
  const { offset, mark, markBytes } = position;
  const { size } = await handle.stat();
  if (size < offset) return null;
  const length = mark === null ? Math.min(offset, MARK_BYTES) : markBytes;
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await handle.read(buffer, 0, length, offset - length);
  return bytesRead === length && (mark === null || hashOf(buffer) === mark) ? buffer : null;
}

/** Whether the first bytes that both have are the same, and there are any. */
export async function beginAlike(one: FileHandle, other: FileHandle): Promise<boolean> {
  const [a, b] = await Promise.all(
    [one, other].map(async (handle) => {
      const buffer = Buffer.alloc(MARK_BYTES);
      const { bytesRead } = await handle.read(buffer, 0, MARK_BYTES, 0);
      return buffer.subarray(0, bytesRead);
    }),
  );
  const length = Math.min(a?.length ?? 0, b?.length ?? 0);
  return length > 0 && (a?.subarray(0, length).equals(b?.subarray(0, length) ?? Buffer.alloc(0)) ?? false);
}

const isZero = (bytes: Buffer): boolean => bytes.equals(zeros.subarray(0, bytes.length));

/** When a file was changed last, in µs: finer than a number can hold is nothing that a clock of files tells. */
export const changeOf = ({ mtimeNs }: BigIntStats): number => Number(mtimeNs / 1_000n);

const hashOf = (bytes: Buffer): string => sha256(bytes);
