import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { productEnv, program, sentry } from '../../support/product.ts';
import { scratchDir } from '../../support/scratch-dir.ts';

const WAIT = { timeout: 60_000 };
let db: ScratchDatabase;
beforeAll(async () => {
  db = await scratchDatabase();
});
afterAll(() => db.drop());

/** A folder with a file of targets, in which the command runs. */
function folder(yaml: string | null) {
  const dataDir = scratchDir();
  const path = join(dataDir, 'sentry.yaml');
  if (yaml !== null) writeFileSync(path, yaml);
  mkdirSync(join(dataDir, 'logs'));
  const env = { READ_URL: db.url, AWAY_URL: 'postgres://nobody@127.0.0.1:1/none' };
  return {
    dataDir,
    path,
    env,
    text: () => readFileSync(path, 'utf8'),
    run: (args: readonly string[], input = '') => sentry({ dataDir, env }, ['targets', ...args], input),
  };
}

const orders = `# ours
targets:
    - name: orders-db      # by hand
      kind: postgres
      aliases: [db1, orders]
      read_url_env: 'READ_URL'
    # - name: old
`;

describe('sentry targets', WAIT, () => {
  test('lists each with its health, what may be done, and what is missing with the line to add', async () => {
    const { run } = folder(`${orders}    - { name: away, kind: postgres, read_url_env: AWAY_URL }
    - { name: unset, kind: postgres, read_url_env: NOT_SET }
`);
    const { code, stdout, stderr } = await run([]);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/✓ orders-db {2}postgres {2}production {2}acts: no\n {2}reachable \(system \d+\)/);
    expect(stdout).toContain(
      'it is investigated, never changed; to change that: act_url_env: ORDERS_DB_ACT_URL',
    );
    expect(stdout).toMatch(/✗ away .*\n.*\n {2}→ /);
    expect(stdout).toMatch(/✗ unset .*\n {2}sentry.yaml:9: target "unset": NOT_SET is not set/);
    expect(code).toBe(1);
    const { code: jsonCode, stdout: json } = await run(['--json']);
    expect(jsonCode).toBe(1);
    expect(JSON.parse(json)).toMatchObject([
      { name: 'orders-db', kind: 'postgres', environment: 'production', ok: true, may: { acts: false } },
      { name: 'away', ok: false, todo: expect.any(String) },
      { name: 'unset', ok: false },
    ]);
  });

  test('is content when all are well, and says that there are none', async () => {
    expect(await folder(orders).run([])).toMatchObject({ code: 0 });
    const { code, stdout } = await folder(null).run([]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('names no target')]);
  });

  test('names file, line and field of what cannot be read', async () => {
    const { code, stderr } = await folder(`${orders}    - { name: X, kind: postgres }\n`).run([]);
    expect(stderr).toContain('sentry.yaml:8: targets.1.name: lower-case letters');
    expect(code).toBe(4);
  });
});

describe('sentry targets add', WAIT, () => {
  test('writes the answers at the end of the list, and leaves the rest as it is to the byte', async () => {
    const { run, path, text, dataDir } = folder(orders);
    chmodSync(path, 0o640);
    const answers = [
      'host',
      'Web 1',
      'web-1',
      '',
      '[web-1.internal]',
      '',
      '',
      '',
      '',
      'logs',
      '',
      `[${join(dataDir, 'logs')}]`,
    ];
    const { code, stdout } = await run(['add'], `${answers.join('\n')}\n\n\n\n\n`);
    expect(stdout).toContain('lower-case letters');
    expect(stdout).toContain('expected');
    expect(stdout).toContain('web-1 is in sentry.yaml');
    expect(code).toBe(0);
    expect(text().startsWith(orders)).toBe(true);
    expect(parse(text())).toMatchObject({
      targets: [
        { name: 'orders-db' },
        { name: 'web-1', kind: 'host', aliases: ['web-1.internal'], roots: [join(dataDir, 'logs')] },
      ],
    });
    expect(readdirSync(dataDir).filter((name) => name.startsWith('sentry.yaml'))).toEqual(['sentry.yaml']);
  });

  test('asks nothing when all is given, and makes the file', async () => {
    const { run, path } = folder(null);
    const given = ['add', 'shop', '--kind', 'postgres', '--set', 'read_url_env=READ_URL'];
    expect(await run(given)).toMatchObject({ code: 0, stdout: expect.stringContaining('✓ shop: reachable') });
    expect(parse(readFileSync(path, 'utf8'))).toEqual({
      targets: [{ name: 'shop', kind: 'postgres', read_url_env: 'READ_URL' }],
    });
  });

  test.each([
    ['', 'an empty file'],
    ['targets:\n', 'an empty list'],
    ['targets: [{ name: a, kind: postgres, read_url_env: READ_URL }] # all\n', 'a list in brackets'],
    ['targets:\n- name: a\n  kind: postgres\n  read_url_env: READ_URL\n...\n', 'an end mark'],
  ])('continues %j', async (yaml) => {
    const { run, text } = folder(yaml);
    expect(await run(['add', 'b', '--kind', 'postgres', '--set', 'read_url_env=READ_URL'])).toMatchObject({
      code: 0,
    });
    expect(parse(text()).targets.at(-1)).toEqual({ name: 'b', kind: 'postgres', read_url_env: 'READ_URL' });
    expect(text()).toContain(yaml.includes('# all') ? '# all' : 'b');
  });

  test.each([
    ['a name that is taken', ['orders-db', '--kind', 'postgres', '--set', 'read_url_env=READ_URL'], 4],
    ['a kind nobody knows', ['b', '--kind', 'oracle'], 2],
    [
      'a field nobody knows',
      ['b', '--kind', 'postgres', '--set', 'read_url_env=READ_URL', '--set', 'x=1'],
      4,
    ],
    [
      'a credential',
      ['b', '--kind', 'postgres', '--set', 'read_url_env=postgres://u:hunter2hunter2@db/x'],
      4,
    ],
    ['what cannot be reached', ['b', '--kind', 'postgres', '--set', 'read_url_env=AWAY_URL'], 1],
    ['a variable that is not set', ['b', '--kind', 'postgres', '--set', 'read_url_env=NOT_SET'], 1],
    ['no field', ['b', '--kind', 'postgres', '--set', 'read_url_env'], 2],
  ])('refuses %s, and leaves the file as it was', async (_, args, exit) => {
    const { run, text } = folder(orders);
    const { code, stdout, stderr } = await run(['add', ...args]);
    expect({ code, text: text() }).toEqual({ code: exit, text: orders });
    expect(stdout + stderr).not.toContain('hunter2');
    expect(stderr).not.toBe('');
  });

  test('writes what cannot be reached when it is told to', async () => {
    const { run, text } = folder(orders);
    const args = ['add', 'b', '--kind', 'postgres', '--set', 'read_url_env=AWAY_URL'];
    expect(await run([...args, '--untried'])).toMatchObject({ code: 0 });
    expect(parse(text()).targets).toHaveLength(2);
  });

  test('leaves the file as it was when the answers end, or it is interrupted', async () => {
    const { run, text, dataDir, env, path } = folder(orders);
    const ended = await run(['add'], 'host\nweb-1\n');
    expect([ended.code, ended.stderr, text()]).toEqual([
      1,
      expect.stringContaining('Nothing was written'),
      orders,
    ]);
    const child = spawn(process.execPath, [program, 'targets', 'add'], {
      cwd: dataDir,
      env: productEnv({ dataDir, env }),
    });
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
    await new Promise<void>((resolve) => child.stdout.once('data', () => resolve()));
    child.stdin.write('host\nweb-1\n');
    child.kill('SIGINT');
    await closed;
    expect(text()).toBe(orders);
    expect(existsSync(path)).toBe(true);
    expect(readdirSync(dataDir).filter((name) => name.startsWith('sentry.yaml'))).toEqual(['sentry.yaml']);
  });
});
