import type { SessionOptions } from '../../../tools/ports.ts';
import { uptimeSeconds } from '../../boot-clock.ts';
import type { HostService } from '../config.ts';
import type { Machine } from '../machine.ts';
import type { ServiceState } from '../system.ts';

type CommandService = Extract<HostService, { kind: 'command' }>;

/** Kernel clock ticks a second, as proc(5) counts them for programs on every common Linux. */
const TICKS = 100;
/** A process this young has not shown that it stays. */
export const STEADY_SECONDS = 10;

/** How a service declared by command and pid file is: what its file says, held against the process table. */
export async function declaredState(
  service: CommandService,
  machine: Machine,
  steadySeconds: number,
  options: SessionOptions,
): Promise<ServiceState> {
  const { name, pidFile } = service;
  const declared = service.restart.join(' ');
  const file = await machine.pidFile(pidFile, options);
  const keys = [`pid file ${file.realPath}`, `command ${JSON.stringify(service.restart)}`];
  const none = {
    name,
    mainPid: null,
    startedAt: null,
    ageSeconds: null,
    restarts: null,
    declared,
    keys,
  } as const;
  if (file.text === null) return { ...none, state: 'stopped', says: `${pidFile} is not there` };
  const pid = Number(/^\s*([1-9]\d{0,9})\s*$/.exec(file.text.slice(0, 100))?.[1]);
  if (Number.isNaN(pid)) return { ...none, state: 'stopped', says: `${pidFile} holds no pid` };
  const process = await machine.process(pid, options);
  if (!process) return { ...none, state: 'stopped', says: `pid ${pid} of ${pidFile} does not run` };
  const { ageSeconds, startedAt } = process;
  // The file was written by somebody who ran before this process began: the pid has gone to another.
  if (ageSeconds !== null && file.writtenSecondsAgo > ageSeconds + 5)
    return { ...none, state: 'stopped', says: `pid ${pid} of ${pidFile} belongs to a later process` };
  return {
    name,
    state: ageSeconds !== null && ageSeconds < steadySeconds ? 'restarting' : 'running',
    mainPid: pid,
    startedAt,
    ageSeconds,
    restarts: null,
    says: `pid ${pid} runs`,
    declared,
    keys,
  };
}

/** Seconds since a process began; `startedAt` is `<boot id>/<ticks>`. Null off Linux. `now`: seconds since that boot. */
export function ageOf(startedAt: string, now: number | null = uptimeSeconds()): number | null {
  const ticks = Number(startedAt.split('/')[1]);
  return now === null || !Number.isFinite(ticks)
    ? null
    : Math.max(0, Math.round((now - ticks / TICKS) * 10) / 10);
}
