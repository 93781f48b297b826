import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { OpsError } from '../../core/errors.ts';
import { isRunning, ownIdentity, type ProcessIdentity } from './process-identity.ts';

/**
 * Runs `work` while no other process holds `path`. The lock names its owner (pid and start), so one left behind
 * by a killed process is taken over at once, and a reused pid does not keep it alive.
 *
 * @throws OpsError LOCK_BUSY when a living process holds it for longer than `waitMs`.
 */
export async function withFileLock<T>(path: string, waitMs: number, work: () => Promise<T>): Promise<T> {
  const token = await acquire(path, waitMs);
  try {
    return await work();
  } finally {
    release(path, token);
  }
}

interface LockOwner extends ProcessIdentity {
  readonly token: string;
}

async function acquire(path: string, waitMs: number): Promise<string> {
  const owner: LockOwner = { ...ownIdentity(), token: randomUUID() };
  const deadline = performance.now() + waitMs;
  for (;;) {
    if (tryTake(path, owner)) return owner.token;
    const holder = readOwner(path);
    if (holder !== undefined && !isRunning(holder)) {
      await removeStale(path, holder, waitMs);
      continue;
    }
    if (performance.now() >= deadline) throw busy(path, holder, waitMs);
    await sleep(25 + Math.floor(Math.random() * 25));
  }
}

/** `link` fails when the name exists and shows the whole content at once when it does not: no half-written lock. */
function tryTake(path: string, owner: LockOwner): boolean {
  const draft = `${path}.${owner.token}`;
  writeFileSync(draft, JSON.stringify(owner), { mode: 0o600 });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Two waiters may both see the stale lock, and the slower one must not remove the faster one's fresh lock. So only
 * the holder of a second lock, named after the stale one's token, may remove it; nobody else can have replaced it.
 */
async function removeStale(path: string, stale: LockOwner, waitMs: number): Promise<void> {
  await withFileLock(`${path}.takeover-${stale.token.slice(0, 8)}`, waitMs, async () => {
    release(path, stale.token);
  });
}

function readOwner(path: string): LockOwner | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as LockOwner;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function release(path: string, token: string): void {
  if (readOwner(path)?.token === token) rmSync(path, { force: true });
}

function busy(path: string, holder: LockOwner | undefined, waitMs: number): OpsError {
  const who = holder === undefined ? 'another process' : `process ${holder.pid}`;
  return new OpsError('LOCK_BUSY', `${who} has held ${path} for more than ${Math.round(waitMs / 1000)} s`, {
    retryable: true,
    hint: `Wait for ${who} to finish starting or stopping, or end it, then try again.`,
  });
}
