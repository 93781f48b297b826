import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { OpsError } from '../../../core/errors.ts';
import { processIdentity } from '../../../infra/process/process-identity.ts';
import { readRegular } from '../../../infra/process/read-regular.ts';
import { uptimeSeconds } from '../../boot-clock.ts';
import type { HostService } from '../config.ts';
import type { ServiceState } from '../system.ts';

type CommandService = Extract<HostService, { kind: 'command' }>;

/** Kernel clock ticks a second, as proc(5) counts them for programs on every common Linux. */
const TICKS = 100;
/** A pid, and room for what some programs write after it. */
const PID_FILE_BYTES = 4_096;
/** A process this young has not shown that it stays. */
export const STEADY_SECONDS = 10;

/** How a service declared by command and pid file is: what its file says, held against the process table. */
export async function declaredState(service: CommandService, steadySeconds: number): Promise<ServiceState> {
  const { name, pidFile } = service;
  const declared = service.restart.join(' ');
  const keys = [`pid file ${await realPath(pidFile)}`, `command ${JSON.stringify(service.restart)}`];
  const none = {
    name,
    mainPid: null,
    startedAt: null,
    ageSeconds: null,
    restarts: null,
    declared,
    keys,
  } as const;
  const file = await readPidFile(pidFile);
  if (file === undefined) return { ...none, state: 'stopped', says: `${pidFile} is not there` };
  if (file.pid === undefined) return { ...none, state: 'stopped', says: `${pidFile} holds no pid` };
  const process = processIdentity(file.pid);
  if (!process) return { ...none, state: 'stopped', says: `pid ${file.pid} of ${pidFile} does not run` };
  const ageSeconds = ageOf(process.startedAt);
  // The file was written by somebody who ran before this process began: the pid has gone to another.
  if (ageSeconds !== null && file.writtenSecondsAgo > ageSeconds + 5)
    return { ...none, state: 'stopped', says: `pid ${file.pid} of ${pidFile} belongs to a later process` };
  return {
    name,
    state: ageSeconds !== null && ageSeconds < steadySeconds ? 'restarting' : 'running',
    mainPid: file.pid,
    startedAt: process.startedAt,
    ageSeconds,
    restarts: null,
    says: `pid ${file.pid} runs`,
    declared,
    keys,
  };
}

/** With all links followed, also while the file itself is not there. */
async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      return dirname(path) === path ? path : join(await realPath(dirname(path)), basename(path));
    const why =
      code === 'ELOOP' ? 'it is a link in a circle' : `it has no path that can be followed (${code})`;
    throw new OpsError('HOST_PID_FILE', `${path} was not read: ${why}.`, {
      hint: "Let Sentry's account read the pid file, or correct pid_file in sentry.yaml.",
      cause: error,
    });
  }
}

async function readPidFile(
  path: string,
): Promise<{ readonly pid: number | undefined; readonly writtenSecondsAgo: number } | undefined> {
  try {
    const file = await readRegular(path, PID_FILE_BYTES);
    if (file === undefined) return undefined;
    const pid = /^\s*([1-9]\d{0,9})\s*$/.exec(file.text.slice(0, 100))?.[1];
    return {
      pid: pid === undefined ? undefined : Number(pid),
      writtenSecondsAgo: (Date.now() - file.mtimeMs) / 1000,
    };
  } catch (error) {
    if (!(error instanceof OpsError)) throw error;
    throw new OpsError('HOST_PID_FILE', error.message, {
      hint: "Look whether the pid file is an ordinary one that Sentry's account may read, or correct pid_file in sentry.yaml.",
      cause: error,
    });
  }
}

/** Seconds since a process began; `startedAt` is `<boot id>/<ticks>`. Null off Linux. */
export function ageOf(startedAt: string): number | null {
  const now = uptimeSeconds();
  const ticks = Number(startedAt.split('/')[1]);
  return now === null || !Number.isFinite(ticks)
    ? null
    : Math.max(0, Math.round((now - ticks / TICKS) * 10) / 10);
}
