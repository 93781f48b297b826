import { execFileSync } from 'node:child_process';

/** A program that a test starts, and Debian's package of it. */
export type Needed = readonly (readonly [program: string, pkg: string])[];

/** The packages that are not installed; null: all are. CI must have them. `what`: for its error. */
export function missingPackages(what: string, needed: Needed): string | null {
  const missing = needed.filter(([program]) => !isInstalled(program)).map(([, pkg]) => pkg);
  if (missing.length === 0) return null;
  const packages = [...new Set(missing)].join(' ');
  // oxlint-disable-next-line node/no-process-env -- only a test's own switch
  if (process.env['CI'] === 'true') throw new Error(`CI has no ${what}: it needs ${packages}`);
  return `apt-get install ${packages}`;
}

function isInstalled(program: string): boolean {
  try {
    execFileSync('sh', ['-c', 'command -v "$1"', 'sh', program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
