import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface RunningProcess {
  readonly pid: number;
  readonly command: string;
}

/**
 * Every process that was started for a folder: it stands in the command line or the environment, the process works
 * inside it, or writes its output there (a PostgreSQL of root's has its data elsewhere).
 *
 * @param run those as well whose environment says that they belong to this test run (see scratch-root.ts).
 */
export function processesUnder(folder: string, run = folder): readonly RunningProcess[] {
  // Every process has an empty text in its command line.
  if (!folder || !run) throw new Error('of which folder?');
  const all = existsSync('/proc/self/cmdline') ? fromProc() : fromPs();
  const marks = [folder, run, ...inMemory(folder)];
  return all
    .filter(
      ({ pid, traces }) =>
        pid !== process.pid && traces.some((trace) => marks.some((mark) => trace.includes(mark))),
    )
    .map(({ pid, command }) => ({ pid, command }));
}

/** Where the servers of a run's folder have their data, if that is in memory (see scratch-root.ts). */
function inMemory(folder: string): readonly string[] {
  const linked = orNothing(() => readlinkSync(join(folder, 'servers')));
  return linked === '' ? [] : [linked];
}

interface Traced extends RunningProcess {
  readonly traces: readonly string[];
}

function fromProc(): readonly Traced[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      const command = orNothing(() => readFileSync(`/proc/${name}/cmdline`, 'utf8'));
      const environment = orNothing(() => readFileSync(`/proc/${name}/environ`, 'utf8'));
      const links = ['cwd', 'fd/1'].map((link) => orNothing(() => readlinkSync(`/proc/${name}/${link}`)));
      const words = command.replaceAll('\0', ' ').trim();
      return { pid: Number(name), command: words, traces: [words, environment, ...links] };
    })
    .filter(({ command }) => command !== ''); // A zombie has no command line: it has ended.
}

function orNothing(read: () => string): string {
  try {
    return read();
  } catch {
    // It has ended, or belongs to another user: not one of ours.
    return '';
  }
}

function fromPs(): readonly Traced[] {
  return execFileSync('ps', ['-axo', 'pid=,command='], { encoding: 'utf8' })
    .split('\n')
    .flatMap((line) => {
      const match = /^\s*(\d+) (.*)$/.exec(line);
      return match ? [{ pid: Number(match[1]), command: match[2] ?? '', traces: [line] }] : [];
    });
}

/** Ends them: in order where they listen, by SIGKILL those that still run after 5 s. Resolves when none is left. */
export async function endProcessesUnder(folder: string, run?: string): Promise<void> {
  // PostgreSQL's own children end with it; a signal of their own means something else to them.
  signal(
    processesUnder(folder, run).filter(({ command }) => !command.startsWith('postgres: ')),
    'SIGINT',
  );
  const deadline = Date.now() + 5_000;
  for (;;) {
    const left = processesUnder(folder, run);
    if (left.length === 0) return;
    if (Date.now() > deadline) signal(left, 'SIGKILL');
    await sleep(50);
  }
}

/** For clearing up after a test that failed: kills what is left, so that it does not disturb the next one. */
export function killLeftovers(folder: string): void {
  signal(processesUnder(folder), 'SIGKILL');
}

/** As `endProcessesUnder`, and the folder with them. */
export async function removeWithProcesses(folder: string, run?: string): Promise<void> {
  await endProcessesUnder(folder, run);
  // Container engines leave some, and then the folder cannot be removed.
  for (const mount of mountsBelow(folder)) execFileSync('umount', ['--lazy', mount]);
  for (const memory of inMemory(folder)) rmSync(memory, { recursive: true, force: true, maxRetries: 5 });
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** The innermost first. */
function mountsBelow(folder: string): readonly string[] {
  const mounts = '/proc/self/mounts';
  if (!existsSync(mounts)) return [];
  return readFileSync(mounts, 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((mount) => mount.startsWith(`${folder}/`))
    .toReversed();
}

function signal(processes: readonly RunningProcess[], name: NodeJS.Signals): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, name);
    } catch {
      // Gone already.
    }
  }
}
