import type { FileHandle } from 'node:fs/promises';
import type { Refusal } from '../../domain/errors.ts';
import { type OpenOptions, openInside } from './open-inside.ts';

/** A file's content; `binary` files are described, never shown. */
export type FileContent =
  | {
      readonly ok: true;
      readonly kind: 'text';
      readonly relative: string;
      readonly size: number;
      readonly text: string;
      /** True when the file is longer than what was read. */
      readonly cut: boolean;
    }
  | { readonly ok: true; readonly kind: 'binary'; readonly relative: string; readonly size: number };

/** 256 KiB: more than a person or a model reads of one file. */
const DEFAULT_MAX_BYTES = 256 * 1024;

/** Reads the start of a file inside a root, at most `maxBytes`. */
export async function readInside(
  root: string,
  text: string,
  options: OpenOptions & { readonly maxBytes?: number } = {},
): Promise<FileContent | Refusal> {
  const opened = await openInside(root, text, options);
  if (!opened.ok) return opened;
  try {
    const limit = options.maxBytes ?? DEFAULT_MAX_BYTES;
    const bytes = await readUpTo(opened.handle, limit + 1);
    const shown = bytes.subarray(0, limit);
    const cut = bytes.length > limit;
    const { relative, size } = opened;
    const content = decodeText(shown, cut);
    if (content === undefined) return { ok: true, kind: 'binary', relative, size };
    return { ok: true, kind: 'text', relative, size, text: content, cut };
  } finally {
    await opened.handle.close();
  }
}

/** Up to `limit` bytes from the start; a file that grows while it is read does not keep us. */
export async function readUpTo(handle: FileHandle, limit: number): Promise<Buffer> {
  const buffer = Buffer.alloc(limit);
  let length = 0;
  while (length < limit) {
    const { bytesRead } = await handle.read(buffer, length, limit - length, length);
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
