import { join } from 'node:path';
import { orThrow } from '../../core/errors.ts';
import type { Inventory, InventoryItem } from '../../core/inventory.ts';
import { isInside } from '../../safety/paths/system-folders.ts';
import type { WalkedFile } from '../../safety/paths/walk-inside.ts';
import { sha256 } from '../../safety/sha256.ts';
import type { SessionOptions } from '../../tools/ports.ts';
import { readInventory } from '../inventory-parts.ts';
import type { HostRoot } from './config.ts';
import { programVersion } from './connect/program-version.ts';
import type { Host } from './system.ts';

const TIMEOUT_MS = 10_000;
const MOST_FILES = 300;
const MOST_BYTES = 256 * 1024;
const FILES_AT_ONCE = 4;
/** What a program says of more is cut, and half a list would tell that the rest is gone. */
const MOST_OUTPUT = 60 * 1024;

/** What people call configuration, wherever it lies; below /etc, and where Sentry may patch, it is all that is no log. */
const configuration =
  /\.(conf|cnf|cfg|config|ini|ya?ml|json|toml|properties|xml|service|timer|rules)$|(^|\/)(Dockerfile|Caddyfile|crontab)$/i;
const passing = /\.(log|pid|sock|lock|tmp|swp|gz|bak|old)(\.\d+)?$|~$|\.log[.-]/i;

/**
 * The machine, its packages, the programs of its services, and the configuration files below its folders, by the guarded ways of its
 * tools: nothing else of it is looked at.
 */
export async function hostInventory(host: Host, signal: AbortSignal): Promise<Inventory> {
  const options = { timeoutMs: TIMEOUT_MS, signal };
  const parts: readonly (readonly [
    part: string,
    read: (part: string) => Promise<readonly InventoryItem[]>,
  ])[] = [
    ['system', (part) => readSystem(host, part)],
    ['packages', (part) => readPackages(host, part, options)],
    ...host.services.map(
      (service) =>
        [`service ${service}`, (part: string) => readService(host, part, service, options)] as const,
    ),
    ...host.roots.map(
      (root) =>
        [
          `${isOfConfiguration(root) ? 'files' : 'configuration files'} in ${root.path}`,
          (part: string) => readFiles(host, part, root, signal),
        ] as const,
    ),
  ];
  return readInventory(
    parts.map(([part, read]) => ({
      parts: [part],
      read: async () => ({ items: await read(part), unread: [] }),
    })),
  );
}

async function readSystem({ machine }: Host, part: string): Promise<readonly InventoryItem[]> {
  const { os, kernel } = await machine.describe();
  const [boot, uptime] = (await machine.clock())?.split('/') ?? [];
  const of = { part, kind: 'infrastructure', objects: [], mayComeAndGo: false } as const;
  const since = new Date(Date.now() - Number(uptime) * 1_000);
  return [
    { ...of, key: 'os', name: 'the operating system', value: os },
    { ...of, key: 'kernel', name: 'the kernel', value: kernel },
    ...(boot === undefined
      ? []
      : [
          {
            ...of,
            key: 'boot',
            name: '',
            value: `#${boot}`,
            told: { changed: 'was restarted' },
            since: since.toISOString(),
          },
        ]),
  ];
}

/** A package manager, and how it lists all in two halves: `lib…` is the larger one of most systems. */
const managers = [
  {
    program: '/usr/bin/dpkg-query',
    argv: ['--show', '--showformat=${db:Status-Abbrev}\\t${binary:Package}\\t${Version}\\n'],
    halves: ['l*', '[!l]*'],
  },
  {
    program: '/usr/bin/rpm',
    argv: ['--query', '--all', '--queryformat', 'ii \\t%{NAME}.%{ARCH}\\t%{VERSION}-%{RELEASE}\\n'],
    halves: ['l*', '[!l]*'],
  },
] as const;

async function readPackages(
  { machine }: Host,
  part: string,
  options: SessionOptions,
): Promise<readonly InventoryItem[]> {
  for (const { program, argv, halves } of managers) {
    if (!(await machine.hasProgram(program))) continue;
    const lines: string[] = [];
    for (const half of halves) {
      const { exitCode, output } = await machine.run([program, ...argv, half], { ...options, capture: true });
      if (exitCode !== 0)
        throw new Error(`${program} ended with ${exitCode ?? 'a signal'}: ${output.slice(-200)}`);
      if (output.length > MOST_OUTPUT) throw new Error(`${program} lists more than Sentry compares`);
      lines.push(...output.split('\n'));
    }
    // Several versions of a kernel may be installed at once.
    const versions = new Map<string, string[]>();
    for (const line of lines) {
      const [status = '', name = '', version = ''] = line.split('\t');
      if (status.startsWith('ii') && name !== '')
        versions.set(name, [...(versions.get(name) ?? []), version]);
    }
    return [...versions].map(([name, installed]) => ({
      part,
      key: name,
      name: `package ${name.replace(/:.*/, '')}`,
      kind: 'infrastructure',
      value: installed.toSorted().join(', '),
      objects: [],
      mayComeAndGo: true,
      told: { came: 'installed', went: 'removed' },
    }));
  }
  throw new Error('it has no package manager that Sentry asks (dpkg, rpm)');
}

/**
 * What its process runs. A start is told only where its supervisor counts, and has not started it again by itself: one that died and came
 * back is a symptom, and was changed by nobody.
 */
async function readService(
  host: Host,
  part: string,
  service: string,
  options: SessionOptions,
): Promise<readonly InventoryItem[]> {
  const { state, mainPid, startedAt, ageSeconds, restarts } = await host.service(service, options);
  // What it ran before it went down is what it is compared with once it runs again.
  if (mainPid === null || state !== 'running') throw new Error('it does not run steadily');
  const version = await programVersion(host.machine, mainPid, options);
  const of = { part, objects: [service], mayComeAndGo: false } as const;
  const since = ageSeconds === null ? {} : { since: new Date(Date.now() - ageSeconds * 1_000).toISOString() };
  return [
    ...(version === null
      ? []
      : [
          {
            ...of,
            key: 'program',
            name: `the program of ${service}`,
            kind: 'deployment',
            value: version,
            ...since,
          } as const,
        ]),
    ...(restarts !== 0 || startedAt === null
      ? []
      : [
          {
            ...of,
            key: 'start',
            name: `service ${service}`,
            kind: 'other',
            value: `#${mainPid} ${startedAt}`,
            told: { changed: 'was started again' },
            ...since,
          } as const,
        ]),
  ];
}

const isOfConfiguration = ({ path, patch }: HostRoot): boolean => patch || isInside('/etc', path);

/** What a file was when its content was read; over ssh each read is several commands. */
interface ReadFile {
  readonly size: number;
  readonly modifiedAt: number;
  readonly digest: string;
}
const contents = new WeakMap<Host, Map<string, ReadFile>>();
/** Another machine's clock is known about so exactly; a file this young may be written once more within it. */
const CLOCK_MS = 2_000;

async function readFiles(
  host: Host,
  part: string,
  root: HostRoot,
  signal: AbortSignal,
): Promise<readonly InventoryItem[]> {
  const walk = orThrow(await host.access.walk(root.path, '.', { signal }));
  const files = walk.files.filter(
    ({ relative, size }) =>
      size <= MOST_BYTES &&
      !passing.test(relative) &&
      (isOfConfiguration(root) || configuration.test(relative)),
  );
  if (!walk.complete) throw new Error('it holds more than Sentry looks through');
  if (files.length > MOST_FILES) throw new Error(`it holds more than ${MOST_FILES} configuration files`);
  const known = contents.get(host) ?? new Map<string, ReadFile>();
  contents.set(host, known);
  const items: InventoryItem[] = [];
  const left = [...files];
  const work = async (): Promise<void> => {
    for (let file = left.shift(); file; file = left.shift()) {
      signal.throwIfAborted();
      const path = join(root.path, file.relative);
      const digest = await digestOf(host, root, file, path, known);
      // What cannot be read is told by its size; what went away meanwhile is told by the next look.
      items.push(itemOf(part, path, digest ?? `#${file.size} B`, file));
    }
  };
  await Promise.all(Array.from({ length: FILES_AT_ONCE }, work));
  return items;
}

const itemOf = (part: string, path: string, value: string, { modifiedAt }: WalkedFile): InventoryItem => ({
  part,
  key: path,
  name: path,
  kind: 'config',
  value,
  // Whose it is, its path does not say.
  objects: [],
  mayComeAndGo: true,
  told: { came: 'created', went: 'removed' },
  since: modifiedAt.toISOString(),
  orBefore: true,
});

/** Null: it may not be read, or is no text. */
async function digestOf(
  host: Host,
  root: HostRoot,
  { relative, size, modifiedAt }: WalkedFile,
  path: string,
  known: Map<string, ReadFile>,
): Promise<string | null> {
  const modified = modifiedAt.getTime();
  const before = known.get(path);
  if (before?.size === size && Math.abs(before.modifiedAt - modified) < CLOCK_MS) return before.digest;
  const read = await host.access.read(root.path, relative, { maxBytes: MOST_BYTES });
  if (!read.ok || read.kind === 'binary' || read.cut) return null;
  // Enough to see a change, and too little to guess a password in it by.
  const digest = `#${sha256(read.text).slice(0, 8)}`;
  if (Date.now() - modified > 2 * CLOCK_MS) known.set(path, { size, modifiedAt: modified, digest });
  return digest;
}
