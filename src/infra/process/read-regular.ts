import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { OpsError } from '../../core/errors.ts';

/** As `src/safety` opens: no wait for the other end of a pipe or for whoever holds a lease, no link at the end. */
const SAFE_READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

export interface SmallFile {
  readonly text: string;
  readonly mtimeMs: number;
}

/**
 * A small file by a path that the configuration names and somebody else may fill: only what is a regular file of at most
 * `maxBytes`, so that a pipe, a device, a socket or an endless file holds no thread and no memory. Undefined when nothing
 * is there. Throws OpsError FILE_NOT_READ, with what is in the way.
 */
export async function readRegular(path: string, maxBytes: number): Promise<SmallFile | undefined> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, SAFE_READ);
    const found = await handle.stat();
    const wrong = wrongKind(found, maxBytes);
    if (wrong) throw notRead(path, wrong);
    const buffer = Buffer.alloc(maxBytes + 1);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    return contentOf(path, buffer.subarray(0, bytesRead), maxBytes, found.mtimeMs);
  } catch (error) {
    return absentOr(path, error);
  } finally {
    await handle?.close();
  }
}

/** The same at once, for what has to answer within its caller. */
export function readRegularSync(path: string, maxBytes: number): SmallFile | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, SAFE_READ);
    const found = fstatSync(file);
    const wrong = wrongKind(found, maxBytes);
    if (wrong) throw notRead(path, wrong);
    const buffer = Buffer.alloc(maxBytes + 1);
    const bytesRead = readSync(file, buffer, 0, buffer.length, 0);
    return contentOf(path, buffer.subarray(0, bytesRead), maxBytes, found.mtimeMs);
  } catch (error) {
    return absentOr(path, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function wrongKind(
  found: { isFile(): boolean; readonly size: number },
  maxBytes: number,
): string | undefined {
  if (!found.isFile()) return 'it is not a regular file';
  return found.size > maxBytes ? `it has more than ${maxBytes} bytes` : undefined;
}

/** It may have grown since it was looked at. */
function contentOf(path: string, bytes: Buffer, maxBytes: number, mtimeMs: number): SmallFile {
  if (bytes.length > maxBytes) throw notRead(path, `it has more than ${maxBytes} bytes`);
  return { text: bytes.toString('utf8'), mtimeMs };
}

function absentOr(path: string, error: unknown): undefined {
  if (error instanceof OpsError) throw error;
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
  if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
  throw notRead(path, reasons[code] ?? `cannot be opened (${code})`, error);
}

const reasons: Readonly<Record<string, string>> = {
  ELOOP: 'it is a link',
  EMLINK: 'it is a link',
  ENXIO: 'it is a socket or a pipe',
  EAGAIN: 'somebody holds it',
};

function notRead(path: string, why: string, cause?: unknown): OpsError {
  return new OpsError('FILE_NOT_READ', `${path} was not read: ${why}`, {
    hint: 'Look at the file and whose it is.',
    cause,
  });
}
