import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, OpsError } from '../../../core/errors.ts';
import type { Log } from '../../../core/log.ts';
import { withFileLock } from '../../process/file-lock.ts';
import { choosePort } from '../../process/free-port.ts';
import { newHolder, otherHolders } from '../../process/holders.ts';
import { isRunning, type ProcessIdentity, processIdentity } from '../../process/process-identity.ts';
import {
  findChroma,
  heartbeat,
  heartbeatWhenReady,
  type RunningChroma,
  shutDownChroma,
  spawnChroma,
} from './chroma-process.ts';
import { readChromaState, writeChromaState } from './chroma-state.ts';

export interface EmbeddedChromaOptions {
  /** Where it keeps everything; made when missing. */
  readonly dataDir: string;
  readonly log: Log;
  /** Wanted instead of the remembered port. Another one is taken, and said, when it is not free. */
  readonly port?: number;
  /** How long it may take to answer, ms; 30 s when not given, because a big collection is read first. */
  readonly readyMs?: number;
}

export interface EmbeddedChroma {
  /** As CHROMA_HOST: `http://127.0.0.1:<port>`. */
  readonly host: string;
  readonly port: number;
  readonly pid: number;
  /** Whether it was running already: left by a killed process, or shared with a living one. */
  readonly adopted: boolean;
  /** Resolves when the server is gone for whatever reason. Does not keep our process alive. */
  readonly exited: Promise<void>;
  /** Ends it and waits; leaves it running while another living process uses it. Can be repeated. */
  readonly stop: () => Promise<void>;
}

const lockWaitMs = 90_000;
const readyDefaultMs = 30_000;

/**
 * A real Chroma server on 127.0.0.1 from the `chromadb` package's own binding, with its data under `dataDir`. It is a
 * process of its own that outlives ours; one left behind by a kill is adopted, a hung one is replaced. Safe to call
 * from several processes at once; they get the same server.
 *
 * @throws OpsError CHROMA_* with what to do.
 */
export async function startEmbeddedChroma(options: EmbeddedChromaOptions): Promise<EmbeddedChroma> {
  const folder = openFolder(options.dataDir);
  const dataDir = realpathSync(options.dataDir);
  return withFileLock(join(dataDir, 'lock'), lockWaitMs, async () => {
    const state = readChromaState(dataDir);
    const found = await adoptable(options, folder);
    const server = found ?? (await startServer(options, dataDir, folder, state.port));
    const { process: identity, port } = server;
    const holder = newHolder();
    const holders = [...otherHolders(state.holders, holder.token), holder];
    writeChromaState(dataDir, { version: 1, port, holders });
    options.log.info(
      { pid: identity.pid, port },
      found === undefined ? 'Chroma started' : 'Chroma was running: adopted',
    );
    return {
      host: `http://127.0.0.1:${port}`,
      port,
      pid: identity.pid,
      adopted: found !== undefined,
      exited: whenGone(identity),
      stop: () => stopServer(options.log, dataDir, identity, holder.token),
    };
  });
}

function openFolder(dataDir: string): string {
  try {
    mkdirSync(join(dataDir, 'data'), { recursive: true, mode: 0o700 });
    return realpathSync(join(dataDir, 'data'));
  } catch (error) {
    throw new OpsError('CHROMA_DATA_DIR', `cannot make the data folder of Chroma: ${messageOf(error)}`, {
      hint: 'Make its parent writable for the user who starts Sentry, or set CHROMA_HOST to a server of your own.',
      cause: error,
    });
  }
}

async function adoptable(
  { log, readyMs = readyDefaultMs }: EmbeddedChromaOptions,
  folder: string,
): Promise<RunningChroma | undefined> {
  const found = findChroma(folder);
  if (found === undefined) return undefined;
  const alive = (): boolean => isRunning(found.process);
  if (await heartbeatWhenReady(found.port, alive, readyMs)) return found;
  if (alive()) {
    log.warn({ pid: found.process.pid, port: found.port }, 'Chroma runs but does not answer: replacing it');
    await shutDownChroma(log, found.process, 500);
  }
  return undefined;
}

async function startServer(
  { log, port: chosen, readyMs = readyDefaultMs }: EmbeddedChromaOptions,
  dataDir: string,
  folder: string,
  remembered: number | undefined,
): Promise<RunningChroma> {
  let wanted = chosen ?? remembered;
  for (let attempt = 1; ; attempt += 1) {
    const { port, moved } = await choosePort(wanted);
    if (moved) log.warn({ wanted, port }, 'Chroma port is taken: using another one');
    const child = spawnChroma(dataDir, folder, port);
    const identity = processIdentity(child.pid);
    if (identity !== undefined && (await isUp(identity, port, readyMs))) return { process: identity, port };
    if (identity !== undefined && isRunning(identity)) {
      await shutDownChroma(log, identity);
      throw chromaFault(child.output(), undefined);
    }
    await child.ended.catch((error: unknown) => {
      throw chromaFault('', error);
    });
    // A taken port ends it with code 0 and words that change between versions; anything else fails again as well.
    if (attempt >= 3) throw chromaFault(child.output(), undefined);
    wanted = undefined;
  }
}

/** A server of somebody else might answer on a port taken in the last moment: ours has then ended by the second look. */
async function isUp(identity: ProcessIdentity, port: number, readyMs: number): Promise<boolean> {
  if (!(await heartbeatWhenReady(port, () => isRunning(identity), readyMs))) return false;
  await sleep(100);
  return isRunning(identity) && heartbeat(port, 2_000);
}

async function stopServer(
  log: Log,
  dataDir: string,
  identity: ProcessIdentity,
  token: string,
): Promise<void> {
  await withFileLock(join(dataDir, 'lock'), lockWaitMs, async () => {
    const state = readChromaState(dataDir);
    const living = otherHolders(state.holders, token);
    writeChromaState(dataDir, { ...state, holders: living });
    const other = living[0];
    if (other === undefined) return shutDownChroma(log, identity);
    log.info({ pid: identity.pid, usedBy: other.pid }, 'Chroma stays up: another process uses it');
  });
}

async function whenGone(identity: ProcessIdentity): Promise<void> {
  while (isRunning(identity)) await sleep(250, undefined, { ref: false });
}

function chromaFault(output: string, cause: unknown): OpsError {
  const lines = output.split('\n').map((line) => line.trim());
  const said = lines
    .filter((line) => /[a-z]/i.test(line) && !line.includes('\u001b'))
    .slice(-3)
    .join(' | ');
  const reason = said || (cause === undefined ? 'it said nothing' : messageOf(cause));
  const glibc = /GLIBC|bindings|Unsupported/.test(output);
  return new OpsError('CHROMA_FAILED', `cannot start the embedded Chroma: ${reason}`, {
    retryable: !glibc,
    hint: glibc
      ? 'Its binding does not run on this system. Set CHROMA_HOST to a Chroma server 1.x.'
      : 'Read server.log in its data folder; a full disk is a frequent cause. Or set CHROMA_HOST to a Chroma server 1.x.',
    cause,
  });
}
