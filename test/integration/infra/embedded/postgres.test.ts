import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import postgres, { type Sql } from 'postgres';
import { afterEach, describe, expect, test } from 'vitest';
import { OpsError } from '../../../../src/core/errors.ts';
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '../../../../src/infra/db/embedded/start-embedded-postgres.ts';
import { processIdentity } from '../../../../src/infra/process/process-identity.ts';
import { endProcessesUnder } from '../../../support/processes-under.ts';
import { quiet } from '../../../support/quiet.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import { heldBy, spawnHolder } from '../../../support/spawn-holder.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

/** A data folder whose server, whoever runs it, is gone after the test. */
function dataFolder(): string {
  const dataDir = join(scratchDir(), 'postgres');
  cleanUp.push(() => endProcessesUnder(dataDir));
  return dataDir;
}

function start(dataDir: string, more: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({ dataDir, name: 'held', log: quiet, ...more });
}

function connect(url: string): Sql {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  cleanUp.push(() => sql.end({ timeout: 1 }));
  // A connection that a test cuts on purpose must not end the run.
  return sql;
}

async function setting(sql: Sql, name: string): Promise<string> {
  const [row] = await sql<{ value: string }[]>`SELECT current_setting(${name}) AS value`;
  return row?.value ?? '';
}

function isAlive(pid: number): boolean {
  return processIdentity(pid) !== undefined;
}

async function faultOf(attempt: Promise<unknown>): Promise<OpsError> {
  const error = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof OpsError)) throw new Error(`expected an OpsError, got ${String(error)}`);
  return error;
}

describe('a first start', () => {
  test('gives a durable server on 127.0.0.1 only, with scram and a password only its owner can read', async () => {
    const dataDir = dataFolder();
    const server = await start(dataDir, { name: 'shop-db' });
    const sql = connect(server.url);
    expect(server.adopted).toBe(false);
    expect(new URL(server.url).pathname).toBe('/shop_db');
    expect(await setting(sql, 'listen_addresses')).toBe('127.0.0.1');
    expect(await setting(sql, 'cluster_name')).toBe('shop-db');
    for (const name of ['fsync', 'full_page_writes', 'synchronous_commit'])
      expect(await setting(sql, name)).toBe('on');
    const [role] = await sql<
      { hash: string }[]
    >`SELECT rolpassword AS hash FROM pg_authid WHERE rolname = current_user`;
    expect(role?.hash).toMatch(/^SCRAM-SHA-256\$/);
    expect(statSync(join(dataDir, 'server.json')).mode & 0o777).toBe(0o600);
    const wrong = new URL(server.url);
    wrong.password = 'wrong';
    await expect(connect(wrong.href)`SELECT 1`).rejects.toMatchObject({ code: '28P01' });
  });

  test('does not hand our environment to the server', async () => {
    const dataDir = dataFolder();
    const holder = await spawnHolder('postgres', dataDir);
    const { pid } = heldBy(holder);
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('xoxb');
    await holder.end('SIGTERM');
    expect(isAlive(pid), holder.log()).toBe(false);
  });
});

describe('the next start', () => {
  test('keeps the port and the data after a clean stop', async () => {
    const dataDir = dataFolder();
    const first = await start(dataDir);
    await connect(first.url)`CREATE TABLE kept AS SELECT 7 AS n`;
    await first.stop();
    expect(isAlive(first.pid)).toBe(false);
    const second = await start(dataDir);
    expect(second.port).toBe(first.port);
    expect(await connect(second.url)`SELECT n FROM kept`).toEqual([{ n: 7 }]);
  });

  test('of a copied data folder works with its own copy of the data', async () => {
    const dataDir = dataFolder();
    const first = await start(dataDir);
    await connect(first.url)`CREATE TABLE kept AS SELECT 7 AS n`;
    await first.stop();
    const copy = dataFolder();
    execFileSync('cp', ['-a', dataDir, copy]);
    const [original, copied] = await Promise.all([start(dataDir), start(copy)]);
    expect(copied.pid).not.toBe(original.pid);
    await connect(copied.url)`UPDATE kept SET n = 8`;
    expect(await connect(original.url)`SELECT n FROM kept`).toEqual([{ n: 7 }]);
  });

  test('adopts the server when our process was killed with -9', async () => {
    const dataDir = dataFolder();
    const holder = await spawnHolder('postgres', dataDir);
    const orphan = heldBy(holder);
    await holder.end('SIGKILL');
    expect(isAlive(orphan.pid)).toBe(true);
    const server = await start(dataDir);
    expect(server).toMatchObject({ adopted: true, pid: orphan.pid, port: orphan.port });
    await server.stop();
    expect(isAlive(orphan.pid)).toBe(false);
  });

  test('has every committed row when PostgreSQL was killed with -9, although its pid file is left', async () => {
    const dataDir = dataFolder();
    const first = await start(dataDir);
    const sql = connect(first.url);
    await sql`CREATE TABLE kept (n int)`;
    for (let n = 0; n < 50; n += 1) await sql`INSERT INTO kept VALUES (${n})`;
    process.kill(first.pid, 'SIGKILL');
    await first.exited;
    const second = await start(dataDir);
    expect(second).toMatchObject({ adopted: false, port: first.port });
    expect(await connect(second.url)`SELECT count(*)::int AS n FROM kept`).toEqual([{ n: 50 }]);
  });

  test('succeeds while a backend of the killed server is still in the middle of a query', async () => {
    const dataDir = dataFolder();
    const first = await start(dataDir);
    const busy = connect(first.url);
    const [backend] = await busy<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
    const query = busy`SELECT count(*) FROM generate_series(1, 1000000000000)`.catch(
      (error: unknown) => error,
    );
    await expect
      .poll(() => connect(first.url)`SELECT state FROM pg_stat_activity WHERE pid = ${backend?.pid ?? 0}`)
      .toEqual([{ state: 'active' }]);
    process.kill(first.pid, 'SIGKILL');
    await first.exited;
    const second = await start(dataDir);
    expect(await connect(second.url)`SELECT 1 AS n`).toEqual([{ n: 1 }]);
    expect(isAlive(backend?.pid ?? 0)).toBe(false);
    expect(await query).toBeInstanceOf(Error);
  });

  test('ignores a stale pid file that names a living process of the same user, and leaves that process alone', async () => {
    const dataDir = dataFolder();
    const first = await start(dataDir);
    await first.stop();
    const cluster = join(dataDir, 'cluster');
    const { uid, gid } = statSync(cluster);
    const foreign = spawn('sleep', ['300'], {
      stdio: 'ignore',
      ...(process.getuid?.() === 0 && { uid, gid }),
    });
    cleanUp.push(() => foreign.kill('SIGKILL'));
    const pidFile = `${foreign.pid}\n${cluster}\n1700000000\n${first.port}\n\n127.0.0.1\n  1234567         0\nready   \n`;
    writeFileSync(join(cluster, 'postmaster.pid'), pidFile);
    const { log, sentences } = recordedLog();
    const second = await start(dataDir, { log });
    expect(second.adopted).toBe(false);
    expect(sentences.join('\n')).toContain('names another program');
    expect(isAlive(foreign.pid ?? 0)).toBe(true);
  });

  test('takes another port, and says so, when its own was taken meanwhile', async () => {
    const dataDir = dataFolder();
    const first = await start(dataDir);
    await first.stop();
    const squatter = await listen(first.port);
    cleanUp.push(() => squatter.close());
    const { log, sentences } = recordedLog();
    const second = await start(dataDir, { log });
    expect(second.port).not.toBe(first.port);
    expect(sentences.join('\n')).toContain('port is taken');
    expect(await connect(second.url)`SELECT 1 AS n`).toEqual([{ n: 1 }]);
  });

  test('restarts the server for changed settings, which ALTER SYSTEM can still override', async () => {
    const dataDir = dataFolder();
    const holder = await spawnHolder('postgres', dataDir);
    await holder.end('SIGKILL');
    const server = await start(dataDir, { settings: { max_connections: '33' } });
    const sql = connect(server.url);
    expect(server.adopted).toBe(false);
    expect(await setting(sql, 'max_connections')).toBe('33');
    await sql`ALTER SYSTEM SET work_mem = '9MB'`;
    await sql`SELECT pg_reload_conf()`;
    await expect.poll(() => setting(sql, 'work_mem')).toBe('9MB');
  });
});

describe('several processes', () => {
  test('that start at once on a new folder get one server, which the last one to stop ends', async () => {
    const dataDir = dataFolder();
    const holders = await Promise.all([1, 2, 3].map(() => spawnHolder('postgres', dataDir)));
    const [one, two, three] = holders.map(heldBy);
    expect(new Set([one?.pid, two?.pid, three?.pid]).size).toBe(1);
    expect([one, two, three].filter((held) => held?.adopted === false)).toHaveLength(1);
    await holders[0]?.end('SIGTERM');
    await holders[1]?.end('SIGKILL');
    expect(await connect(three?.url ?? '')`SELECT 1 AS n`).toEqual([{ n: 1 }]);
    await holders[2]?.end('SIGTERM');
    expect(isAlive(three?.pid ?? 0)).toBe(false);
  });
});

describe('a start is refused with what to do', () => {
  test('when the data is of another major version', async () => {
    const dataDir = dataFolder();
    await (await start(dataDir)).stop();
    writeFileSync(join(dataDir, 'cluster', 'PG_VERSION'), '17\n');
    const fault = await faultOf(start(dataDir));
    expect(fault.code).toBe('POSTGRES_VERSION');
    expect(fault.hint).toMatch(/pg_dumpall[\s\S]*psql/);
  });

  test('when the running server does not take the remembered password', async () => {
    const dataDir = dataFolder();
    const holder = await spawnHolder('postgres', dataDir);
    const { pid } = heldBy(holder);
    await holder.end('SIGKILL');
    const path = join(dataDir, 'server.json');
    const state = JSON.parse(readFileSync(path, 'utf8')) as object;
    writeFileSync(path, JSON.stringify({ ...state, password: 'another' }));
    const fault = await faultOf(start(dataDir));
    expect(fault.code).toBe('POSTGRES_NOT_OURS');
    expect(fault.hint).toContain(`kill -INT ${pid}`);
    expect(isAlive(pid)).toBe(true);
  });

  test('when the cluster or its password is gone, instead of starting empty', async () => {
    const dataDir = dataFolder();
    await (await start(dataDir)).stop();
    const path = join(dataDir, 'server.json');
    const state = readFileSync(path);
    execFileSync('rm', [path]);
    expect((await faultOf(start(dataDir))).code).toBe('POSTGRES_PASSWORD_LOST');
    writeFileSync(path, state);
    execFileSync('rm', ['-r', join(dataDir, 'cluster')]);
    expect((await faultOf(start(dataDir))).code).toBe('POSTGRES_DATA_MISSING');
  });

  test('when the folder cannot be made', async () => {
    const file = join(scratchDir(), 'file');
    writeFileSync(file, '');
    const fault = await faultOf(start(join(file, 'postgres')));
    expect(fault.code).toMatch(/^(?:POSTGRES_|FOLDER$)/);
    expect(fault.hint).not.toBe('');
  });

  test('when a setting is wrong, in words of PostgreSQL', async () => {
    const fault = await faultOf(start(dataFolder(), { settings: { shared_buffers: 'plenty' } }));
    expect(fault.message).toContain('shared_buffers');
  });
});

function listen(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}
