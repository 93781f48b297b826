import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OpsError } from '../../src/core/errors.ts';
import {
  isRunning,
  type ProcessIdentity,
  processIdentity,
} from '../../src/infra/process/process-identity.ts';

/**
 * One server per data folder: two would write over each other's journal. The lock of a process that is gone, by
 * kill -9 or a reboot, does not hold. Returns how to give it back; throws SLACK_DATA_IN_USE.
 */
export function lockData(dir: string): () => void {
  mkdirSync(dir, { recursive: true });
  const path = join(dir, 'slack.lock');
  const me = processIdentity(process.pid);
  for (;;) {
    try {
      writeFileSync(path, JSON.stringify(me), { flag: 'wx', mode: 0o600 });
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = holderOf(path);
    if (holder !== undefined && isRunning(holder)) {
      throw new OpsError('SLACK_DATA_IN_USE', `process ${holder.pid} already serves ${dir}`, {
        hint: 'Use the workspace that is running, end that process, or name another folder with --data.',
      });
    }
    rmSync(path, { force: true });
  }
}

/** Undefined for a lock that was torn while being written, or that has just been given back. */
function holderOf(path: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as ProcessIdentity;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
