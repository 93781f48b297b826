import { basename } from 'node:path';
import type { SessionOptions } from '../../../tools/ports.ts';
import type { Machine } from '../machine.ts';
import { localMachine } from './local-machine.ts';

/** Asks a package manager which package a file is of, and for its version. */
interface PackageManager {
  readonly program: string;
  readonly version: (file: string, ask: Ask) => Promise<string | null>;
}
type Ask = (...words: readonly string[]) => Promise<string | null>;

const managers: readonly PackageManager[] = [
  {
    program: '/usr/bin/dpkg-query',
    async version(file, ask) {
      // "nodejs: /usr/bin/node", "libc6:amd64: /lib/…"; a package may name a file as it was before /bin became /usr/bin.
      const owner = (await ask('--search', file)) ?? (await ask('--search', file.replace(/^\/usr\//, '/')));
      const name = owner === null ? null : /^([^\s,]+):\s/.exec(owner)?.[1];
      return name ? ask('--show', '--showformat=${Version}', name) : null;
    },
  },
  {
    program: '/usr/bin/rpm',
    version: (file, ask) => ask('--query', '--queryformat', '%{VERSION}-%{RELEASE}', '--file', file),
  },
];

/**
 * The program of a process with its version, `node 20.19.0-1`: that of its package, else of ourselves where it is the same
 * file of this machine, else none. Null when nobody may look: it is another account's, or gone.
 */
export async function programVersion(
  machine: Machine,
  pid: number,
  options: SessionOptions,
): Promise<string | null> {
  const file = await machine.programOf(pid, options);
  if (file === null) return null;
  const ours = machine === localMachine && file === process.execPath ? process.versions.node : null;
  const version = (await packageVersion(machine, file, options)) ?? ours;
  return version === null ? basename(file) : `${basename(file)} ${version}`;
}

async function packageVersion(
  machine: Machine,
  file: string,
  options: SessionOptions,
): Promise<string | null> {
  for (const { program, version } of managers) {
    if (!(await machine.hasProgram(program))) continue;
    const ask: Ask = async (...words) => {
      const { exitCode, output } = await machine.run([program, ...words], { ...options, capture: true });
      return exitCode === 0 && output.trim() !== '' ? output.trim() : null;
    };
    const found = await version(file, ask);
    if (found !== null) return found;
  }
  return null;
}
