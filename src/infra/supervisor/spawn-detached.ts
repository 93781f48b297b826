import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** How to start a program. */
export interface Launch {
  readonly command: readonly [string, ...string[]];
  /** Its whole environment apart from PATH and TZ; ours is not inherited, because it holds tokens and keys. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
}

const rotateAt = 10 * 1024 * 1024;

/** @returns where in the log the words of the next start will begin, bytes. */
export function prepareLog(dataDir: string): number {
  const path = join(dataDir, 'server.log');
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= rotateAt) return size;
  renameSync(path, `${path}.1`);
  return 0;
}

/** What was printed since, and nothing when somebody removed the log. */
export function outputFrom(dataDir: string, from = 0): () => string {
  const path = join(dataDir, 'server.log');
  return () => (existsSync(path) ? readFileSync(path).subarray(from).toString('utf8') : '');
}

/**
 * In a session of its own, writing to the log: neither Ctrl-C in the terminal nor our death ends it. `ended` fails when
 * it could not be executed at all; its pid is then -1.
 */
export function spawnDetached(
  dataDir: string,
  { command, env, cwd = dataDir, user }: Launch,
): { readonly pid: number; readonly ended: Promise<void> } {
  const [program, ...args] = command;
  const log = openSync(join(dataDir, 'server.log'), 'a', 0o600);
  const child = spawn(program, args, {
    cwd,
    detached: true,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', TZ: 'UTC', ...env },
    stdio: ['ignore', log, log],
    ...user,
  });
  closeSync(log);
  child.unref();
  const ended = new Promise<void>((resolve, reject) => {
    child.once('exit', () => resolve());
    child.once('error', reject);
  });
  // Whoever awaits `ended` handles this; until then a failed start must not count as an unhandled rejection.
  ended.catch(() => undefined);
  return { pid: child.pid ?? -1, ended };
}
