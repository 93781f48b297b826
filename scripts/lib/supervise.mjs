import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { createStandIn } from './stand-in.mjs';

/** Exit codes of src/cli/fail.ts that another start would only repeat: wrong usage, wrong configuration, no data folder. */
const REPEATED = new Set([2, 4, 5]);
/** Of src/cli/fail.ts: it ended by a fault of its own. */
const CRASHED = 70;
const MOST_ENDS = 5;
const WITHIN_MS = 60_000;
const PAUSES_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000];

/**
 * Runs Sentry as a child of this process and starts it again when it ends by a fault. SIGINT and SIGTERM are passed on
 * and end both; the child stops by itself when this process is gone (src/cli/parent.ts). While the child is away, its port
 * answers 503 (stand-in.mjs).
 *
 * @param {string[]} command arguments of Node: program and its arguments
 * @param {{ pausesMs?: number[], say?: (line: string) => void }} options given by tests
 * @returns {Promise<number>} the exit code to end with
 */
export async function supervise(
  command,
  { pausesMs = PAUSES_MS, say = (line) => process.stderr.write(`${line}\n`) } = {},
) {
  const stopping = new AbortController();
  const standIn = createStandIn();
  let child;
  for (const name of ['SIGINT', 'SIGTERM']) {
    process.on(name, () => {
      stopping.abort(name);
      standIn.end();
      child?.kill(name);
    });
  }
  const live = (ready) =>
    run(command, because, standIn, {
      started: (started) => {
        child = started;
      },
      ready,
    });
  const past = { everReady: false, crashes: [], failedStarts: 0 };
  let because = '';
  for (;;) {
    const end = await live();
    if (stopping.signal.aborted) return codeOf(end);
    const next = afterEnd(end, past, Date.now());
    if (next.kind === 'end') return codeOf(end);
    because = inWords(end);
    if (next.kind === 'give up') {
      say(
        `\n  Sentry ended ${MOST_ENDS} times within a minute (the last time: ${because}), so it is not started again.\n` +
          '  Its log says why. Start it again when that is mended.',
      );
      return codeOf(end) || 1;
    }
    const pauseMs = pausesMs[Math.min(next.attempt, pausesMs.length) - 1] ?? 0;
    say(`\n  Sentry ended unexpectedly (${because}). Starting it again in ${pauseMs / 1000} s …`);
    await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    if (!stopping.signal.aborted) continue;
    // Its embedded servers outlive it, and only Sentry itself ends them in order.
    say('  Starting it once more, to stop what it left running …');
    return codeOf(await live(() => child.kill(stopping.signal.reason)));
  }
}

/**
 * What to do about an end. A first start that fails has said why to whoever started it, and ends. Later a start may fail
 * because the database is away as well: that is tried for as long as it takes. Crashes are counted.
 *
 * @param {{ code: number | null, signal: string | null, wasReady: boolean }} end
 * @param {{ everReady: boolean, crashes: number[], failedStarts: number }} past changed here
 * @param {number} now ms
 * @returns {{ kind: 'end' } | { kind: 'give up' } | { kind: 'again', attempt: number }}
 */
export function afterEnd({ code, signal, wasReady }, past, now) {
  past.everReady ||= wasReady;
  if (code === 0 || REPEATED.has(code)) return { kind: 'end' };
  const isFailedStart = !wasReady && signal === null && code !== CRASHED;
  if (isFailedStart) {
    if (!past.everReady) return { kind: 'end' };
    past.failedStarts += 1;
    return { kind: 'again', attempt: past.failedStarts };
  }
  past.failedStarts = 0;
  past.crashes = [...past.crashes.filter((at) => now - at < WITHIN_MS), now];
  if (past.crashes.length >= MOST_ENDS) return { kind: 'give up' };
  return { kind: 'again', attempt: past.crashes.length };
}

/** One life of the child. */
async function run(command, because, standIn, { started, ready = () => undefined }) {
  const child = spawn(process.execPath, [...process.execArgv, ...command], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  started(child);
  let wasReady = false;
  let isAway = false;
  const leave = () => {
    isAway = true;
    standIn.answer();
  };
  child.on('message', (message, socket) => {
    wasReady ||= message === 'ready';
    if (message === 'ready') ready();
    if (message === 'away') leave();
    // It may tell of its port with its last breath: then that is known only now.
    if (message?.listening) standIn.keep(socket, message.listening, isAway);
  });
  // The first thing it hears: it waits for it. One that has ended takes no more messages; its end is what counts.
  const startedAgain = because === '' ? null : because;
  child.send({ startedAgain, listening: standIn.address() }, standIn.socket(), () => undefined);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      leave();
      resolve({ code, signal, wasReady });
    });
  });
}

/** As a shell reports it. */
function codeOf({ code, signal }) {
  return code ?? 128 + (constants.signals[signal] ?? 0);
}

function inWords({ code, signal }) {
  if (signal !== null) return `signal ${signal}`;
  return code === CRASHED ? 'an error in Sentry itself' : `exit code ${code}`;
}
