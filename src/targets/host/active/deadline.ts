import type { Deadline } from '../../../tools/define.ts';

/** Whether a deadline has passed, by the host's boot clock (`<boot id>/<seconds>`). After a reboot it has. */
export function passed(now: string | null, { clock, withinMs }: Deadline): boolean {
  if (clock === null || now === null) return false;
  const [boot, from] = clock.split('/');
  const [sameBoot, at] = now.split('/');
  return boot !== sameBoot || Number(at) * 1000 >= Number(from) * 1000 + withinMs;
}
