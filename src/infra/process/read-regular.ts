import { constants } from 'node:fs';
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
    if (!found.isFile()) throw notRead(path, 'it is not a regular file');
    const buffer = Buffer.alloc(maxBytes + 1);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    // It may have grown since it was looked at, and some files say that they have no bytes.
    if (Math.max(found.size, bytesRead) > maxBytes) throw notRead(path, `it has more than ${maxBytes} bytes`);
    return { text: buffer.toString('utf8', 0, bytesRead), mtimeMs: found.mtimeMs };
  } catch (error) {
    return absentOr(path, error);
  } finally {
    await handle?.close();
  }
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
