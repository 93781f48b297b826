import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import type { AllowedCommand } from '../../../../src/safety/commands/decision.ts';
import { parseCommand } from '../../../../src/safety/commands/parse-command.ts';
import { type CommandPolicy, defaultCommandPolicy } from '../../../../src/safety/commands/policy.ts';
import { runCommand } from '../../../../src/safety/commands/run-command.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';

let logs: string;
let bin: string;
let policy: CommandPolicy;

beforeEach(() => {
  const base = scratchDir();
  [logs, bin] = [join(base, 'logs'), join(base, 'bin')];
  mkdirSync(logs);
  mkdirSync(bin);
  policy = { ...defaultCommandPolicy, logRoots: [{ root: logs, logsOnly: false }] };
});

function parsed(text: string): AllowedCommand {
  const decision = parseCommand(text, policy);
  if (!decision.allowed) throw new Error(decision.reason);
  return decision;
}

/** A stand-in for a diagnostic program that misbehaves. */
function program(script: string): AllowedCommand {
  writeFileSync(join(bin, 'uptime'), `#!/bin/bash\n${script}\n`);
  chmodSync(join(bin, 'uptime'), 0o755);
  return parsed('uptime');
}

test('runs a real diagnostic and gives its output and exit code', async () => {
  expect(await runCommand(parsed('df -h /'))).toMatchObject({
    ok: true,
    exitCode: 0,
    killed: null,
    stdout: expect.stringContaining('Mounted on'),
  });
});

test('tails a log by descriptor and names the files by their paths', async () => {
  writeFileSync(join(logs, 'a.log'), 'one\ntwo\nthree\n');
  writeFileSync(join(logs, 'b.log'), 'four\n');
  const single = await runCommand(parsed(`tail -n 2 ${logs}/a.log`), { policy });
  expect(single).toMatchObject({ stdout: 'two\nthree\n', exitCode: 0 });
  const both = await runCommand(parsed(`tail -1 ${logs}/a.log ${logs}/b.log`), { policy });
  expect(both).toMatchObject({ stdout: `==> ${logs}/a.log <==\nthree\n\n==> ${logs}/b.log <==\nfour\n` });
});

test('refuses a log that is a link out of the logs, and one that is missing', async () => {
  symlinkSync('/etc/hostname', join(logs, 'evil.log'));
  expect(await runCommand(parsed(`tail ${logs}/evil.log`), { policy })).toMatchObject({
    code: 'PATH_OUTSIDE',
  });
  expect(await runCommand(parsed(`tail ${logs}/none.log`), { policy })).toMatchObject({
    code: 'PATH_MISSING',
  });
});

test('where other things than logs live, a log may not lead to something that is no log', async () => {
  const apps = scratchDir();
  policy = { ...policy, logRoots: [{ root: apps, logsOnly: true }] };
  writeFileSync(join(apps, 'settings.ini'), 'x');
  writeFileSync(join(apps, 'real.log'), 'y\n');
  symlinkSync('settings.ini', join(apps, 'innocent.log'));
  symlinkSync('real.log', join(apps, 'current.log'));
  expect(parseCommand(`tail ${apps}/settings.ini`, policy).allowed).toBe(false);
  expect(await runCommand(parsed(`tail ${apps}/innocent.log`), { policy })).toMatchObject({
    code: 'PATH_OUTSIDE',
  });
  expect(await runCommand(parsed(`tail ${apps}/current.log`), { policy })).toMatchObject({ stdout: 'y\n' });
});

test('gives the program none of our environment and no standard input', async () => {
  process.env['SENTRY_TEST_SECRET'] = 'do-not-leak';
  const result = await runCommand(program('env; pwd; cat'), { folders: [bin] });
  delete process.env['SENTRY_TEST_SECRET'];
  expect(result).toMatchObject({ ok: true, exitCode: 0 });
  if (!result.ok) return;
  expect(result.stdout).not.toContain('do-not-leak');
  expect(result.stdout).toContain('HOME=/nonexistent');
  expect(result.stdout).toMatch(/^\/$/mu);
});

test('a program that never ends is killed with everything it started', async () => {
  const result = await runCommand(program('sleep 300 & echo $!; wait'), { folders: [bin], timeoutMs: 500 });
  expect(result).toMatchObject({ ok: true, killed: 'timeout', exitCode: null });
  if (!result.ok) return;
  const pid = Number(result.stdout.trim());
  expect(pid).toBeGreaterThan(1);
  await expect.poll(() => isAlive(pid)).toBe(false);
});

test('a grandchild that keeps the pipe open does not keep us', async () => {
  const result = await runCommand(program('sleep 300 & echo $!'), { folders: [bin], timeoutMs: 20_000 });
  expect(result).toMatchObject({ ok: true, killed: null, exitCode: 0 });
  if (!result.ok) return;
  await expect.poll(() => isAlive(Number(result.stdout.trim()))).toBe(false);
});

test('endless output is cut at the limit and the program killed', async () => {
  const result = await runCommand(program('while :; do echo xxxxxxxxxxxxxxxx; done'), {
    folders: [bin],
    maxOutputBytes: 10_000,
  });
  expect(result).toMatchObject({ killed: 'output' });
  if (result.ok) expect(result.stdout).toHaveLength(10_000);
});

test('a program cannot write files, and is held to little memory, few descriptors and no core dump', async () => {
  const file = join(bin, 'written');
  const written = await runCommand(program(`echo data > ${file}; echo "wrote: $?"`), { folders: [bin] });
  expect(existsSync(file) ? readFileSync(file, 'utf8') : '').toBe('');
  expect(written).toMatchObject({ ok: true });
  const limits = await runCommand(program('ulimit -v; ulimit -n; ulimit -c'), { folders: [bin] });
  expect(limits).toMatchObject({ stdout: '1048576\n256\n0\n' });
});

test('a call that is called off kills the program; one called off before never starts', async () => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 200);
  const options = { folders: [bin], signal: controller.signal };
  expect(await runCommand(program('sleep 300'), options)).toMatchObject({ killed: 'aborted' });
  expect(await runCommand(program('sleep 300'), options)).toMatchObject({ ok: false, code: 'ABORTED' });
});

test('says when a program is not installed', async () => {
  expect(await runCommand(parsed('uptime'), { folders: [bin] })).toMatchObject({ code: 'NOT_INSTALLED' });
});

test('curl asks a local page, follows no redirect and knows no start-up file', async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method ?? ''} ${request.url ?? ''}`);
    response.writeHead(302, { location: 'http://127.0.0.1:1/elsewhere' }).end('moved');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const result = await runCommand(parsed(`curl -s http://127.0.0.1:${port}/health`), { policy });
  server.close();
  expect(result).toMatchObject({ exitCode: 0, stdout: 'moved' });
  expect(asked).toEqual(['GET /health']);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
