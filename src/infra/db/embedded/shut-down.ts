import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { OpsError } from '../../../core/errors.ts';
import type { Log } from '../../../core/log.ts';
import { withFileLock } from '../../process/file-lock.ts';
import { type ProcessIdentity, signalProcess, waitUntilGone } from '../../process/process-identity.ts';
import { findPostmaster } from './postmaster.ts';
import { clusterOf, readState, writeState } from './server-state.ts';

/** SIGINT ends sessions and writes a checkpoint. The harder signals lose nothing committed, but cost a recovery. */
export async function shutDown(name: string, log: Log, identity: ProcessIdentity): Promise<void> {
  const steps = [
    ['SIGINT', 30_000],
    ['SIGQUIT', 10_000],
    ['SIGKILL', 10_000],
  ] as const;
  for (const [signal, waitMs] of steps) {
    signalProcess(identity, signal);
    if (await waitUntilGone(identity, waitMs)) return;
    log.warn({ name, pid: identity.pid, signal, waitMs }, 'PostgreSQL did not stop in time');
  }
  throw new OpsError('POSTGRES_WILL_NOT_STOP', `PostgreSQL "${name}" (pid ${identity.pid}) does not end`, {
    hint: 'The system keeps it, probably over a disk that does not answer. Look at dmesg.',
  });
}

/**
 * Stops whatever server runs on this data folder, whoever started or uses it. For cleaning up after killed processes.
 *
 * @returns whether one was running.
 */
export async function stopEmbeddedPostgres(dataDir: string, log: Log): Promise<boolean> {
  if (!existsSync(join(dataDir, 'server.json'))) return false;
  return withFileLock(join(dataDir, 'lock'), 120_000, async () => {
    const state = readState(dataDir);
    if (state === undefined) return false;
    const found = findPostmaster(clusterOf(realpathSync(dataDir), state));
    writeState(dataDir, { ...state, holders: [] });
    if (found.kind !== 'running') return false;
    await shutDown(dataDir, log, found.process);
    return true;
  });
}
