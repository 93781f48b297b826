import { linkSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { changesBetween } from '../../../../src/changes/looks/changes-between.ts';
import { screenedParts } from '../../../../src/changes/looks/screened-item.ts';
import type { Change } from '../../../../src/core/change.ts';
import type { Inventory } from '../../../../src/core/inventory.ts';
import { connectHost } from '../../../../src/targets/host/connect/connect-host.ts';
import { localMachine } from '../../../../src/targets/host/connect/local-machine.ts';
import { hostInventory } from '../../../../src/targets/host/inventory.ts';
import type { Machine } from '../../../../src/targets/host/machine.ts';
import type { Host } from '../../../../src/targets/host/system.ts';
import { type ScratchHost, scratchHost } from './host-rig.ts';

let scratch: ScratchHost;
let host: Host;
/** What the package manager of this machine lists: name to version. */
let packages: Record<string, string>;
let boot: string;

beforeEach(() => {
  scratch = scratchHost();
  packages = { 'libc6:amd64': '2.36-9', openssl: '3.0.11-1' };
  boot = 'boot-1';
  host = connectHost(scratch.config, { machine, deniedPorts: [], steadySeconds: 0 });
});
afterEach(() => scratch.stop());

const machine: Machine = {
  ...localMachine,
  clock: async () => `${boot}/100.00`,
  hasProgram: async (path) => path === '/usr/bin/dpkg-query',
  async run(argv, options) {
    if (argv[0] !== '/usr/bin/dpkg-query') return localMachine.run(argv, options);
    const half = argv.at(-1) === 'l*';
    const lines = Object.entries(packages)
      .filter(([name]) => name.startsWith('l') === half)
      .map(([name, version]) => `ii \t${name}\t${version}`);
    return { exitCode: 0, output: [...lines, 'rc \tremoved\t1.0'].join('\n') };
  },
};

const look = (): Promise<Inventory> => hostInventory(host, new AbortController().signal);
const app = (name: string): string => join(scratch.dir, 'app', name);

async function toldOf(happens: () => unknown): Promise<readonly Change[]> {
  const lastAt = new Date().toISOString();
  const before = new Map(screenedParts(await look()).map(({ part, items }) => [part, items]));
  await happens();
  const target = { name: 'web-1', environment: 'test' };
  return screenedParts(await look()).flatMap((part) =>
    changesBetween(before.get(part.part) ?? [], part, { target, lastAt, endedAt: new Date().toISOString() }),
  );
}
const titles = (changes: readonly Change[]): readonly string[] =>
  changes.map(({ title }) => title).toSorted();

test('a host is the same while its logs grow and its files are only touched', async () => {
  scratch.start();
  const { items, unread } = await look();
  expect(unread).toEqual([]);
  expect([...new Set(items.map(({ part }) => part))]).toEqual([
    'system',
    'packages',
    'service worker',
    `files in ${scratch.dir}/app`,
  ]);
  expect(
    await toldOf(() => {
      writeFileSync(join(scratch.dir, 'logs', 'worker.log'), 'started\nand more\n');
      writeFileSync(app('worker.pid'), '1');
      utimesSync(app('worker.conf'), new Date(), new Date());
    }),
  ).toEqual([]);
});

test('configuration that was changed, written and removed is told, of the whole system and at its own time', async () => {
  const changed = await toldOf(() => writeFileSync(app('worker.conf'), 'name=worker\nworkers=four\n'));
  expect(changed).toMatchObject([
    { kind: 'config', title: `${app('worker.conf')} of web-1 was changed`, where: ['web-1'] },
  ]);
  const startedAt = changed[0]?.startedAt;
  const at = changed[0]?.at ?? '';
  expect(Date.parse(at)).toBeGreaterThanOrEqual(Date.parse(startedAt ?? ''));
  expect(
    titles(
      await toldOf(() => {
        writeFileSync(app('new.yaml'), 'a: 1\n');
        writeFileSync(join(scratch.dir, 'logs', 'rotate.conf'), 'weekly\n');
        rmSync(app('worker.conf'));
      }),
    ),
  ).toEqual([
    `${app('new.yaml')} of web-1 created`,
    `${app('worker.conf')} of web-1 removed`,
    `${join(scratch.dir, 'logs', 'rotate.conf')} of web-1 created`,
  ]);
});

test('packages, and a restart of the machine, are told', async () => {
  const told = await toldOf(() => {
    packages = { 'libc6:amd64': '2.36-9', openssl: '3.0.13-1', curl: '7.88' };
    boot = 'boot-2';
  });
  expect(titles(told)).toEqual([
    'package curl of web-1 installed',
    'package openssl of web-1: 3.0.11-1 → 3.0.13-1',
    'web-1 was restarted',
  ]);
});

test('a list that was cut, or does not come, says that it was not read', async () => {
  const unread = async (run: Machine['run']) => {
    const broken = connectHost(scratch.config, { machine: { ...machine, run }, deniedPorts: [] });
    return (await hostInventory(broken, new AbortController().signal)).unread.find(
      ({ part }) => part === 'packages',
    )?.why;
  };
  expect(await unread(async () => ({ exitCode: 0, output: 'ii \ta\t1\n'.repeat(10_000) }))).toBe(
    '/usr/bin/dpkg-query lists more than Sentry compares',
  );
  expect(await unread(async () => ({ exitCode: 2, output: 'no database' }))).toBe(
    '/usr/bin/dpkg-query ended with 2: no database',
  );
});

test('a service that does not run tells nothing, and what died and came back was changed by nobody', async () => {
  expect((await look()).unread).toEqual([{ part: 'service worker', why: 'it does not run steadily' }]);
  scratch.start();
  expect((await look()).items.some(({ key }) => key === 'start')).toBe(false);
});

test('nothing is read that the tools of hosts may not read', async () => {
  writeFileSync(join(scratch.dir, 'outside.conf'), 'outside\n');
  symlinkSync(join(scratch.dir, 'outside.conf'), app('link.conf'));
  symlinkSync('/etc', app('etc'));
  writeFileSync(app('.env'), 'PASSWORD=hunter2\n');
  writeFileSync(app('id_rsa'), 'key\n');
  writeFileSync(app('line\nbreak.conf'), 'x\n');
  linkSync(app('worker.conf'), app('again.conf'));
  const { items } = await look();
  const names = items
    .filter(({ kind, part }) => kind === 'config' && part.includes('app'))
    .map(({ key }) => key);
  expect(names.toSorted()).toEqual(
    [app('again.conf'), app('line\nbreak.conf'), app('worker.conf')].toSorted(),
  );
  expect(JSON.stringify(items)).not.toContain('hunter2');
  const [made] = await toldOf(() => writeFileSync(app('line\nbreak.conf'), 'longer\n'));
  expect(made?.title).toBe(`${app('line break.conf')} of web-1 was changed`);
});

test('a folder with more than is compared is unread, not half read', async () => {
  for (let n = 0; n <= 300; n += 1) writeFileSync(app(`${n}.conf`), `${n}`);
  expect((await look()).unread).toContainEqual({
    part: `files in ${scratch.dir}/app`,
    why: 'it holds more than 300 configuration files',
  });
});
