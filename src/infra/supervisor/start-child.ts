import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { OpsError } from '../../core/errors.ts';
import { withFileLock } from '../process/file-lock.ts';
import { choosePort } from '../process/free-port.ts';
import { makeFolder } from '../process/make-folder.ts';
import {
  isRunning,
  type ProcessIdentity,
  processIdentity,
  signalProcess,
  waitUntilGone,
} from '../process/process-identity.ts';
import type { Candidate, ChildSpec, PreparedChild, RunningChild } from './child-spec.ts';
import { type Holder, newHolder, otherHolders, readState, remember } from './child-state.ts';
import { outputFrom, prepareLog, spawnDetached } from './spawn-detached.ts';

/** Longer than any start or stop takes, recovery of a large database included. */
const lockWaitMs = 120_000;
const attempts = 5;

/**
 * Starts a process that outlives ours, or adopts the one that was left behind by a kill. Safe to call from several
 * processes at once; they get the same child.
 *
 * @param holder who uses it; the same one over restarts.
 * @throws OpsError with what to do.
 */
export async function startChild<Info extends object>(
  spec: ChildSpec<Info>,
  holder: Holder = newHolder(),
): Promise<RunningChild<Info>> {
  try {
    makeFolder(spec.dataDir);
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
  if (port !== undefined && !prepared.isOutdated?.(process, shared)) {
    const candidate = { process, port, adopted: true, output: outputFrom(dataDir, logFrom) };
    const info = await whenReady(spec, prepared, candidate);
    if (info instanceof OpsError) throw info;
    if (info !== undefined) return { candidate, info };
    if (!isRunning(process)) return undefined;
    if (prepared.unusable) throw prepared.unusable(process);
  }
  spec.log.warn({ pid: process.pid, port }, `${spec.name} of an earlier start is replaced`);
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
    const logFrom = prepareLog(dataDir);
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

async function portFor({ name, log, port: wish }: ChildSpec<object>, dataDir: string): Promise<number> {
  const wanted = wish ?? readState(dataDir).port;
  if (wanted === 0) return 0;
  const { port, moved } = await choosePort(wanted);
  if (moved) log.warn({ wanted, port }, `${name}: its port is taken, using another one`);
  return port;
}

async function whenReady<Info extends object>(
  { readyMs }: ChildSpec<Info>,
  { ready }: PreparedChild<Info>,
  candidate: Candidate,
): Promise<Info | OpsError | undefined> {
  const deadline = performance.now() + readyMs;
  for (;;) {
    const isAlive = isRunning(candidate.process);
    const info = await ready(candidate);
    // On a port taken in the last moment another server may have answered: ours has ended then.
    if (info !== undefined && isRunning(candidate.process)) return info;
    if (!isAlive || performance.now() >= deadline) return undefined;
    await sleep(30);
  }
}

async function letGo(
  spec: ChildSpec<object>,
  dataDir: string,
  process: ProcessIdentity,
  holder: Holder,
): Promise<void> {
  if (isFolderGone(dataDir)) return endAtOnce(spec, process);
  await withFileLock(join(dataDir, 'lock'), lockWaitMs, async () => {
    const others = otherHolders(dataDir, holder);
    remember(dataDir, { holders: others });
    const [other] = others;
    if (other === undefined) return end(spec, process);
    spec.log.info({ pid: process.pid, usedBy: other.pid }, `${spec.name} stays up: another process uses it`);
  });
}

/** Somebody removed it, with what we remember in it: nobody can use its child any more. */
export const isFolderGone = (dataDir: string): boolean => !existsSync(join(dataDir, 'server.json'));

/** It has nothing left to save. */
const endAtOnce = (spec: ChildSpec<object>, process: ProcessIdentity): Promise<void> =>
  end({ ...spec, stopSignals: spec.stopSignals.slice(-1) }, process);

/** The harder signals lose nothing that was acknowledged, but may cost a recovery. */
async function end({ name, log, stopSignals }: ChildSpec<object>, process: ProcessIdentity): Promise<void> {
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
