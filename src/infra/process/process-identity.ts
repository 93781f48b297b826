import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process as the system knows it. Pids are reused; a pid together with its start is not. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque: equal for the same process, different for a later one under the same pid or after a reboot. */
  readonly startedAt: string;
}

/** Who runs under this pid now; undefined when nobody does (a zombie counts as nobody). */
export function processIdentity(pid: number): ProcessIdentity | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  const startedAt = process.platform === 'linux' ? linuxStart(pid) : psField(pid, 'lstart');
  return startedAt === undefined ? undefined : { pid, startedAt };
}

/** This process. */
export function ownIdentity(): ProcessIdentity {
  const self = processIdentity(process.pid);
  if (self === undefined) throw new Error('cannot read the identity of the own process');
  return self;
}

/** Whether exactly this process (not a later one with its pid) still runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  return processIdentity(identity.pid)?.startedAt === identity.startedAt;
}

/** The command line, arguments joined by one space; undefined when nobody runs or we may not look. */
export function commandLine(pid: number): string | undefined {
  if (process.platform !== 'linux') return psField(pid, 'command');
  const text = readProc(`/proc/${pid}/cmdline`);
  return text === undefined || text === '' ? undefined : text.split('\0').join(' ').trim();
}

/** Resolves true when the process is gone, false when it still runs after `timeoutMs`. */
export async function waitUntilGone(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (isRunning(identity)) {
    if (performance.now() >= deadline) return false;
    await sleep(20);
  }
  return true;
}

/** Sends the signal to exactly this process; false when it is already gone. EPERM is thrown. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isRunning(identity)) return false;
  try {
    process.kill(identity.pid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/** Fields after the command's name (which may hold spaces and brackets); see proc(5). */
function linuxStart(pid: number): string | undefined {
  const stat = readProc(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  const startTicks = fields[19];
  if (state === 'Z' || state === 'X' || startTicks === undefined) return undefined;
  return `${bootId()}/${startTicks}`;
}

let cachedBootId: string | undefined;
function bootId(): string {
  cachedBootId ??= readProc('/proc/sys/kernel/random/boot_id')?.trim() ?? 'boot';
  return cachedBootId;
}

function readProc(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    // ESRCH: the process ended between open and read.
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES' || code === 'EPERM') return undefined;
    throw error;
  }
}

function psField(pid: number, field: 'lstart' | 'command'): string | undefined {
  try {
    const text = execFileSync('ps', ['-o', `${field}=`, '-p', String(pid)], { encoding: 'utf8' }).trim();
    return text === '' ? undefined : text;
  } catch (error) {
    // `ps` exits with 1 when there is no such process.
    if ((error as { status?: number }).status === 1) return undefined;
    throw error;
  }
}
