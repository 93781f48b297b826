import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, realpathSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { OpsError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { withFileLock } from '../process/file-lock.ts';
import { choosePort } from '../process/free-port.ts';
import {
  isRunning,
  type ProcessIdentity,
  processIdentity,
  signalProcess,
  waitUntilGone,
} from '../process/process-identity.ts';
import { type Holder, newHolder, otherHolders, readState, remember } from './child-state.ts';

/** One kind of child: what differs between PostgreSQL, Chroma and the playground's programs. */
export interface ChildSpec<Info extends object> {
  /** What it is called in messages. */
  readonly name: string;
  /** Its folder: `server.json` (what is remembered), `server.log` (what it printed). Made when missing. */
  readonly dataDir: string;
  readonly log: Log;
  /** Wanted instead of the remembered one; another one is taken, and said, when it is not free. Null: its command names it. */
  readonly port?: number | null | undefined;
  /** How long it may take to get ready, ms. */
  readonly readyMs: number;
  /** What ends it in order, softest first, and how long each may take, ms. SIGKILL follows. */
  readonly stopSignals: readonly (readonly [NodeJS.Signals, number])[];
  /** The process that works in its folder, whoever started it; told by its command line. */
  readonly find: (dataDir: string) => ProcessIdentity | undefined;
  /** Makes what it needs. */
  readonly prepare: (dataDir: string) => PreparedChild<Info>;
  /** What went wrong, in words for the operator. `output`: what it printed. */
  readonly fault: (output: string, cause?: unknown) => OpsError;
}

export interface PreparedChild<Info extends object> {
  readonly launch: (port: number | null) => Launch;
  /** Asks once: undefined when it is not ready yet, an error when waiting does not help. */
  readonly ready: (child: Candidate) => Promise<Info | OpsError | undefined>;
  /** Whether the one that runs is not what would be started now, and is replaced. `shared`: somebody else uses it. */
  readonly isOutdated: (found: ProcessIdentity, shared: boolean) => boolean;
  /** Given where one that runs and does not get ready must not be replaced: the error to throw. */
  readonly unusable?: (found: ProcessIdentity) => OpsError;
  /** Whether one that ended before it was ready may be started again; may clear the way first. */
  readonly retry?: (output: string) => Promise<boolean>;
}

export interface Launch {
  readonly command: readonly [string, ...string[]];
  /** Its whole environment apart from PATH and TZ; ours is not inherited, because it holds tokens and keys. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
}

/** A process that may get ready. */
export interface Candidate {
  readonly process: ProcessIdentity;
  readonly port: number | null;
  /** Whether it ran before this start. */
  readonly adopted: boolean;
  /** What it printed since it was started. */
  readonly output: () => string;
}

export type RunningChild<Info extends object> = Info & {
  readonly pid: number;
  /** Whether it ran already: left by a killed process, or shared with a living one. */
  readonly adopted: boolean;
  /** Resolves when it is gone for whatever reason. Does not keep our process alive. */
  readonly exited: Promise<void>;
  /** Ends it in order and waits; leaves it running while another living process uses it. Can be repeated. */
  readonly stop: () => Promise<void>;
};

/** Longer than any start or stop takes, recovery of a large database included. */
const lockWaitMs = 120_000;
const attempts = 5;
const rotateAt = 10 * 1024 * 1024;

/**
 * Starts a process that outlives ours: detached, in a session of its own, writing to a file, so that neither Ctrl-C in
 * the terminal nor our death ends it. One left behind by a kill is adopted. Safe to call from several processes at
 * once; they get the same child.
 *
 * @param holder who uses it; the same one over restarts.
 * @throws OpsError with what to do.
 */
export async function startChild<Info extends object>(
  spec: ChildSpec<Info>,
  holder: Holder = newHolder(),
): Promise<RunningChild<Info>> {
  try {
    mkdirSync(spec.dataDir, { recursive: true, mode: 0o755 });
    const dataDir = realpathSync(spec.dataDir);
    return await withFileLock(join(dataDir, 'lock'), lockWaitMs, () => startLocked(spec, dataDir, holder));
  } catch (error) {
    throw error instanceof OpsError ? error : spec.fault('', error);
  }
}

async function startLocked<Info extends object>(
  spec: ChildSpec<Info>,
  dataDir: string,
  holder: Holder,
): Promise<RunningChild<Info>> {
  const others = otherHolders(dataDir, holder);
  const prepared = spec.prepare(dataDir);
  const found = await adopt(spec, prepared, dataDir, others.length > 0);
  const { candidate, info } = found ?? (await spawnReady(spec, prepared, dataDir));
  remember(dataDir, { holders: [...others, holder] });
  const { process, port, adopted } = candidate;
  spec.log.info({ pid: process.pid, port }, `${spec.name} ${adopted ? 'was running: adopted' : 'started'}`);
  return {
    ...info,
    pid: process.pid,
    adopted,
    exited: whenGone(process),
    stop: () => letGo(spec, dataDir, process, holder),
  };
}

interface Ready<Info extends object> {
  readonly candidate: Candidate;
  readonly info: Info;
}

/** The one that runs already, once it is ready; undefined when one has to be started. */
async function adopt<Info extends object>(
  spec: ChildSpec<Info>,
  prepared: PreparedChild<Info>,
  dataDir: string,
  shared: boolean,
): Promise<Ready<Info> | undefined> {
  const process = spec.find(dataDir);
  if (process === undefined) return undefined;
  const { port, logFrom } = readState(dataDir);
  if (port !== undefined && !prepared.isOutdated(process, shared)) {
    const candidate = { process, port, adopted: true, output: outputFrom(dataDir, logFrom) };
    const info = await whenReady(spec, prepared, candidate);
    if (info instanceof OpsError) throw info;
    if (info !== undefined) return { candidate, info };
    if (!isRunning(process)) return undefined;
    if (prepared.unusable) throw prepared.unusable(process);
  }
  spec.log.warn({ pid: process.pid, port }, `${spec.name} of an earlier start cannot be used: replacing it`);
  await end(spec, process);
  return undefined;
}

async function spawnReady<Info extends object>(
  spec: ChildSpec<Info>,
  prepared: PreparedChild<Info>,
  dataDir: string,
): Promise<Ready<Info>> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await portFor(spec, dataDir);
    const launch = prepared.launch(port);
    const logFrom = openLog(dataDir);
    // Remembered first: whoever finds it after a kill of ours must know where it listens.
    remember(dataDir, { port, logFrom });
    const output = outputFrom(dataDir, logFrom);
    const { pid, ended } = spawnDetached(dataDir, launch);
    const process = processIdentity(pid);
    if (process !== undefined) {
      const candidate = { process, port, adopted: false, output };
      const info = await whenReady(spec, prepared, candidate);
      if (info !== undefined && !(info instanceof OpsError)) return { candidate, info };
      if (isRunning(process)) {
        await end(spec, process);
        throw info ?? spec.fault(output());
      }
    }
    await ended;
    if (attempt >= attempts || !(await prepared.retry?.(output()))) throw spec.fault(output());
  }
}

async function portFor(
  { name, log, port: wish }: ChildSpec<object>,
  dataDir: string,
): Promise<number | null> {
  if (wish === null) return null;
  const wanted = wish ?? readState(dataDir).port ?? undefined;
  const { port, moved } = await choosePort(wanted);
  if (moved) log.warn({ wanted, port }, `${name}: its port is taken, using another one`);
  return port;
}

/** @returns where in the log the words of the next start will begin, bytes. */
function openLog(dataDir: string): number {
  const path = join(dataDir, 'server.log');
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= rotateAt) return size;
  renameSync(path, `${path}.1`);
  return 0;
}

function outputFrom(dataDir: string, from = 0): () => string {
  return () => readFileSync(join(dataDir, 'server.log')).subarray(from).toString('utf8');
}

interface Spawned {
  readonly pid: number;
  /** Fails when it could not be executed at all. */
  readonly ended: Promise<void>;
}

function spawnDetached(dataDir: string, { command, env, cwd = dataDir, user }: Launch): Spawned {
  const [program, ...args] = command;
  const log = openSync(join(dataDir, 'server.log'), 'a', 0o600);
  const child: ChildProcess = spawn(program, args, {
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
  // Reported where it is awaited; a start that fails before is not an unhandled rejection.
  ended.catch(() => undefined);
  return { pid: child.pid ?? -1, ended };
}

async function whenReady<Info extends object>(
  { readyMs }: ChildSpec<Info>,
  { ready }: PreparedChild<Info>,
  candidate: Candidate,
): Promise<Info | OpsError | undefined> {
  const deadline = Date.now() + readyMs;
  for (;;) {
    const isAlive = isRunning(candidate.process);
    const info = await ready(candidate);
    // On a port taken in the last moment another server may have answered: ours has ended then.
    if (info !== undefined && isRunning(candidate.process)) return info;
    if (!isAlive || Date.now() >= deadline) return undefined;
    await sleep(30);
  }
}

async function letGo(
  spec: ChildSpec<object>,
  dataDir: string,
  process: ProcessIdentity,
  holder: Holder,
): Promise<void> {
  await withFileLock(join(dataDir, 'lock'), lockWaitMs, async () => {
    const others = otherHolders(dataDir, holder);
    remember(dataDir, { holders: others });
    const [other] = others;
    if (other === undefined) return end(spec, process);
    spec.log.info({ pid: process.pid, usedBy: other.pid }, `${spec.name} stays up: another process uses it`);
  });
}

/** The harder signals lose nothing that was acknowledged, but may cost a recovery. */
async function end(
  { name, log, stopSignals }: Pick<ChildSpec<object>, 'name' | 'log' | 'stopSignals'>,
  process: ProcessIdentity,
): Promise<void> {
  for (const [signal, waitMs] of [...stopSignals, ['SIGKILL', 10_000] as const]) {
    signalProcess(process, signal);
    if (await waitUntilGone(process, waitMs)) return;
    log.warn({ pid: process.pid, signal, waitMs }, `${name} did not stop in time`);
  }
  throw new OpsError('CHILD_WILL_NOT_STOP', `${name} (pid ${process.pid}) does not end`, {
    hint: 'The system keeps it, probably over a disk that does not answer. Look at dmesg.',
  });
}

async function whenGone(process: ProcessIdentity): Promise<void> {
  while (isRunning(process)) await sleep(250, undefined, { ref: false });
}
