import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine, type ProcessIdentity, processIdentity } from '../../process/process-identity.ts';
import { readStateFile } from '../../process/state-file.ts';
import { childEnv, type PostgresBinaries } from './binaries.ts';
import type { RunAs } from './run-as.ts';

/** What `postmaster.pid` of a cluster means, after looking at the process it names. */
export type Postmaster =
  | { readonly kind: 'none' }
  /** Names nobody alive, or a zombie. */
  | { readonly kind: 'dead' }
  /** Names a living process that is no PostgreSQL on this cluster: the pid was reused. */
  | { readonly kind: 'foreign'; readonly pid: number }
  | { readonly kind: 'running'; readonly process: ProcessIdentity; readonly port: number };

export function findPostmaster(cluster: string): Postmaster {
  const text = readStateFile(join(cluster, 'postmaster.pid'));
  if (text === undefined) return { kind: 'none' };
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  const identity = processIdentity(pid);
  if (identity === undefined) return { kind: 'dead' };
  const command = commandLine(pid) ?? '';
  if (!command.includes('postgres') || !command.includes(`-D ${cluster} `)) return { kind: 'foreign', pid };
  return { kind: 'running', process: identity, port: Number(lines[3]) };
}

/**
 * Makes a pid file that names a foreign or a dead process harmless. It is not deleted: PostgreSQL reads the shared memory id in
 * it to see whether backends of a killed server still write to the data. Our own pid in the first line is what it
 * does not mind, being its parent.
 */
export function disownPidFile(cluster: string): void {
  const path = join(cluster, 'postmaster.pid');
  const [, ...rest] = readFileSync(path, 'utf8').split('\n');
  writeFileSync(path, [String(process.pid), ...rest].join('\n'));
}

export interface SpawnedServer {
  readonly pid: number;
  /** What it printed since it was started. */
  readonly output: () => string;
  /** Fails when it could not be executed at all; never resolves before it ended. */
  readonly ended: Promise<void>;
}

const rotateAt = 10 * 1024 * 1024;

/**
 * Detached, in a session of its own: neither Ctrl-C in the terminal nor our death ends it. Only 127.0.0.1, and no
 * socket file (its path is limited to 107 bytes, which a deep checkout exceeds).
 */
export function spawnPostmaster(
  binaries: PostgresBinaries,
  cluster: string,
  port: number,
  logPath: string,
  runAs: RunAs | undefined,
): SpawnedServer {
  if ((statSync(logPath, { throwIfNoEntry: false })?.size ?? 0) > rotateAt)
    renameSync(logPath, `${logPath}.1`);
  const from = existsSync(logPath) ? statSync(logPath).size : 0;
  const log = openSync(logPath, 'a', 0o600);
  const args = [
    '-D',
    cluster,
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    `port=${port}`,
    '-c',
    'unix_socket_directories=',
  ];
  const child = spawn(binaries.postgres, args, {
    cwd: cluster,
    detached: true,
    env: childEnv,
    stdio: ['ignore', log, log],
    ...runAs,
  });
  closeSync(log);
  child.unref();
  const ended = new Promise<void>((resolve, reject) => {
    child.once('exit', () => resolve());
    child.once('error', reject);
  });
  // Reported where it is awaited; a start that fails before is not an unhandled rejection.
  ended.catch(() => undefined);
  return { pid: child.pid ?? -1, ended, output: () => readFileSync(logPath).subarray(from).toString('utf8') };
}
