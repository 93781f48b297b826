import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

const MAX_BYTES = 1024 * 1024;

/**
 * A key, token or kubeconfig that the configuration names, through links, as Kubernetes hands them out. Of a regular file only: a
 * pipe in its place would hold the process for as long as nobody writes.
 */
export function readCredentialFile(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    if (!fstatSync(file).isFile()) throw new Error(`${path} is not a regular file`);
    const buffer = Buffer.alloc(MAX_BYTES + 1);
    let read = 0;
    for (;;) {
      const bytes = readSync(file, buffer, read, buffer.length - read, read);
      read += bytes;
      if (bytes === 0 || read > MAX_BYTES) break;
    }
    if (read > MAX_BYTES) throw new Error(`${path} has more than ${MAX_BYTES} bytes`);
    return buffer.toString('utf8', 0, read);
  } finally {
    closeSync(file);
  }
}
