import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * Names where a pid means the same process: this boot of this host, in this pid namespace. Two containers on the host's
 * network share its name but not its pids; each would take the other for dead at once.
 */
export function pidSpace(): string {
  return [
    hostname(),
    proc(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    proc(() => readlinkSync('/proc/self/ns/pid')),
  ]
    .filter((part) => part !== '')
    .join(' ');
}

/** Empty where there is no /proc: the host's name alone tells then. */
function proc(read: () => string): string {
  try {
    return read().trim();
  } catch {
    return '';
  }
}
