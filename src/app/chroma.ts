import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { messageOf, OpsError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { embeddedChroma, startEmbeddedChroma } from '../infra/chroma/embedded-chroma.ts';
import { keepRunning } from '../infra/supervisor/keep-running.ts';

/** Nothing listens there (RFC 863's discard port): every call fails at once and is said. */
export const NO_CHROMA = 'http://127.0.0.1:9';

type Settings = Pick<Config, 'chromaHost' | 'dataDir'> & {
  readonly memory: Pick<Config['memory'], 'enabled'>;
};

/** The vector database of a start. `host` is null where there is none: memory is off, or it cannot be started here. */
export interface RunningChroma {
  readonly host: string | null;
  stop(): Promise<void>;
}

/** CHROMA_HOST, or the embedded server under the data folder, restarted whenever it dies; neither while memory is off. */
export async function startChroma(config: Settings, log: Log): Promise<RunningChroma> {
  const none: RunningChroma = { host: null, stop: async () => undefined };
  if (!config.memory.enabled) return none;
  if (config.chromaHost !== null) return { ...none, host: config.chromaHost };
  try {
    const kept = await keepRunning(embeddedChroma({ dataDir: join(config.dataDir, 'chroma'), log }));
    return { host: kept.current().host, stop: kept.stop };
  } catch (error) {
    // Memory advises: without it Sentry investigates all the same, and says in each thread what is missing.
    log.error({ error: messageOf(error) }, 'Chroma cannot be started; going on without that part of memory');
    return none;
  }
}

const NOT_USED = 'not used (MEMORY_ENABLED=false)';

/** For the first screen. One of one's own is asked, as it may be away. */
export async function chromaLine(config: Settings, host: string | null): Promise<string> {
  if (!config.memory.enabled) return NOT_USED;
  if (host === null) return 'cannot be started, the log says why; memory goes by words alone';
  if (config.chromaHost === null) return `embedded, at ${host}`;
  return askChroma(host, 2_000).then(
    () => `yours (${host})`,
    () => `yours (${host}) does not answer; until it does, memory goes by words alone`,
  );
}

/** For the doctor: tries what a start would use, and leaves it as it was. @throws OpsError CHROMA */
export async function checkChroma(config: Settings, log: Log): Promise<string> {
  if (!config.memory.enabled) return NOT_USED;
  if (config.chromaHost === null) {
    const chroma = await startEmbeddedChroma({ dataDir: join(config.dataDir, 'chroma'), log });
    await chroma.stop();
    return 'embedded, starts';
  }
  await askChroma(config.chromaHost, 5_000);
  return `${config.chromaHost} answers`;
}

/** Rejects when no Chroma answers there in time. */
export async function askChroma(host: string, timeoutMs: number): Promise<void> {
  const response = await fetch(new URL('/api/v2/heartbeat', host), {
    signal: AbortSignal.timeout(timeoutMs),
  });
  await response.body?.cancel();
  if (!response.ok)
    throw new OpsError('CHROMA', `${host} answers ${response.status}`, {
      hint: 'CHROMA_HOST must be a Chroma 1.x server.',
    });
}
