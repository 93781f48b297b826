import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../../../core/log.ts';
import { commandLine, type ProcessIdentity, processIdentity } from '../../process/process-identity.ts';
import { readStateFile } from '../../process/state-file.ts';

/** The server that `postmaster.pid` of a cluster names, if it is one: the pid may be reused by now. */
export function findPostmaster(cluster: string): ProcessIdentity | undefined {
  const identity = processIdentity(pidIn(cluster));
  if (identity === undefined) return undefined;
  const command = commandLine(identity.pid) ?? '';
  return command.includes('postgres') && command.includes(`-D ${cluster} `) ? identity : undefined;
}

/**
 * Makes a pid file that names another program or a dead server harmless: a killed server whose pid nobody has collected
 * yet is alive to PostgreSQL, which then refuses to start. It is not deleted: PostgreSQL reads the shared memory id in
 * it to see whether backends of a killed server still write to the data. Our own pid in the first line is what it does
 * not mind, being its parent.
 */
export function disownPidFile(name: string, cluster: string, log: Log): void {
  const pid = pidIn(cluster);
  if (pid === 0 || findPostmaster(cluster) !== undefined) return;
  if (pid !== process.pid && processIdentity(pid) !== undefined)
    log.warn({ name, pid }, 'stale PostgreSQL pid file names another program: ignored');
  const path = join(cluster, 'postmaster.pid');
  const [, ...rest] = readFileSync(path, 'utf8').split('\n');
  writeFileSync(path, [String(process.pid), ...rest].join('\n'));
}

/** 0 where there is none. */
function pidIn(cluster: string): number {
  return Number.parseInt(readStateFile(join(cluster, 'postmaster.pid')) ?? '0', 10);
}
