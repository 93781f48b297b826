import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { OpsError } from '../../../core/errors.ts';
import type { Log } from '../../../core/log.ts';
import { findProcesses } from '../../process/find-processes.ts';
import {
  commandLine,
  type ProcessIdentity,
  signalProcess,
  waitUntilGone,
} from '../../process/process-identity.ts';

export interface RunningChroma {
  readonly process: ProcessIdentity;
  readonly port: number;
}

/**
 * The server that works on this folder, whoever started it. Found by its command line, not by a file we might not
 * have come to write: two servers on one folder would ruin it.
 */
export function findChroma(folder: string): RunningChroma | undefined {
  const [process] = findProcesses(
    (command) => /\bcli\.mjs run\b/.test(command) && command.includes(`--path ${folder} --`),
  );
  if (process === undefined) return undefined;
  const port = Number(/--port (\d+)/.exec(commandLine(process.pid) ?? '')?.[1]);
  return { process, port };
}

const rotateAt = 10 * 1024 * 1024;

export interface SpawnedChroma {
  readonly pid: number;
  readonly output: () => string;
  readonly ended: Promise<void>;
}

/** Detached, in a session of its own: neither Ctrl-C in the terminal nor our death ends it. */
export function spawnChroma(dataDir: string, folder: string, port: number): SpawnedChroma {
  const logPath = join(dataDir, 'server.log');
  if ((statSync(logPath, { throwIfNoEntry: false })?.size ?? 0) > rotateAt)
    renameSync(logPath, `${logPath}.1`);
  const from = existsSync(logPath) ? statSync(logPath).size : 0;
  const log = openSync(logPath, 'a', 0o600);
  // `--path` is followed by another option: findChroma tells a folder from one whose name it begins.
  const args = [chromaCli(), 'run', '--path', folder, '--host', '127.0.0.1', '--port', String(port)];
  const child = spawn(process.execPath, args, {
    cwd: dataDir,
    detached: true,
    // Not our environment: it holds tokens and keys. HOME because the program keeps a profile there.
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: dataDir, TZ: 'UTC' },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  child.unref();
  const ended = new Promise<void>((resolve, reject) => {
    child.once('exit', () => resolve());
    child.once('error', reject);
  });
  ended.catch(() => undefined);
  return { pid: child.pid ?? -1, ended, output: () => readFileSync(logPath).subarray(from).toString('utf8') };
}

/** The package exports only its library; the program lies beside it. */
function chromaCli(): string {
  try {
    const cli = join(dirname(dirname(createRequire(import.meta.url).resolve('chromadb'))), 'cli.mjs');
    if (existsSync(cli)) return cli;
    throw new Error(`there is no ${cli}`);
  } catch (error) {
    throw new OpsError('CHROMA_NOT_INSTALLED', 'the package chromadb is not installed completely', {
      hint: 'Run "npm ci", or set CHROMA_HOST to a Chroma server 1.x.',
      cause: error,
    });
  }
}

/** Whether a Chroma server answers on this port within `timeoutMs`. A hung one does not. */
export async function heartbeat(port: number, timeoutMs: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v2/heartbeat`, {
      signal: AbortSignal.timeout(timeoutMs),
    });
    const body: unknown = await answer.json();
    return answer.ok && typeof body === 'object' && body !== null && 'nanosecond heartbeat' in body;
  } catch {
    // Refused, reset, timed out or not JSON: no Chroma answers there now, which is what was asked.
    return false;
  }
}

export async function heartbeatWhenReady(
  port: number,
  alive: () => boolean,
  timeoutMs: number,
): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    if (await heartbeat(port, 2_000)) return true;
    if (!alive() || Date.now() >= deadline) return false;
    await sleep(50);
  }
}

/**
 * What was acknowledged is on disk already, so the harder signal loses nothing.
 *
 * @param graceMs how long each of the softer signals may take; short for one that hangs anyway.
 */
export async function shutDownChroma(log: Log, identity: ProcessIdentity, graceMs = 5_000): Promise<void> {
  const steps = [
    ['SIGINT', graceMs],
    ['SIGTERM', graceMs],
    ['SIGKILL', 10_000],
  ] as const;
  for (const [signal, waitMs] of steps) {
    signalProcess(identity, signal);
    if (await waitUntilGone(identity, waitMs)) return;
    log.warn({ pid: identity.pid, signal, waitMs }, 'Chroma did not stop in time');
  }
  throw new OpsError('CHROMA_WILL_NOT_STOP', `Chroma (pid ${identity.pid}) does not end`, {
    hint: 'The system keeps it, probably over a disk that does not answer. Look at dmesg.',
  });
}
