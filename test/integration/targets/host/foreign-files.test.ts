import { spawnSync } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type ShopHost, startShopHost } from '../../../../playground/faults/host/shop-host.ts';
import { readRegular } from '../../../../src/infra/process/read-regular.ts';
import { backUp, holdFolder } from '../../../../src/safety/diffs/folder.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { type HostRig, hostRig } from './host-rig.ts';

/*
 * What the account of a service can put in the place of a file that Sentry reads. A thread that waits in one of them never
 * comes back; there are four, and files, names of hosts and new connections all need one.
 */

let rig: HostRig;
let server: Server | undefined;
beforeAll(async () => {
  rig = await hostRig();
});
afterAll(() => rig.stop());
afterEach(() => {
  server?.close();
  server = undefined;
});

const kinds: Readonly<Record<string, (path: string) => void | Promise<void>>> = {
  'a pipe': (path) => void spawnSync('mkfifo', [path]),
  'a link to a pipe': (path) => {
    spawnSync('mkfifo', [`${path}.pipe`]);
    symlinkSync(`${path}.pipe`, path);
  },
  'a link to /dev/zero': (path) => symlinkSync('/dev/zero', path),
  'a link to a terminal': (path) => symlinkSync('/dev/tty', path),
  'a link to itself': (path) => symlinkSync(path, path),
  'a folder': (path) => mkdirSync(path),
  'a socket': async (path) => {
    server = createServer();
    await new Promise<void>((resolve) => server?.listen(path, resolve));
  },
  'a file of 3 GB': (path) => {
    writeFileSync(path, '1');
    truncateSync(path, 3 * 1024 ** 3);
  },
};
const names = Object.keys(kinds);

/** More than there are threads. */
const times = <T>(call: () => Promise<T>): Promise<readonly T[]> =>
  Promise.all(Array.from({ length: 8 }, call));

async function threadsAreFree(): Promise<void> {
  await times(() => lookup('localhost'));
  expect((await rig.call('detective', 'list_files', {})).kind).toBe('ok');
}

describe('in place of a pid file', () => {
  const place = () => join(rig.host.dir, 'run.pid');
  afterEach(() => {
    rmSync(place(), { recursive: true, force: true });
    rmSync(`${place()}.pipe`, { force: true });
  });

  test.each(names)('%s holds nothing, and is said', async (kind) => {
    await kinds[kind]?.(place());
    const answers = await times(() => rig.call('detective', 'service_status', { service: 'worker' }));
    for (const answer of answers)
      expect(answer).toMatchObject({
        kind: 'failed',
        code: 'HOST_PID_FILE',
        reason: expect.stringMatching(/run\.pid was not read: (it is|it has|somebody)/),
      });
    await threadsAreFree();
  });

  test('no restart is proposed by what cannot be read', async () => {
    await kinds['a pipe']?.(place());
    await expect(rig.propose('restart_service', { service: 'worker' })).rejects.toThrow('not a regular file');
    await threadsAreFree();
  });
});

describe('in place of a file in a folder that may be read', () => {
  const place = () => join(rig.host.dir, 'app', 'odd.conf');
  afterEach(() => {
    rmSync(place(), { recursive: true, force: true });
    rmSync(`${place()}.pipe`, { force: true });
  });
  const diff = '--- a/odd.conf\n+++ b/odd.conf\n@@ -1,1 +1,1 @@\n-a\n+b\n';
  const calls = [
    ['read_file', { path: 'odd.conf' }],
    ['read_file', { path: 'odd.conf', last: true }],
    ['grep_search', { path: 'odd.conf', query: 'password' }],
    ['grep_search', { query: 'never there' }],
    ['list_files', {}],
    ['compare_files', { path: 'odd.conf', with: 'worker.conf' }],
    ['compare_files', { path: 'worker.conf', with: 'odd.conf' }],
    ['run_diagnostics', { command: 'tail -n 5 odd.conf' }],
  ] as const;

  test.each(names)('%s holds no tool', async (kind) => {
    await kinds[kind]?.(place());
    await Promise.all(calls.map(([tool, input]) => rig.call('detective', tool, input)));
    await times(() => rig.call('surgeon', 'apply_patch', { file_path: 'odd.conf', diff }));
    await threadsAreFree();
  });
});

describe('between a look and a read', () => {
  test('a backup waits for no pipe, also where links cannot be made', async () => {
    const dir = scratchDir();
    writeFileSync(join(dir, 'a.conf'), 'a');
    const folder = await holdFolder(dir, 'a.conf');
    if (!folder.ok) throw new Error(folder.reason);
    mkdirSync(join(dir, 'not-linked'));
    spawnSync('mkfifo', [join(dir, 'pipe')]);
    // The link is refused (as of another's file, or on a file system without links); then the name is a pipe's.
    const swapped = () => {
      let asked = 0;
      return {
        ...folder,
        at: (name: string) => join(dir, name === 'a.conf' ? (asked++ === 0 ? 'not-linked' : 'pipe') : name),
      };
    };
    expect(await times(() => backUp(swapped(), 'a.conf'))).toEqual(
      Array.from({ length: 8 }, () => expect.objectContaining({ ok: false, code: 'PATCH_CHANGED' })),
    );
    await lookup('localhost');
    await folder.handle.close();
  });

  test('a file is read to its limit and not one byte further, also when it grows', async () => {
    const path = join(scratchDir(), 'pid');
    writeFileSync(path, 'x'.repeat(4_096));
    expect((await readRegular(path, 4_096))?.text).toHaveLength(4_096);
    writeFileSync(path, 'x'.repeat(4_097));
    await expect(readRegular(path, 4_096)).rejects.toMatchObject({ code: 'FILE_NOT_READ' });
    expect(await readRegular(`${path}.none`, 4_096)).toBeUndefined();
    expect(await readRegular(`${path}/below`, 4_096)).toBeUndefined();
    // Says that it has no bytes, and has.
    expect((await readRegular('/proc/self/stat', 4_096))?.text).toContain('node');
  });
});

describe('the playground’s host', () => {
  let shop: ShopHost | undefined;
  afterEach(() => shop?.kill());

  test.each(names)('starts again over %s where its pid file was', async (kind) => {
    const dir = scratchDir();
    mkdirSync(join(dir, 'state'));
    await kinds[kind]?.(join(dir, 'state', 'shop-worker.pid'));
    shop = await startShopHost(dir);
    await waitFor('the worker to run', async () => (await shop?.isRunning()) === true);
    expect(statSync(shop.pidFile).isFile()).toBe(true);
    expect(readFileSync(shop.pidFile, 'utf8')).toMatch(/^\d+\n$/);
    expect(existsSync(shop.configFile)).toBe(true);
  });
});
