import { chmodSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';

/**
 * A secret in a file of its own, mode 0600. With `make` it is written once, whole or not at all: of two processes that start
 * together the second takes the first one's. Null when there is none and none is to be made. Throws what the file system throws.
 */
export function keyFile(path: string, make: (() => string | Buffer) | null): string | null {
  return read(path) ?? (make === null ? null : write(path, make()));
}

function read(path: string): string | null {
  try {
    const text = readFileSync(path, 'utf8');
    // Whoever could read it could act as us.
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
    return text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function write(path: string, secret: string | Buffer): string {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, secret, { mode: 0o600, flush: true });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  return readFileSync(path, 'utf8');
}
