import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PrepareError } from './prepare-error.mjs';

/** Runs `work` while no other start in this checkout installs or compiles. A killed one's lock is taken over. */
export async function withLock(root, work) {
  const folder = join(root, '.sentry-bootstrap');
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw new PrepareError(
      `Sentry has to install or compile in ${root}, which this user may not write (${error.code}). Start it once as the owner of the checkout.`,
    );
  }
  return held(join(folder, 'lock'), true, work);
}

/** The same protocol as src/infra/process/file-lock.ts, which does not exist before the first build. */
async function held(path, speak, work) {
  const owner = { pid: process.pid, start: startOf(process.pid), token: randomUUID() };
  let said = !speak;
  while (!take(path, owner)) {
    const holder = read(path);
    if (holder !== undefined && startOf(holder.pid) !== holder.start) {
      // Only the holder of a second lock, named after the dead one's token, may remove the dead one's.
      await held(`${path}.${holder.token.slice(0, 8)}`, false, async () => release(path, holder.token));
      continue;
    }
    if (!said && holder !== undefined) {
      process.stderr.write(
        `Another start (pid ${holder.pid}) is installing or compiling here; waiting for it.\n`,
      );
      said = true;
    }
    await sleep(100);
  }
  try {
    return await work();
  } finally {
    release(path, owner.token);
  }
}

function take(path, owner) {
  const draft = `${path}-${owner.token}`;
  writeFileSync(draft, JSON.stringify(owner));
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function read(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function release(path, token) {
  if (read(path)?.token === token) rmSync(path, { force: true });
}

/** When this process started, undefined when there is none; a reused pid gives another answer (on Linux). */
export function startOf(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error.code === 'ESRCH') return undefined;
  }
  if (process.platform !== 'linux') return 'running';
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return undefined;
    throw error;
  }
}
