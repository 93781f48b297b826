import { readlinkSync } from 'node:fs';
import { findProcesses } from '../../process/find-processes.ts';
import { signalProcess } from '../../process/process-identity.ts';

/**
 * Ends (SIGQUIT: at once, without writing anything) the backends that still run although their server was killed: one
 * in the middle of a long query does not notice, and a new server refuses the data as long as it lives. Only processes
 * that work in this cluster's folder and call themselves postgres are touched. Linux only; elsewhere they end with
 * their query.
 */
export function endOrphanedBackends(cluster: string): void {
  const orphans = findProcesses(
    (command, pid) => command.startsWith('postgres: ') && workingFolder(pid) === cluster,
  );
  for (const orphan of orphans) signalProcess(orphan, 'SIGQUIT');
}

function workingFolder(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    // It ended meanwhile, is another user's, or this is not Linux: nothing to touch.
    return undefined;
  }
}
