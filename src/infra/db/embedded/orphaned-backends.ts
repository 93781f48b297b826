import { readdirSync, readlinkSync } from 'node:fs';
import { commandLine, processIdentity, signalProcess } from '../../process/process-identity.ts';

/**
 * Ends the backends that still run although their server was killed: one in the middle of a long query does not
 * notice, and a new server refuses the data as long as it lives. Only processes that work in this cluster's folder and
 * call themselves postgres are touched. Linux only; elsewhere they end with their query.
 *
 * @returns how many were asked to end (SIGQUIT: at once, without writing anything).
 */
export function endOrphanedBackends(cluster: string): number {
  if (process.platform !== 'linux') return 0;
  let ended = 0;
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || workingFolder(pid) !== cluster) continue;
    const identity = processIdentity(pid);
    if (identity === undefined || commandLine(pid)?.startsWith('postgres: ') !== true) continue;
    if (signalProcess(identity, 'SIGQUIT')) ended += 1;
  }
  return ended;
}

function workingFolder(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES' || code === 'EPERM') return undefined;
    throw error;
  }
}
