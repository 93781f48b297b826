import {
  chmodSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseCommand } from '../../../src/safety/commands/parse-command.ts';
import type { HostConfig } from '../../../src/targets/host/config.ts';
import { connectHost } from '../../../src/targets/host/connect/connect-host.ts';
import { localMachine } from '../../../src/targets/host/connect/local-machine.ts';
import { sshMachine } from '../../../src/targets/host/connect/ssh/remote-machine.ts';
import { hostFacts } from '../../../src/targets/host/facts.ts';
import type { Machine } from '../../../src/targets/host/machine.ts';
import type { Host } from '../../../src/targets/host/system.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import { loginTo, type Sshd, startSshd } from '../../support/sshd.ts';

/** One contract: what is read of this machine by itself, and over ssh from itself, is the same. */
let sshd: Sshd;
let remote: Machine;
let dir: string;
beforeAll(async () => {
  sshd = await startSshd();
  remote = sshMachine(loginTo(sshd));
});
afterAll(async () => {
  await remote.close();
  await sshd.stop();
});

const within = () => ({ timeoutMs: 20_000, signal: AbortSignal.timeout(20_000) });

function files(): string {
  dir = scratchDir();
  mkdirSync(join(dir, 'logs', 'old'), { recursive: true });
  mkdirSync(join(dir, 'outside'));
  mkdirSync(join(dir, 'logs', '.ssh'));
  writeFileSync(join(dir, 'logs', 'app.log'), 'one\ntwo ERROR\nthree größer\n');
  writeFileSync(join(dir, 'logs', 'old', 'it\'s $(touch x); `id` \\ "q".log'), 'quoted ERROR\n');
  writeFileSync(join(dir, 'logs', 'old', '-rf'), 'dashes\n');
  writeFileSync(join(dir, 'logs', 'old', 'line\nbreak.log'), 'broken ERROR\n');
  writeFileSync(join(dir, 'logs', 'old', 'tab'), 'of another name\n');
  writeFileSync(join(dir, 'logs', 'old', 'tab\tin it\t'), 'tabbed ERROR\n');
  writeFileSync(join(dir, 'logs', 'binary'), Buffer.from([0, 1, 2]));
  writeFileSync(join(dir, 'logs', '.ssh', 'id_ed25519'), 'secret ERROR\n');
  writeFileSync(join(dir, 'logs', 'app.env'), 'PASSWORD=secret ERROR\n');
  writeFileSync(join(dir, 'outside', 'secret.log'), 'secret ERROR\n');
  symlinkSync(join(dir, 'outside'), join(dir, 'logs', 'away'));
  symlinkSync('app.log', join(dir, 'logs', 'latest.log'));
  symlinkSync('nowhere', join(dir, 'logs', 'dangling'));
  symlinkSync('loop', join(dir, 'logs', 'loop'));
  return join(dir, 'logs');
}

describe.each(['local', 'ssh'] as const)('%s', (way) => {
  const machine = (): Machine => (way === 'ssh' ? remote : localMachine);
  let root: string;
  beforeAll(() => {
    root = files();
  });

  test.each([
    ['app.log', 'file'],
    ['latest.log', 'file'],
    ['old', 'directory'],
    ['old/-rf', 'file'],
    ['not-there', 'missing'],
    ['old/not/there', 'missing'],
  ])('%s is a %s', async (path, kind) => {
    expect(await machine().access.check(root, path)).toMatchObject({ ok: true, kind });
  });

  test.each([
    ['away/secret.log', 'PATH_OUTSIDE'],
    ['dangling', 'PATH_DANGLING'],
    ['loop', 'PATH_LOOP'],
    ['../outside/secret.log', 'PATH_TRAVERSAL'],
    ['app.env', 'PATH_SECRET'],
    ['.ssh/id_ed25519', 'PATH_SECRET'],
    ['a$(id)', 'PATH_EXPANSION'],
  ])('%s is refused (%s)', async (path, code) => {
    expect(await machine().access.check(root, path)).toMatchObject({ ok: false, code });
    expect(await machine().access.read(root, path)).toMatchObject({ ok: false, code });
  });

  test('a file is read as it is, from its beginning and from its end, and says when it was cut', async () => {
    const { read } = machine().access;
    const text = 'one\ntwo ERROR\nthree größer\n';
    expect(await read(root, 'latest.log')).toMatchObject({
      kind: 'text',
      text,
      size: 29,
      cut: false,
      mode: 0o644,
    });
    expect(await read(root, 'app.log', { maxBytes: 5 })).toMatchObject({ text: 'one\nt', cut: true });
    expect(await read(root, 'app.log', { maxBytes: 15, fromEnd: true })).toMatchObject({
      text: 'three größer\n',
      cut: true,
    });
    expect(await read(root, 'app.log', { maxBytes: 29, fromEnd: true })).toMatchObject({ text, cut: false });
    // "ö" is cut in two.
    expect(await read(root, 'app.log', { maxBytes: 23 })).toMatchObject({ kind: 'text', cut: true });
    expect(await read(root, 'binary')).toMatchObject({ kind: 'binary', size: 3 });
    expect(await read(root, 'old')).toMatchObject({ ok: false, code: 'PATH_NOT_A_FILE' });
    expect(await read(root, 'not-there')).toMatchObject({ ok: false, code: 'PATH_MISSING' });
  });

  test('a folder is walked: no links, no secrets, every other name whatever is in it', async () => {
    const past = new Date(Date.now() - 3_600_000);
    utimesSync(join(root, 'app.log'), past, past);
    const walk = await machine().access.walk(root, '.');
    if (!walk.ok) throw new Error(walk.reason);
    expect(walk.files.map(({ relative }) => relative).toSorted()).toEqual([
      'app.log',
      'binary',
      'old/-rf',
      `old/it's $(touch x); \`id\` \\ "q".log`,
      'old/line\nbreak.log',
      'old/tab',
      'old/tab\tin it\t',
    ]);
    const app = walk.files.find(({ relative }) => relative === 'app.log');
    expect(app?.size).toBe(29);
    expect(Math.abs((app?.modifiedAt.getTime() ?? 0) - past.getTime())).toBeLessThan(60_000);
    expect(walk.complete).toBe(true);
  });

  test('lines are searched by RE2, the newest files first, and no secret or link is looked into', async () => {
    const pattern = { pattern: '\\berror\\b', ignoreCase: true, literal: false };
    const found = await machine().access.search(root, '.', pattern, { maxMatches: 100 });
    if (!found.ok) throw new Error(found.reason);
    expect(found.matches.map(({ path, line, text }) => `${path}:${line}:${text}`)).toEqual([
      'app.log:2:two ERROR',
    ]);
    // Names that a path may not have are passed over.
    expect(found.passedOver).toBeGreaterThan(3);
    const one = await machine().access.search(root, 'app.log', pattern, { maxMatches: 100 });
    expect(one).toMatchObject({ matches: [{ path: 'app.log', line: 2 }], filesSearched: 1 });
  });

  test('a diagnostic command runs with exactly its words, and a log by the name it was asked for', async () => {
    const policy = {
      curlHosts: [],
      watch: [],
      curlDeniedPorts: [],
      logRoots: [{ root, logsOnly: false }],
    };
    const command = async (text: string) => {
      const parsed = parseCommand(text, policy);
      if (!parsed.allowed) throw new Error(parsed.reason);
      return machine().access.run(parsed, { policy });
    };
    expect(await command(`tail -n 1 ${root}/app.log ${root}/latest.log`)).toMatchObject({
      exitCode: 0,
      stdout: `==> ${root}/app.log <==\nthree größer\n\n==> ${root}/app.log <==\nthree größer\n`,
    });
    expect(await command(`ps -o pid= --pid=${process.pid}`)).toMatchObject({
      stdout: expect.stringMatching(String(process.pid)),
    });
    expect(await command('ps --pid=4194304')).toMatchObject({ exitCode: 1 });
    expect(await command(`tail -n 1 ${root}/away/secret.log`)).toMatchObject({
      ok: false,
      code: 'PATH_OUTSIDE',
    });
    const endless = await machine().access.run(
      { allowed: true, binary: 'yes', argv: ['yes', "it's"], files: [] },
      { policy, maxOutputBytes: 1_000 },
    );
    expect(endless).toMatchObject({
      exitCode: null,
      killed: 'output',
      stdout: expect.stringMatching(/^it's\n/),
    });
    expect((endless as { stdout: string }).stdout).toHaveLength(1_000);
  });

  test('a command that does not end is ended with all that it began', async () => {
    const mark = `27.${way === 'ssh' ? '31' : '32'}`;
    const run = await machine().access.run(
      { allowed: true, binary: 'sleep', argv: ['sleep', mark], files: [] },
      { timeoutMs: 700 },
    );
    expect(run).toMatchObject({ exitCode: null, killed: 'timeout' });
    const left = await localMachine.run(['/usr/bin/pgrep', '-fx', `sleep ${mark}`], {
      ...within(),
      capture: true,
    });
    expect(left.output).toBe('');
  });

  test('processes, identity and clock are the machine’s own', async () => {
    const before = process.uptime();
    const own = await machine().process(process.pid, within());
    expect(own).toMatchObject({ startedAt: (await localMachine.process(process.pid, within()))?.startedAt });
    expect(own?.ageSeconds).toBeGreaterThanOrEqual(Math.floor(before) - 1);
    expect(own?.ageSeconds).toBeLessThanOrEqual(process.uptime() + 1);
    expect(await machine().process(2 ** 22 + 1, within())).toBeNull();
    expect(await machine().programOf(process.pid, within())).toBe(process.execPath);
    expect(await machine().identity()).toBe(await localMachine.identity());
    expect((await machine().clock())?.split('/')[0]).toBe((await localMachine.clock())?.split('/')[0]);
    expect(await machine().describe()).toEqual(await localMachine.describe());
    expect((await machine().access.space(root)).size).toBe((await localMachine.access.space(root)).size);
  });

  test('facts name what a service runs', async () => {
    const pidFile = join(root, 'app.pid');
    writeFileSync(pidFile, `${process.pid}\n`);
    const facts = await hostFacts(hostOf(machine(), pidFile));
    const ours = (await hostFacts(hostOf(localMachine, pidFile)))['service app'];
    // Whose file it is, a package manager knows; where it knows nothing, only this machine's own program has a version.
    expect(ours?.startsWith(facts['service app'] ?? 'none')).toBe(true);
    unlinkSync(pidFile);
  });

  test('a pid file is an ordinary one, or it is said what it is', async () => {
    const file = join(root, 'run.pid');
    expect(await machine().pidFile(file, within())).toMatchObject({ text: null, realPath: file });
    writeFileSync(file, '17\n');
    expect(await machine().pidFile(file, within())).toMatchObject({ text: '17\n', realPath: file });
    unlinkSync(file);
    symlinkSync(join(root, 'app.log'), file);
    await expect(machine().pidFile(file, within())).rejects.toMatchObject({ code: 'HOST_PID_FILE' });
    unlinkSync(file);
    mkdirSync(file);
    await expect(machine().pidFile(file, within())).rejects.toMatchObject({ code: 'HOST_PID_FILE' });
    const big = join(root, 'big.pid');
    writeFileSync(big, 'x'.repeat(5_000));
    await expect(machine().pidFile(big, within())).rejects.toMatchObject({ code: 'HOST_PID_FILE' });
  });

  test('a port is asked on the machine itself', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    expect(await machine().reach(port, within())).toMatchObject({ reachable: true, port });
    await new Promise((resolve) => server.close(resolve));
    expect(await machine().reach(port, within())).toMatchObject({ reachable: false });
  });
});

function hostOf(machine: Machine, pidFile: string): Host {
  const config: HostConfig = {
    name: 'web-1',
    kind: 'host',
    domain: 'docker',
    environment: 'test',
    aliases: [],
    roots: [],
    services: [{ name: 'app', kind: 'command', restart: ['/bin/true'], pidFile }],
    curlHosts: [],
    watch: [],
  };
  return connectHost(config, { machine, deniedPorts: [], steadySeconds: 0 });
}

test('words reach the other side as they are, whatever is in them', async () => {
  const words = [
    "it's",
    '"double"',
    '$(touch /tmp/x)',
    '`id`',
    'a\nb\r\tc',
    '-rf',
    '--',
    '',
    ' ',
    '~',
    '*',
    '\\',
    "\\'",
    "'; id; '",
    '!!',
    '{a,b}',
    'größe 💥 \u202e',
    '\u0001\u001b[31m',
    '#',
    '&& id',
  ];
  const { output } = await remote.run(['/usr/bin/printf', '%s\\0', ...words], { ...within(), capture: true });
  expect(output.split('\0').slice(0, -1)).toEqual(words);
  await expect(remote.run(['/bin/echo', 'a\0b'], { ...within(), capture: true })).rejects.toMatchObject({
    code: 'HOST_COMMAND',
  });
});

test('no file is changed over ssh, and it says why', async () => {
  const refused = { ok: false, code: 'HOST_NO_PATCH', reason: expect.stringContaining('following links') };
  expect(await remote.access.plan('/srv', 'x')).toMatchObject(refused);
  expect(await remote.access.apply({} as never)).toMatchObject(refused);
  expect(await remote.access.undo({} as never)).toMatchObject(refused);
});

test('many reads at once share one login', async () => {
  const before = sshd.log().match(/Accepted publickey/g)?.length ?? 0;
  const root = files();
  const reads = await Promise.all(Array.from({ length: 30 }, () => remote.access.read(root, 'app.log')));
  expect(reads.every((read) => read.ok)).toBe(true);
  expect(sshd.log().match(/Accepted publickey/g)?.length ?? 0).toBe(before);
});

test('a folder that may not be looked into is counted', async () => {
  if (process.getuid?.() === 0) return;
  const root = files();
  chmodSync(join(root, 'old'), 0);
  expect(await remote.access.walk(root, '.')).toMatchObject({ unreadFolders: 1 });
  chmodSync(join(root, 'old'), 0o755);
});

test('the scripts are read by sh as they stand here', () => {
  const source = readFileSync(
    join(import.meta.dirname, '../../../src/targets/host/connect/ssh/scripts.ts'),
    'utf8',
  );
  expect(source).not.toMatch(/[^\\]\$\{[a-z]+\(/);
});
