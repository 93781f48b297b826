import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { OpsError } from '../../../core/errors.ts';
import type { Log } from '../../../core/log.ts';
import type { Candidate, ChildSpec, PreparedChild, RunningChild } from '../../supervisor/child-spec.ts';
import { type ChildState, readState, remember } from '../../supervisor/child-state.ts';
import { startChild } from '../../supervisor/start-child.ts';
import { childEnv, type PostgresBinaries, postgresBinaries } from './binaries.ts';
import { checkVersion, initCluster, superuser, writeSettings } from './cluster.ts';
import { postgresFault } from './faults.ts';
import { logIn } from './login.ts';
import { endOrphanedBackends } from './orphaned-backends.ts';
import { chooseHome } from './place.ts';
import { disownPidFile, findPostmaster } from './postmaster.ts';
import { postgresUser, type RunAs } from './run-as.ts';

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

interface PostgresInfo {
  /** With the superuser's password: never print it. */
  readonly url: string;
  readonly port: number;
}

export type EmbeddedPostgres = RunningChild<PostgresInfo>;

/** What is remembered of it between starts. */
interface ServerState extends ChildState {
  /**
   * The folder that holds `cluster` when it is not the data folder itself (see `chooseHome`). Null otherwise, so that a
   * data folder that was moved or copied works with its own data.
   */
  readonly home: string | null;
  readonly password: string;
  /** True once initdb has finished: from then on a missing cluster is a loss, not a first start. */
  readonly initialised: boolean;
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

/** Runs `embeddedPostgres`. @throws OpsError with what to do. */
export function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  return startChild(embeddedPostgres(options));
}

/**
 * A real PostgreSQL on 127.0.0.1, made on first use (1 s) and kept under `dataDir`. One left behind by a kill is
 * adopted after a login with the remembered password.
 */
export function embeddedPostgres(options: EmbeddedPostgresOptions): ChildSpec<PostgresInfo> {
  const { name, log, dataDir, port } = options;
  return {
    name: `PostgreSQL "${name}"`,
    log,
    dataDir,
    port,
    readyMs: 60_000,
    // SIGINT ends sessions and writes a checkpoint; SIGQUIT costs a recovery.
    stopSignals: [
      ['SIGINT', 30_000],
      ['SIGQUIT', 10_000],
    ],
    find: (folder) => findPostmaster(clusterOf(folder)),
    prepare: (folder) => prepare(options, folder),
    fault: (output, cause) => postgresFault(name, 'start', output, cause),
  };
}

function prepare(options: EmbeddedPostgresOptions, dataDir: string): PreparedChild<PostgresInfo> {
  const { name, log, settings } = options;
  const runAs = postgresUser(clusterOf(dataDir));
  const binaries = postgresBinaries(runAs);
  const password = ensureCluster(name, dataDir, binaries, runAs);
  const cluster = clusterOf(dataDir);
  const changed = writeSettings(cluster, { ...defaults, cluster_name: name, ...settings }, runAs);
  return {
    launch: (port) => {
      disownPidFile(name, cluster, log);
      return { command: serverCommand(binaries, cluster, port), cwd: cluster, env: childEnv, user: runAs };
    },
    ready: (child) => letsUsIn(name, cluster, password, child),
    isOutdated: (_found, shared) => changed && !shared,
    // It may be busy with a long recovery.
    unusable: ({ pid }) => notOurs(name, pid, 'it lets nobody in'),
    retry: (output) => clearTheWay(cluster, output),
  };
}

/** Data folder, password and cluster exist afterwards; the password is on disk before anything depends on it. */
function ensureCluster(
  name: string,
  dataDir: string,
  binaries: PostgresBinaries,
  runAs: RunAs | undefined,
): string {
  const known = readState<ServerState>(dataDir);
  const cluster = clusterOf(dataDir);
  if (known.password === undefined) {
    if (existsSync(cluster)) throw passwordLost(name, dataDir);
    const password = randomBytes(24).toString('base64url');
    remember<ServerState>(dataDir, { home: chooseHome(dataDir, runAs), password, initialised: false });
    return ensureCluster(name, dataDir, binaries, runAs);
  }
  if (!existsSync(cluster)) {
    if (known.initialised) throw dataMissing(name, cluster, dataDir);
    initCluster(name, dirname(cluster), known.password, binaries, runAs);
  }
  if (!known.initialised) remember<ServerState>(dataDir, { initialised: true });
  checkVersion(name, cluster, binaries);
  return known.password;
}

/** Where the cluster of a data folder is. */
function clusterOf(dataDir: string): string {
  return join(readState<ServerState>(dataDir).home ?? dataDir, 'cluster');
}

/** Only 127.0.0.1, and no socket file (its path is limited to 107 bytes, which a deep checkout exceeds). */
function serverCommand({ postgres }: PostgresBinaries, cluster: string, port: number) {
  const set = (setting: string): readonly string[] => ['-c', setting];
  return [
    postgres,
    '-D',
    cluster,
    ...set('listen_addresses=127.0.0.1'),
    ...set(`port=${port}`),
    ...set('unix_socket_directories='),
  ] as const;
}

async function letsUsIn(
  name: string,
  cluster: string,
  password: string,
  { port, process, adopted }: Candidate,
): Promise<PostgresInfo | OpsError | undefined> {
  const urlOf = (database: string): string =>
    `postgres://${superuser}:${password}@127.0.0.1:${port}/${database}`;
  const database = name.replaceAll('-', '_');
  const login = await logIn(urlOf('postgres'), cluster, database);
  if (login.kind === 'unready') return undefined;
  if (login.kind === 'in') return { url: urlOf(database), port };
  return adopted ? notOurs(name, process.pid, login.reason) : postgresFault(name, 'log in to', login.reason);
}

/** Two failures pass by themselves or by our doing: somebody took the port, and backends that outlived their server. */
async function clearTheWay(cluster: string, output: string): Promise<boolean> {
  if (/could not bind/.test(output)) return true;
  if (!/pre-existing shared memory block/.test(output)) return false;
  await sleep(500);
  endOrphanedBackends(cluster);
  await sleep(500);
  return true;
}

function notOurs(name: string, pid: number, reason: string): OpsError {
  return new OpsError(
    'POSTGRES_NOT_OURS',
    `PostgreSQL "${name}" runs (pid ${pid}) but cannot be used: ${reason}`,
    {
      retryable: true,
      hint: `If nobody else uses it, end it with "kill -INT ${pid}" and start again.`,
    },
  );
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
