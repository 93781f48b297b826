import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { OpsError } from '../../../core/errors.ts';
import type { Log } from '../../../core/log.ts';
import { withFileLock } from '../../process/file-lock.ts';
import { choosePort } from '../../process/free-port.ts';
import { newHolder, otherHolders } from '../../process/holders.ts';
import { isRunning, type ProcessIdentity, processIdentity } from '../../process/process-identity.ts';
import { type PostgresBinaries, postgresBinaries } from './binaries.ts';
import { checkVersion, initCluster, superuser, writeSettings } from './cluster.ts';
import { postgresFault } from './faults.ts';
import { ensureDatabase, loginWhenReady } from './login.ts';
import { endOrphanedBackends } from './orphaned-backends.ts';
import { chooseHome } from './place.ts';
import { disownPidFile, findPostmaster, spawnPostmaster } from './postmaster.ts';
import { postgresUser, type RunAs } from './run-as.ts';
import { clusterOf, newState, readState, type ServerState, writeState } from './server-state.ts';
import { shutDown } from './shut-down.ts';

export interface EmbeddedPostgresOptions {
  /** Where it keeps everything; made when missing. Two servers need two folders. */
  readonly dataDir: string;
  /** What it is called in messages and in `cluster_name`; also the database's name, with `-` as `_`. */
  readonly name: string;
  readonly log: Log;
  /** Wanted instead of the remembered port. Another one is taken, and said, when it is not free. */
  readonly port?: number;
  /** PostgreSQL settings over the defaults below; changed ones restart a server that nobody else uses. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface EmbeddedPostgres {
  /** With the superuser's password: never print it. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Whether it was running already: left by a killed process, or shared with a living one. */
  readonly adopted: boolean;
  /** Resolves when the server is gone for whatever reason. Does not keep our process alive. */
  readonly exited: Promise<void>;
  /** Fast shutdown, waits for the end; leaves it running while another living process uses it. Can be repeated. */
  readonly stop: () => Promise<void>;
}

/** Durability stays on: fsync, full_page_writes and synchronous_commit are PostgreSQL's own defaults. */
const defaults: Readonly<Record<string, string>> = {
  max_connections: '100',
  shared_buffers: '64MB',
  max_wal_size: '256MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
};

/** Longer than any start or stop takes, recovery of a large WAL included. */
const lockWaitMs = 120_000;
const readyWaitMs = 60_000;

/**
 * A real PostgreSQL on 127.0.0.1, made on first use (1 s) and kept under `dataDir`. It is a process of its own that
 * outlives ours: one left behind by a kill is adopted after a login with the remembered password. Safe to call from
 * several processes at once; they get the same server.
 *
 * @throws OpsError POSTGRES_* with what to do.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  try {
    mkdirSync(options.dataDir, { recursive: true, mode: 0o755 });
    const dataDir = realpathSync(options.dataDir);
    return await withFileLock(join(dataDir, 'lock'), lockWaitMs, () => startLocked(options, dataDir));
  } catch (error) {
    throw postgresFault(options.name, 'start', '', error);
  }
}

async function startLocked(options: EmbeddedPostgresOptions, dataDir: string): Promise<EmbeddedPostgres> {
  const { state, cluster, runAs, binaries } = prepare(options, dataDir);
  const changed = writeSettings(
    cluster,
    { ...defaults, cluster_name: options.name, ...options.settings },
    runAs,
  );
  const holder = newHolder();
  const living = otherHolders(state.holders, holder.token);
  const found = await adoptable(options, cluster, state, changed && living.length === 0);
  const server = found ?? (await spawnServer(options, dataDir, cluster, state, binaries, runAs));
  const { process: identity, port } = server;
  writeState(dataDir, { ...state, port, initialised: true, holders: [...living, holder] });
  const database = options.name.replaceAll('-', '_');
  await ensureDatabase(urlOf(state, port, 'postgres'), database);
  const fields = { name: options.name, pid: identity.pid, port };
  options.log.info(fields, found === undefined ? 'PostgreSQL started' : 'PostgreSQL was running: adopted');
  return {
    url: urlOf(state, port, database),
    port,
    pid: identity.pid,
    adopted: found !== undefined,
    exited: whenGone(identity),
    stop: () => stopServer(options, dataDir, identity, holder.token),
  };
}

interface Prepared {
  readonly state: ServerState;
  readonly cluster: string;
  readonly runAs: RunAs | undefined;
  readonly binaries: PostgresBinaries;
}

/** Data folder, password and cluster exist afterwards; the password is on disk before anything depends on it. */
function prepare({ name }: EmbeddedPostgresOptions, dataDir: string): Prepared {
  const known = readState(dataDir);
  if (known === undefined && existsSync(join(dataDir, 'cluster'))) throw passwordLost(name, dataDir);
  const runAs = postgresUser(known === undefined ? undefined : clusterOf(dataDir, known));
  const state = known ?? newState(chooseHome(dataDir, runAs));
  const cluster = clusterOf(dataDir, state);
  const binaries = postgresBinaries(runAs);
  if (known === undefined) writeState(dataDir, state);
  if (!existsSync(cluster)) {
    if (state.initialised) throw dataMissing(name, cluster, dataDir);
    initCluster(name, dirname(cluster), state.password, binaries, runAs);
  }
  checkVersion(name, cluster, binaries);
  return { state, cluster, runAs, binaries };
}

interface Server {
  readonly process: ProcessIdentity;
  readonly port: number;
}

/** The running server of this cluster, once it let us in; undefined when one has to be started. */
async function adoptable(
  { name, log }: EmbeddedPostgresOptions,
  cluster: string,
  state: ServerState,
  restart: boolean,
): Promise<Server | undefined> {
  const found = findPostmaster(cluster);
  if (found.kind === 'foreign')
    log.warn({ name, pid: found.pid }, 'stale PostgreSQL pid file names another program: ignored');
  // A killed server whose pid nobody has collected yet is dead to us, and alive to PostgreSQL, which then refuses to start.
  if (found.kind === 'foreign' || found.kind === 'dead') disownPidFile(cluster);
  if (found.kind !== 'running') return undefined;
  if (restart) {
    log.info({ name, pid: found.process.pid }, 'PostgreSQL settings changed: restarting it');
    await shutDown(name, log, found.process);
    return undefined;
  }
  const alive = (): boolean => isRunning(found.process);
  const login = await loginWhenReady(urlOf(state, found.port, 'postgres'), alive, readyWaitMs);
  if (login.kind === 'in' && login.server.dataDirectory === cluster) return found;
  if (!alive()) return undefined;
  const reason = login.kind === 'in' ? `its data is in ${login.server.dataDirectory}` : login.reason;
  throw new OpsError(
    'POSTGRES_NOT_OURS',
    `PostgreSQL "${name}" runs (pid ${found.process.pid}) but cannot be used: ${reason}`,
    {
      retryable: true,
      hint: `If nobody else uses it, end it with "kill -INT ${found.process.pid}" and start again.`,
    },
  );
}

async function spawnServer(
  options: EmbeddedPostgresOptions,
  dataDir: string,
  cluster: string,
  state: ServerState,
  binaries: PostgresBinaries,
  runAs: RunAs | undefined,
): Promise<Server> {
  let wanted = options.port ?? state.port;
  for (let attempt = 1; ; attempt += 1) {
    const { port, moved } = await choosePort(wanted);
    if (moved)
      options.log.warn({ name: options.name, wanted, port }, 'PostgreSQL port is taken: using another one');
    const child = spawnPostmaster(binaries, cluster, port, join(dataDir, 'server.log'), runAs);
    const identity = processIdentity(child.pid);
    const alive = (): boolean => identity !== undefined && isRunning(identity);
    const login = await loginWhenReady(urlOf(state, port, 'postgres'), alive, readyWaitMs);
    if (identity !== undefined && login.kind === 'in' && login.server.dataDirectory === cluster && alive()) {
      return { process: identity, port };
    }
    if (identity !== undefined && alive()) {
      await shutDown(options.name, options.log, identity);
      throw postgresFault(options.name, 'log in to', login.kind === 'in' ? '' : login.reason);
    }
    await child.ended;
    const output = child.output();
    if (attempt >= 5 || !(await clearedTheWay(cluster, output)))
      throw postgresFault(options.name, 'start', output);
    wanted = /could not bind/.test(output) ? undefined : wanted;
  }
}

/** Two failures pass by themselves or by our doing: somebody took the port, and backends that outlived their server. */
async function clearedTheWay(cluster: string, output: string): Promise<boolean> {
  if (/could not bind/.test(output)) return true;
  if (!/pre-existing shared memory block/.test(output)) return false;
  await sleep(500);
  endOrphanedBackends(cluster);
  await sleep(500);
  return true;
}

async function stopServer(
  { name, log }: EmbeddedPostgresOptions,
  dataDir: string,
  identity: ProcessIdentity,
  token: string,
): Promise<void> {
  await withFileLock(join(dataDir, 'lock'), lockWaitMs, async () => {
    const state = readState(dataDir);
    const living = state === undefined ? [] : otherHolders(state.holders, token);
    if (state !== undefined) writeState(dataDir, { ...state, holders: living });
    const other = living[0];
    if (other === undefined) return shutDown(name, log, identity);
    log.info({ name, pid: identity.pid, usedBy: other.pid }, 'PostgreSQL stays up: another process uses it');
  });
}

async function whenGone(identity: ProcessIdentity): Promise<void> {
  while (isRunning(identity)) await sleep(250, undefined, { ref: false });
}

function urlOf(state: ServerState, port: number, database: string): string {
  return `postgres://${superuser}:${state.password}@127.0.0.1:${port}/${database}`;
}

function passwordLost(name: string, dataDir: string): OpsError {
  return new OpsError(
    'POSTGRES_PASSWORD_LOST',
    `the data of "${name}" in ${dataDir} is there, its server.json is not`,
    {
      hint: 'Restore server.json (it holds the password) from a backup, or move the folder away to start with an empty database.',
    },
  );
}

function dataMissing(name: string, cluster: string, dataDir: string): OpsError {
  return new OpsError('POSTGRES_DATA_MISSING', `the data of "${name}" is gone: there is no ${cluster}`, {
    hint: `Restore that folder from a backup, or remove ${dataDir} to start with an empty database.`,
  });
}
