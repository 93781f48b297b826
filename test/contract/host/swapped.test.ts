import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openConnection, type SshConnection } from '../../../src/targets/host/connect/ssh/connection.ts';
import { DIAGNOSE, PID_FILE, READ_FILES, WALK } from '../../../src/targets/host/connect/ssh/scripts.ts';
import { createShell, type RemoteShell } from '../../../src/targets/host/connect/ssh/shell.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import { loginTo, type Sshd, startSshd } from '../../support/sshd.ts';

/** The moment between the check of a path and its use: what was checked as `logs` is a link by now, or a pipe. */
let sshd: Sshd;
let connection: SshConnection;
let shell: RemoteShell;
let logs: string;
beforeAll(async () => {
  sshd = await startSshd();
  connection = openConnection(loginTo(sshd));
  shell = createShell(connection);
  const dir = scratchDir();
  mkdirSync(join(dir, 'secret', 'sub'), { recursive: true });
  writeFileSync(join(dir, 'secret', 'sub', 'app.log'), 'a secret\n');
  writeFileSync(join(dir, 'secret', 'app.log'), 'a secret\n');
  writeFileSync(join(dir, 'secret', 'other.log'), 'a secret\n');
  logs = join(dir, 'logs');
  symlinkSync(join(dir, 'secret'), logs);
});
afterAll(async () => {
  await connection.close();
  await sshd.stop();
});

const run = async (script: string, words: readonly string[], input = '') => {
  const ended = await shell.script(script, words, {
    timeoutMs: 3_000,
    signal: new AbortController().signal,
    input,
  });
  return { ...ended, stdout: ended.stdout.toString('utf8') };
};

test('a file below a folder that is a link by now is not read', async () => {
  const { stdout } = await run(READ_FILES, ['100', 'head', join(logs, 'app.log')], 'mark\n');
  expect(stdout).toBe('mark\nchanged\n');
});

test('a file that is a link by now is not read', async () => {
  const dir = scratchDir();
  symlinkSync(join(logs, 'app.log'), join(dir, 'app.log'));
  const { stdout } = await run(READ_FILES, ['100', 'tail', join(dir, 'app.log')], 'mark\n');
  expect(stdout).toBe('mark\nchanged\n');
});

test('a pipe holds nothing, nor what comes after it', async () => {
  const dir = scratchDir();
  execFileSync('mkfifo', [join(dir, 'pipe')]);
  writeFileSync(join(dir, 'real'), 'text\n');
  const { stdout } = await run(
    READ_FILES,
    ['9', 'head', join(dir, 'pipe'), join(dir, 'gone'), join(dir, 'real')],
    'mark\n',
  );
  expect(stdout).toMatch(/^mark\nother\nmark\nmissing\nmark\n5 81[0-9a-f]{2}\ntext\n$/);
});

test('a folder that is a link by now is not walked', async () => {
  // The link itself is told, as one.
  const { stdout } = await run(WALK, [logs, '3', '100']);
  expect(stdout).toMatch(/^[\d.]+\0l\t0\t[^\0]*\t\0$/);
  const below = await run(WALK, [join(logs, 'sub'), '3', '100']);
  expect(below).toMatchObject({ code: 3, stdout: expect.stringMatching(/^[\d.]+\0$/) });
});

test('a command is given no file that leads elsewhere by now', async () => {
  const { stdout, code } = await run(DIAGNOSE, ['1', join(logs, 'app.log'), 'tail', '-n', '1', '/dev/fd/3']);
  expect({ stdout, code }).toEqual({ stdout: '', code: 125 });
});

test('a pid file below a link that moved is not read', async () => {
  const { stdout } = await run(PID_FILE, [join(logs, 'app.log'), join(logs, 'app.log')]);
  expect(stdout).toBe('changed\n');
});
