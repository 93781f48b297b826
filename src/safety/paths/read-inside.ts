import type { FileHandle } from 'node:fs/promises';
import type { Refusal } from '../../core/errors.ts';
import { type OpenedFile, type OpenOptions, openInside } from './open-inside.ts';

/** A file's content; `binary` files are described, never shown. */
export type FileContent =
  | {
      readonly ok: true;
      readonly kind: 'text';
      readonly relative: string;
      readonly size: number;
      /** Permission bits. */
      readonly mode: number;
      readonly text: string;
      /** True when the file is longer than what was read. */
      readonly cut: boolean;
    }
  | {
      readonly ok: true;
      readonly kind: 'binary';
      readonly relative: string;
      readonly size: number;
      readonly mode: number;
    };

/** 256 KiB: more than a person or a model reads of one file. */
const DEFAULT_MAX_BYTES = 256 * 1024;

/** Reads the start (or, `fromEnd`, the last whole lines) of a file inside a root, at most `maxBytes`. */
export async function readInside(
  root: string,
  text: string,
  options: OpenOptions & { readonly maxBytes?: number; readonly fromEnd?: boolean } = {},
): Promise<FileContent | Refusal> {
  const opened = await openInside(root, text, options);
  if (!opened.ok) return opened;
  try {
    const limit = options.maxBytes ?? DEFAULT_MAX_BYTES;
    const behind = options.fromEnd === true && opened.size > limit ? opened.size - limit : 0;
    return contentOf(opened, await readUpTo(opened.handle, limit + 1, behind), limit, behind > 0);
  } finally {
    await opened.handle.close();
  }
}

/** `bytes`: one more than the limit where there are more; `isEnd`: there are others before them. */
export function contentOf(
  { relative, size, mode }: Pick<OpenedFile, 'relative' | 'size' | 'mode'>,
  bytes: Buffer,
  limit: number,
  isEnd: boolean,
): FileContent {
  const shown = isEnd ? fromNextLine(bytes.subarray(0, limit)) : bytes.subarray(0, limit);
  const text = decodeText(shown, bytes.length > limit);
  if (text === undefined) return { ok: true, kind: 'binary', relative, size, mode };
  return { ok: true, kind: 'text', relative, size, mode, text, cut: isEnd || bytes.length > limit };
}

/** Without the line that was cut at the front, unless it is the only one; never from the middle of a character. */
function fromNextLine(bytes: Buffer): Buffer {
  const newline = bytes.indexOf(10);
  if (newline !== -1 && newline < bytes.length - 1) return bytes.subarray(newline + 1);
  const whole = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80);
  return bytes.subarray(Math.max(0, whole));
}

/** Up to `limit` bytes from an offset; a file that grows while it is read does not keep us. */
export async function readUpTo(handle: FileHandle, limit: number, offset = 0): Promise<Buffer> {
  const size = Math.max(0, (await handle.stat()).size - offset);
  // No more than there is, and one more to see that it grew.
  const buffer = Buffer.alloc(Math.min(limit, size + 1));
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, offset + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

/** Undefined when the bytes are no UTF-8 text; a character cut in two by the limit does not make them binary. */
export function decodeText(bytes: Buffer, cut: boolean): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: cut });
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
