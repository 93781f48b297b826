import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { commandLine, type ProcessIdentity, processIdentity } from './process-identity.ts';

/** The living processes whose command line (arguments joined by one space) the test accepts, oldest pid first. */
export function findProcesses(
  accepts: (command: string, pid: number) => boolean,
): readonly ProcessIdentity[] {
  const found: ProcessIdentity[] = [];
  for (const pid of allPids()) {
    const command = commandLine(pid);
    if (command === undefined || !accepts(command, pid)) continue;
    const identity = processIdentity(pid);
    if (identity !== undefined) found.push(identity);
  }
  return found;
}

function allPids(): readonly number[] {
  const names =
    process.platform === 'linux'
      ? readdirSync('/proc')
      : execFileSync('ps', ['-axo', 'pid='], { encoding: 'utf8' }).split('\n');
  return names.map(Number).filter((pid) => Number.isInteger(pid) && pid > 0);
}
