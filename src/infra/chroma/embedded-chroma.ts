import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, OpsError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { findProcesses } from '../process/find-processes.ts';
import { makeFolder } from '../process/make-folder.ts';
import type { ChildSpec, RunningChild } from '../supervisor/child-spec.ts';
import { startChild } from '../supervisor/start-child.ts';

export interface EmbeddedChromaOptions {
  /** Where it keeps everything; made when missing. */
  readonly dataDir: string;
  readonly log: Log;
  /** Wanted instead of the remembered port. Another one is taken, and said, when it is not free. */
  readonly port?: number;
  /** How long it may take to answer, ms; 30 s when not given, because a big collection is read first. */
  readonly readyMs?: number;
}

interface ChromaInfo {
  /** As CHROMA_HOST: `http://127.0.0.1:<port>`. */
  readonly host: string;
  readonly port: number;
}

export type EmbeddedChroma = RunningChild<ChromaInfo>;

/** Runs `embeddedChroma`. @throws OpsError with what to do. */
export function startEmbeddedChroma(options: EmbeddedChromaOptions): Promise<EmbeddedChroma> {
  return startChild(embeddedChroma(options));
}

/**
 * A real Chroma server on 127.0.0.1 from the `chromadb` package's own binding, with its data under `dataDir`. One left
 * behind by a kill is adopted, a hung one is replaced.
 */
export function embeddedChroma(options: EmbeddedChromaOptions): ChildSpec<ChromaInfo> {
  return {
    name: 'Chroma',
    log: options.log,
    dataDir: options.dataDir,
    port: options.port,
    readyMs: options.readyMs ?? 30_000,
    // What was acknowledged is on disk already, so SIGKILL loses nothing.
    stopSignals: [['SIGINT', 5_000]],
    // Two servers on one folder would ruin it, so it is told by its command line, not by a file we may not have written.
    find: (dataDir) =>
      findProcesses(
        (command) =>
          /\bcli\.mjs run\b/.test(command) && command.includes(`--path ${join(dataDir, 'data')} --`),
      )[0],
    prepare: (dataDir) => {
      makeFolder(join(dataDir, 'data'), 0o700);
      return {
        launch: (port) => {
          // `--path` is followed by another option: `find` tells a folder from one whose name it begins.
          const args = ['--path', join(dataDir, 'data'), '--host', '127.0.0.1', '--port', String(port)];
          // The program keeps a profile in HOME.
          return { command: [process.execPath, chromaCli(), 'run', ...args], env: { HOME: dataDir } };
        },
        ready: async ({ port }) => {
          if (!(await answers(port))) return undefined;
          // Another server on a port taken in the last moment answers, too: ours has ended by the second look.
          await sleep(100);
          return (await answers(port)) ? { host: `http://127.0.0.1:${port}`, port } : undefined;
        },
        // A taken port ends it with code 0 and words that change between versions.
        retry: async () => true,
      };
    },
    fault: chromaFault,
  };
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

/** Whether a Chroma server answers on this port. A hung one does not. */
async function answers(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v2/heartbeat`, {
      signal: AbortSignal.timeout(2_000),
    });
    const body: unknown = await answer.json();
    return answer.ok && typeof body === 'object' && body !== null && 'nanosecond heartbeat' in body;
  } catch {
    // Refused, reset, timed out or not JSON: no Chroma answers there now, which is what was asked.
    return false;
  }
}

function chromaFault(output: string, cause?: unknown): OpsError {
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
      : 'Read server.log in its data folder, which must be writable; a full disk is a frequent cause. Or set CHROMA_HOST to a Chroma server 1.x.',
    cause,
  });
}
