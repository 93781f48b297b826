import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readInside } from '../../../../src/safety/paths/read-inside.ts';
import { walkInside } from '../../../../src/safety/paths/walk-inside.ts';
import { cpuClock } from '../../../support/cpu-clock.ts';
import type { Row } from '../../../support/typed.ts';
import { type HostRig, hostRig } from './host-rig.ts';

let rig: HostRig;
let app: string;
let logs: string;
beforeAll(async () => {
  rig = await hostRig();
  app = join(rig.host.dir, 'app');
  logs = join(rig.host.dir, 'logs');
});
afterAll(() => rig.stop());

describe('read_file', () => {
  test('shows lines, the end of a log, and what it is', async () => {
    writeFileSync(join(logs, 'many.log'), Array.from({ length: 500 }, (_, n) => `line ${n + 1}`).join('\n'));
    const first = await rig.call('detective', 'read_file', { path: `${logs}/many.log`, lines: 3 });
    expect(first).toMatchObject({
      kind: 'ok',
      data: { first_line: 1, lines: 3, text: 'line 1\nline 2\nline 3' },
    });
    const from = await rig.call('triage', 'read_file', { path: `${logs}/many.log`, from_line: 499 });
    expect(from).toMatchObject({ kind: 'ok', data: { text: 'line 499\nline 500' } });
    const last = await rig.call('validator', 'read_file', { path: `${logs}/many.log`, lines: 2, last: true });
    expect(last).toMatchObject({ kind: 'ok', data: { first_line: 499, text: 'line 499\nline 500' } });
    const relative = await rig.call('detective', 'read_file', { path: 'worker.conf' });
    expect(relative).toMatchObject({
      kind: 'ok',
      data: { whole: true, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
  });

  test('of a file of 3 GB reads only the end that was asked for', async () => {
    writeFileSync(join(logs, 'huge.log'), '');
    truncateSync(join(logs, 'huge.log'), 3 * 1024 ** 3);
    spawnSync('/bin/sh', ['-c', `printf 'the\\nlast\\nline\\n' >> '${logs}/huge.log'`]);
    const result = await rig.call('detective', 'read_file', {
      path: `${logs}/huge.log`,
      lines: 2,
      last: true,
    });
    expect(result).toMatchObject({
      kind: 'ok',
      data: { first_line: null, text: 'last\nline', sha256: null },
    });
  });

  test('a binary file is described, never shown', async () => {
    writeFileSync(join(app, 'core.bin'), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2]));
    const result = await rig.call('detective', 'read_file', { path: 'core.bin' });
    expect(result).toMatchObject({ kind: 'ok', data: { binary: true, text: '' } });
  });

  test('a secret in a file reaches nobody', async () => {
    const token = ['xoxb', '1234567890', 'abcdefghijklmnop'].join('-');
    writeFileSync(join(app, 'slack.conf'), `token=${token}\n`);
    const result = await rig.call('detective', 'read_file', { path: 'slack.conf' });
    expect(JSON.stringify(result)).not.toContain(token);
  });

  test.each([
    ['out of the root', '../restart.sh', 'PATH_TRAVERSAL'],
    ['an absolute path elsewhere', '/etc/hostname', 'PATH_OUTSIDE'],
    ['a sibling whose name begins like the root', '/tmp/appendix', 'PATH_OUTSIDE'],
    ['encoded dots', '%2e%2e/restart.sh', 'PATH_ENCODED'],
    ['a NUL', 'worker.conf\u0000.txt', 'INPUT_HIDDEN_CHARACTERS'],
    ['a right-to-left override', 'worker\u202efnoc', 'INPUT_HIDDEN_CHARACTERS'],
    ['a shell substitution', '$(id).conf', 'PATH_EXPANSION'],
    ['a private key', 'id_rsa', 'PATH_SECRET'],
    ['an environment file', '.env.production', 'PATH_SECRET'],
    ['a kubeconfig', 'kubeconfig', 'PATH_SECRET'],
    ['a descriptor of ours', '/proc/self/fd/0', 'PATH_OUTSIDE'],
  ])('refuses %s at the gate, on record', async (_what, path, code) => {
    expect(await rig.call('detective', 'read_file', { path })).toMatchObject({ kind: 'refused', code });
    const [row] = await rig.core.sql<Row>`SELECT code FROM tool_call ORDER BY started_at DESC LIMIT 1`;
    expect(row?.['code']).toBe(code);
  });

  test('refuses links out of the root, pipes and devices, and does not hang on them', async () => {
    symlinkSync('/etc/hostname', join(app, 'innocent.conf'));
    symlinkSync('/dev/zero', join(app, 'zero.log'));
    spawnSync('mkfifo', [join(app, 'pipe.log')]);
    for (const path of ['innocent.conf', 'zero.log', 'pipe.log'])
      expect((await rig.call('detective', 'read_file', { path })).kind, path).toBe('refused');
  });

  test('a folder swapped for a link between the check and the open leads nowhere', async () => {
    const racing = await hostRig({
      host: rig.host,
      database: rig.database,
      access: {
        read: (root, path, given) =>
          readInside(root, path, {
            ...given,
            beforeOpen: () => {
              renameSync(join(app, 'conf.d'), join(app, 'conf.was'));
              symlinkSync('/etc', join(app, 'conf.d'));
            },
          }),
      },
    });
    mkdirSync(join(app, 'conf.d'));
    writeFileSync(join(app, 'conf.d', 'hostname'), 'ours');
    const result = await racing.call('detective', 'read_file', { path: 'conf.d/hostname' });
    expect(result).toMatchObject({ kind: 'failed', code: 'PATH_OUTSIDE' });
    await racing.core.stop();
  });
});

describe('grep_search', () => {
  test('finds lines, the newest file first, at most a hundred, and says when there is more', async () => {
    writeFileSync(
      join(logs, 'noisy.log'),
      Array.from({ length: 5_000 }, (_, n) => `ERROR number ${n}`).join('\n'),
    );
    const result = await rig.call('detective', 'grep_search', { query: 'error number \\d+', path: logs });
    expect(result).toMatchObject({ kind: 'ok', data: { count: 100, complete: false } });
    const { matches } = (result as unknown as { data: { matches: { text: string }[] } }).data;
    expect(matches.at(-1)?.text).toBe('ERROR number 4999');
  });

  test('takes no more than a hundred, whoever asks for more', async () => {
    expect(
      await rig.call('detective', 'grep_search', { query: 'x', path: logs, max_results: 101 }),
    ).toMatchObject({ kind: 'refused', code: 'BAD_INPUT' });
  });

  test('a pattern made to explode takes no longer than any other', async () => {
    writeFileSync(join(logs, 'aaaa.log'), `${'a'.repeat(50_000)}!`);
    const cpuMs = cpuClock();
    const result = await rig.call('detective', 'grep_search', { query: '(a+)+$', path: `${logs}/aaaa.log` });
    expect(result).toMatchObject({ kind: 'ok', data: { count: 0 } });
    expect(cpuMs()).toBeLessThan(10_000);
  });

  test('searches the first 64 KiB of a line, and says that there may be more behind them', async () => {
    const long = `${'a'.repeat(64 * 1024 - 6)}needle${'b'.repeat(10)}hidden`;
    writeFileSync(join(logs, 'long.json'), `${long}\nneedle\n`);
    const search = (query: string) =>
      rig.call('detective', 'grep_search', { query, path: `${logs}/long.json` });
    expect(await search('needle')).toMatchObject({ kind: 'ok', data: { count: 2, complete: true } });
    expect(await search('hidden')).toMatchObject({ kind: 'ok', data: { count: 0, complete: false } });
  });

  test('looks into no secret file, no link and no binary file, and says how many', async () => {
    mkdirSync(join(app, 'mixed'));
    for (const name of ['.env', 'id_ed25519', 'server.key'])
      writeFileSync(join(app, 'mixed', name), 'needle\n');
    writeFileSync(join(app, 'mixed', 'data.bin'), Buffer.from('needle\0'));
    symlinkSync('/etc', join(app, 'mixed', 'etc'));
    writeFileSync(join(app, 'mixed', 'plain.conf'), 'needle\n');
    const result = await rig.call('detective', 'grep_search', { query: 'needle', path: 'mixed' });
    expect(result).toMatchObject({ kind: 'ok', data: { count: 1, matches: [{ line: 1 }] } });
    expect((result as { text: string }).text).toContain('5 not looked into');
  });

  test.each(['(?=a)', '(a)\\1', '[z-a]', '*', 'a{400}{400}', '('])(
    'refuses the pattern %s',
    async (query) => {
      expect(await rig.call('detective', 'grep_search', { query, path: logs })).toMatchObject({
        kind: 'refused',
        code: 'PATTERN',
      });
    },
  );
});

test('list_files names the largest, and how full the disk is; it follows no links', async () => {
  symlinkSync('/usr', join(logs, 'usr'));
  const result = await rig.call('detective', 'list_files', { path: logs, limit: 1 });
  expect(result).toMatchObject({
    kind: 'ok',
    data: {
      files: [{ path: join(logs, 'huge.log') }],
      complete: true,
      disk: { used_percent: expect.any(Number) },
    },
  });
});

test('list_files knows the fastest growth of all files, not of those it lists', async () => {
  const small = join(logs, 'growing.log');
  writeFileSync(small, '');
  const growing = setInterval(() => appendFileSync(small, 'x'.repeat(50_000)), 20);
  try {
    const input = { path: logs, limit: 1, watch_seconds: 1 };
    const result = await rig.call('detective', 'list_files', input);
    const data = (result.kind === 'ok' ? result.data : null) as unknown as Listing;
    expect(data.files.map(({ path }) => path)).toEqual([join(logs, 'huge.log')]);
    expect(data.files[0]?.growth_bytes_per_second).toBe(0);
    expect(data.fastest_growth).toBeGreaterThan(0);
  } finally {
    clearInterval(growing);
    rmSync(small);
  }
});

interface Listing {
  readonly files: readonly { readonly path: string; readonly growth_bytes_per_second: number }[];
  readonly fastest_growth: number;
}

test('a folder swapped for a link while a folder is walked shows nothing of where the link leads', async () => {
  const elsewhere = join(rig.host.dir, 'elsewhere');
  mkdirSync(join(elsewhere, 'inner'), { recursive: true });
  writeFileSync(join(elsewhere, 'inner', 'stolen'), 'x');
  for (const swapped of ['walked', 'walked/inner']) {
    mkdirSync(join(app, 'walked', 'inner'), { recursive: true });
    const walk = await walkInside(app, 'walked', {
      beforeOpen(folder) {
        if (!folder.endsWith('/walked/inner')) return;
        renameSync(join(app, swapped), join(app, `was-${swapped.length}`));
        symlinkSync(swapped === 'walked' ? elsewhere : join(elsewhere, 'inner'), join(app, swapped));
      },
    });
    expect(walk).toMatchObject({ ok: true, files: [], withheld: 1 });
    rmSync(join(app, swapped));
  }
});

describe('run_diagnostics', () => {
  test('runs a command of the whitelist and says how it ended', async () => {
    const result = await rig.call('detective', 'run_diagnostics', { command: 'df -h' });
    expect(result).toMatchObject({ kind: 'ok', data: { command: 'df -h', exit_code: 0 } });
    const tailed = await rig.call('validator', 'run_diagnostics', { command: `tail -n 2 ${logs}/many.log` });
    expect(tailed).toMatchObject({ kind: 'ok', data: { stdout: 'line 499\nline 500' } });
  });

  test.each([
    'rm -rf /',
    'ps aux; id',
    'ps aux && id',
    'ps aux | sh',
    'ps `id`',
    'ps $(id)',
    'df -h > out',
    'tail -f app.log',
    'tail -n 5 /etc/passwd',
    'curl -d @/etc/passwd http://localhost/',
    'curl file:///etc/passwd',
    'curl http://169.254.169.254/latest/meta-data/',
    'curl http://localhost:3000/metrics',
    'systemctl restart ssh',
    'ping -f localhost',
    '/bin/ps aux',
    'sudo ps aux',
  ])('refuses %s', async (command) => {
    const text = command.replace('app.log', `${logs}/many.log`);
    expect(await rig.call('detective', 'run_diagnostics', { command: text })).toMatchObject({
      kind: 'refused',
      code: 'COMMAND_REFUSED',
    });
  });

  test('refuses a command that would carry a secret away', async () => {
    const token = ['xoxb', '1234567890', 'abcdefghijklmnop'].join('-');
    const result = await rig.call('detective', 'run_diagnostics', {
      command: `curl http://localhost:8123/${token}`,
    });
    expect(result).toMatchObject({ kind: 'refused' });
  });

  test('an answer without end is cut, and its process is gone', async () => {
    let open = 0;
    const server = createServer((_request, response) => {
      open += 1;
      const timer = setInterval(() => response.write('x'.repeat(65_536)), 1);
      response.on('close', () => {
        clearInterval(timer);
        open -= 1;
      });
    });
    await new Promise<void>((listening) => server.listen(0, 'localhost', listening));
    const { port } = server.address() as AddressInfo;
    const result = await rig.call('detective', 'run_diagnostics', {
      command: `curl -s http://localhost:${port}/`,
    });
    expect(result).toMatchObject({ kind: 'ok', data: { cut: 'output' } });
    await expect.poll(() => open).toBe(0);
    server.close();
  });

  test('triage and the surgeon may not', async () => {
    for (const role of ['triage', 'surgeon'] as const)
      expect(await rig.call(role, 'run_diagnostics', { command: 'uptime' })).toMatchObject({
        code: 'ROLE_MAY_NOT',
      });
  });
});

test('a tool of hosts is refused on a target of another kind, and an undeclared service everywhere', async () => {
  expect(await rig.call('detective', 'read_file', { path: 'x' }, 'box')).toMatchObject({ kind: 'refused' });
  expect(await rig.call('surgeon', 'restart_service', { service: 'sshd' })).toMatchObject({
    kind: 'refused',
    code: 'HOST_NO_SERVICE',
  });
});
