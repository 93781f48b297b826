import { readFileSync } from 'node:fs';
import type { Deadline } from '../tools/define.ts';

/**
 * The machine's clock since its boot, which nobody sets and which runs while a process is paused: `<boot id>/<seconds>`.
 * Null where there is no /proc.
 */
export function bootClock(): string | null {
  const boot = read('/proc/sys/kernel/random/boot_id');
  const seconds = uptimeSeconds();
  return boot === undefined || seconds === null ? null : `${boot.trim()}/${seconds}`;
}

/** Seconds since the boot; null where there is no /proc. */
export function uptimeSeconds(): number | null {
  const seconds = Number(read('/proc/uptime')?.split(' ')[0]);
  return Number.isFinite(seconds) ? seconds : null;
}

/** Whether a deadline has passed, by a boot clock (`<boot id>/<seconds>`). After a reboot it has. */
export function passed(now: string | null, { clock, withinMs }: Deadline): boolean {
  if (clock === null || now === null) return false;
  const [boot, from] = clock.split('/');
  const [sameBoot, at] = now.split('/');
  return boot !== sameBoot || Number(at) * 1000 >= Number(from) * 1000 + withinMs;
}

function read(path: string): string | undefined {
  if (process.platform !== 'linux') return undefined;
  return readFileSync(path, 'utf8');
}
