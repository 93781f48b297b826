const SECOND = 1;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `45s`, `7m3s`, `2h`, `3d4h`: as kubectl says how long ago something was (k8s.io/apimachinery, `HumanDuration`). */
export function ageSince(time: string | undefined, now: number = Date.now()): string {
  if (time === undefined) return '<unknown>';
  const seconds = Math.max(0, Math.floor((now - Date.parse(time)) / 1000));
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 10 * MINUTE) return two(seconds, MINUTE, 'm', SECOND, 's');
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < 8 * HOUR) return two(seconds, HOUR, 'h', MINUTE, 'm');
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`;
  if (seconds < 8 * DAY) return two(seconds, DAY, 'd', HOUR, 'h');
  return `${Math.floor(seconds / DAY)}d`;
}

function two(seconds: number, big: number, bigName: string, small: number, smallName: string): string {
  const rest = Math.floor((seconds % big) / small);
  return `${Math.floor(seconds / big)}${bigName}${rest === 0 ? '' : `${rest}${smallName}`}`;
}
