import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { createConnection, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { messageOf, OpsError } from '../../core/errors.ts';
import { isObject, jsonOf } from '../../core/json-of.ts';
import type { Log } from '../../core/log.ts';
import { withFileLock } from './file-lock.ts';

/** A data folder that is this process's alone. */
export interface FolderClaim {
  /** What a second start is told: where this one is. */
  tell(url: string): void;
  /** Lets go; the next start may have it. Can be repeated. */
  release(): Promise<void>;
}

const SOCKET = 'running.sock';
const LOOK_MS = 1_000;
const ANSWER_MS = 2_000;
const LOCK_WAIT_MS = 10_000;

/**
 * Takes a folder for this process, for as long as it lives: a socket in the folder on which it listens. The system closes
 * that with the process, however it ends, so what a kill leaves behind is known to be nobody's; and it tells the truth
 * between containers, too, where a pid would not.
 *
 * @param gone called once when the folder is removed, moved away or replaced.
 * @throws OpsError ALREADY_RUNNING
 */
export async function claimFolder(dir: string, log: Log, gone: () => void): Promise<FolderClaim> {
  let url: string | null = null;
  const server = createServer((asking) => {
    asking.on('error', () => undefined);
    asking.end(JSON.stringify({ pid: process.pid, url }));
  });
  // Through the open folder: its path may be longer than a socket's may be, and lead to another folder later.
  const fd = process.platform === 'linux' ? openSync(dir, 'r') : null;
  const path = join(fd === null ? dir : `/proc/self/fd/${fd}`, SOCKET);
  const close = () => {
    if (fd !== null) closeSync(fd);
  };
  try {
    await withFileLock(join(dir, 'start.lock'), LOCK_WAIT_MS, () => take(dir, path, server, log));
  } catch (error) {
    close();
    throw error;
  }
  const stopLooking = server.listening ? watch(dir, gone) : () => undefined;
  let released: Promise<void> | undefined;
  return {
    tell: (where) => {
      url = where;
    },
    release: () => {
      stopLooking();
      released ??= new Promise<void>((resolve) => server.close(() => resolve())).then(close);
      return released;
    },
  };
}

async function take(dir: string, path: string, server: Server, log: Log): Promise<void> {
  const holder = await askHolder(path);
  if (holder !== null) throw alreadyRunning(dir, holder);
  rmSync(path, { force: true });
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, resolve);
    });
    server.unref();
  } catch (error) {
    // Some shared folders of virtual machines have no sockets. One start alone works there as everywhere.
    log.warn(
      { folder: dir, error: messageOf(error) },
      'the data folder takes no socket: a second start in it, and its removal, will not be noticed; put it on a local disk',
    );
  }
}

interface Holder {
  readonly pid?: unknown;
  readonly url?: unknown;
}

/** Null: nobody listens. One that is stopped or busy answers nothing, and still holds it. */
async function askHolder(path: string): Promise<Holder | null> {
  const asking = createConnection(path);
  asking.setTimeout(ANSWER_MS, () => asking.destroy());
  try {
    const answer = jsonOf(await text(asking));
    return isObject(answer) ? answer : {};
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ENOTSOCK' ? null : {};
  }
}

function alreadyRunning(dir: string, { pid, url }: Holder): OpsError {
  const where = typeof url === 'string' ? ` at ${url}` : '';
  const who = typeof pid === 'number' ? ` (pid ${pid})` : '';
  return new OpsError(
    'ALREADY_RUNNING',
    `Sentry is already running${where}${who}, with the data in ${dir}.`,
    {
      hint: 'Use that one, or stop it first. For a second Sentry, name another folder by SENTRY_DATA_DIR.',
    },
  );
}

/** The socket is gone with its folder, and so it is when only what was in the folder could be removed. */
function watch(dir: string, gone: () => void): () => void {
  const path = join(dir, SOCKET);
  const own = statSync(path).ino;
  const looking = setInterval(() => {
    if (isStillThere(path, own)) return;
    clearInterval(looking);
    gone();
  }, LOOK_MS);
  looking.unref();
  return () => clearInterval(looking);
}

/** A disk that does not answer for a moment has removed nothing. */
function isStillThere(path: string, inode: number): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.ino === inode;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOTDIR';
  }
}
