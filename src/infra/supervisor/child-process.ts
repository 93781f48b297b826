import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, realpathSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { OpsError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { withFileLock } from '../process/file-lock.ts';
import {
  isRunning,
  type ProcessIdentity,
  processIdentity,
  signalProcess,
  waitUntilGone,
} from '../process/process-identity.ts';
import { readStateFile, writeStateFile } from '../process/state-file.ts';

export interface ChildProcessOptions<Info> {
  /** What it is called in messages. */
  readonly name: string;
  /** Its folder: `child.json` (what runs), `child.log` (what it printed). Made when missing. */
  readonly dataDir: string;
  /** Program and arguments, as `[process.execPath, 'dist/playground/slack/main.js', '--port', '3999']`. */
  readonly command: readonly [string, ...string[]];
  /** Its whole environment apart from PATH and TZ; ours is not inherited, because it holds tokens and keys. */
  readonly env?: Readonly<Record<string, string>>;
  /** Parses the value it prints when it is ready; throws when that is not what was expected. */
  readonly parse: (ready: unknown) => Info;
  /** Whether the one left by a killed process still works. It is ended and replaced when not. */
  readonly isHealthy: (info: Info) => Promise<boolean>;
  readonly log: Log;
  /** How long it may take to get ready, ms; 30 s when not given. */
  readonly readyMs?: number;
}

export interface RunningChild<Info> {
  readonly pid: number;
  readonly info: Info;
  /** Whether it ran already, left by a killed process. */
  readonly adopted: boolean;
  /** Resolves when it is gone for whatever reason. Does not keep our process alive. */
  readonly exited: Promise<void>;
  /** SIGTERM, and SIGKILL after 10 s. Can be repeated. */
  readonly stop: () => Promise<void>;
}

/** What is remembered between starts. `info` is missing while it gets ready. */
interface ChildState {
  readonly process: ProcessIdentity;
  /** Hash of command and environment: tells whether it is what would be started now, and keeps values off the disk. */
  readonly startedBy: string;
  readonly ready?: unknown;
}

/**
 * A process of our own that outlives us: detached, writing to a file. It says that it is ready by one line of JSON on
 * stdout, `{"ready": …}`: `parse` reads its value, or the whole line where that is `true`. One that was left behind by a kill is taken over when it was
 * started by the same command and is healthy; otherwise it is ended first, so that there is never a second.
 *
 * @throws OpsError CHILD_FAILED with the end of what it printed.
 */
export async function startChildProcess<Info>(
  options: ChildProcessOptions<Info>,
): Promise<RunningChild<Info>> {
  mkdirSync(options.dataDir, { recursive: true });
  const dataDir = realpathSync(options.dataDir);
  return withFileLock(join(dataDir, 'child.lock'), 90_000, async () => {
    const found = await adopt(options, dataDir);
    if (found !== undefined) return handle(options, found.process, found.info, true);
    const { identity, info } = await spawnReady(options, dataDir);
    return handle(options, identity, info, false);
  });
}

function handle<Info>(
  { name, log }: ChildProcessOptions<Info>,
  identity: ProcessIdentity,
  info: Info,
  adopted: boolean,
): RunningChild<Info> {
  log.info({ name, pid: identity.pid }, adopted ? `${name} was running: adopted` : `${name} started`);
  return {
    pid: identity.pid,
    info,
    adopted,
    exited: whenGone(identity),
    stop: () => end(name, log, identity),
  };
}

async function adopt<Info>(
  options: ChildProcessOptions<Info>,
  dataDir: string,
): Promise<{ readonly process: ProcessIdentity; readonly info: Info } | undefined> {
  const text = readStateFile(join(dataDir, 'child.json'));
  if (text === undefined) return undefined;
  const state = JSON.parse(text) as ChildState;
  if (!isRunning(state.process)) return undefined;
  if (state.ready !== undefined && state.startedBy === startHash(options)) {
    const info = options.parse(state.ready);
    if (await options.isHealthy(info)) return { process: state.process, info };
  }
  options.log.warn(
    { name: options.name, pid: state.process.pid },
    `${options.name} of an earlier start: replacing it`,
  );
  await end(options.name, options.log, state.process);
  return undefined;
}

function startHash({ command, env = {} }: Pick<ChildProcessOptions<unknown>, 'command' | 'env'>): string {
  return createHash('sha256')
    .update(JSON.stringify([command, env]))
    .digest('hex');
}

const rotateAt = 10 * 1024 * 1024;

async function spawnReady<Info>(
  options: ChildProcessOptions<Info>,
  dataDir: string,
): Promise<{ readonly identity: ProcessIdentity; readonly info: Info }> {
  const { name, command, env = {} } = options;
  const logPath = join(dataDir, 'child.log');
  if ((statSync(logPath, { throwIfNoEntry: false })?.size ?? 0) > rotateAt)
    renameSync(logPath, `${logPath}.1`);
  const file = openSync(logPath, 'a', 0o600);
  const from = statSync(logPath).size;
  const [program, ...args] = command;
  const child = spawn(program, args, {
    detached: true,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', TZ: 'UTC', ...env },
    stdio: ['ignore', file, file],
  });
  const failed = new Promise<unknown>((resolve) => child.once('error', resolve));
  closeSync(file);
  child.unref();
  const output = (): string => readFileSync(logPath).subarray(from).toString('utf8');
  const identity = processIdentity(child.pid ?? -1);
  if (identity === undefined)
    throw childFault(name, output(), child.pid === undefined ? await failed : undefined);
  const state: ChildState = { process: identity, startedBy: startHash(options) };
  writeStateFile(join(dataDir, 'child.json'), JSON.stringify(state));
  const ready = await readyValue(output, identity, options.readyMs ?? 30_000);
  if (ready === undefined) {
    await end(name, options.log, identity);
    throw childFault(name, output(), undefined);
  }
  writeStateFile(join(dataDir, 'child.json'), JSON.stringify({ ...state, ready }));
  return { identity, info: options.parse(ready) };
}

async function readyValue(
  output: () => string,
  identity: ProcessIdentity,
  readyMs: number,
): Promise<unknown> {
  const deadline = Date.now() + readyMs;
  for (;;) {
    const alive = isRunning(identity);
    const line = output()
      .split('\n')
      .slice(0, -1)
      .find((text) => text.startsWith('{"ready":'));
    if (line !== undefined) {
      const said = JSON.parse(line) as { readonly ready: unknown };
      return said.ready === true ? said : said.ready;
    }
    if (!alive || Date.now() >= deadline) return undefined;
    await sleep(25);
  }
}

async function end(name: string, log: Log, identity: ProcessIdentity): Promise<void> {
  signalProcess(identity, 'SIGTERM');
  if (await waitUntilGone(identity, 10_000)) return;
  log.warn({ name, pid: identity.pid }, `${name} did not stop in 10 s: killed`);
  signalProcess(identity, 'SIGKILL');
  await waitUntilGone(identity, 10_000);
}

async function whenGone(identity: ProcessIdentity): Promise<void> {
  while (isRunning(identity)) await sleep(250, undefined, { ref: false });
}

function childFault(name: string, output: string, cause: unknown): OpsError {
  const said = output.trim().split('\n').slice(-5).join(' | ').slice(-800);
  return new OpsError('CHILD_FAILED', `${name} did not get ready: ${said || 'it said nothing'}`, {
    retryable: true,
    hint: `Read child.log in its data folder; a port that is taken is a frequent cause.`,
    cause,
  });
}
