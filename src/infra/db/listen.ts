import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { postgresConnection } from '../process/postgres-connection.ts';

/** A lost connection is noticed at once where the network tells; where it does not, within this time. */
const PROBE_MS = 15_000;
const PROBE_TIMEOUT_MS = 5_000;
const RETRY_MS = 250;
const RETRY_MAX_MS = 5_000;

export interface Listener {
  close(): Promise<void>;
}

/**
 * Hears `pg_notify(channel, …)` on one connection of its own, and begins anew whenever that is lost, for as long as it takes.
 * `onState` is told with true each time it hears again (what was said meanwhile is lost: look), and with false once it
 * does not. Behind a transaction pooler nothing is ever heard: who listens must also look.
 */
export function openListener(
  url: string,
  options: {
    /** An identifier of ours: it becomes part of a statement. */
    readonly channel: string;
    readonly onNotice: (payload: string) => void;
    readonly onState: (hearing: boolean) => void;
    readonly log: Log;
  },
): Listener {
  const { channel, onNotice, onState, log } = options;
  const closing = new AbortController();

  /** Resolves when the connection is lost or `close` was called. */
  async function listen(): Promise<void> {
    let lose: () => void = () => undefined;
    const lost = new Promise<void>((resolve) => {
      lose = resolve;
    });
    const { url: plain, ssl } = postgresConnection(url);
    const client = postgres(plain, {
      ssl,
      max: 1,
      connect_timeout: 5,
      idle_timeout: 0,
      max_lifetime: null,
      fetch_types: false,
      onnotice: () => undefined,
      onclose: () => lose(),
      connection: { application_name: 'sentry listens' },
      // The driver's own `listen` is built on this option, which its types leave out. We do not use that one: when the
      // server is away at the moment of reconnecting, it gives up.
      ...({ onnotify: (_: string, payload: string) => onNotice(payload) } as object),
    });
    const end = (): void => lose();
    closing.signal.addEventListener('abort', end, { once: true });
    let prober: NodeJS.Timeout | undefined;
    try {
      const late = setTimeout(lose, PROBE_TIMEOUT_MS);
      const heard = client.unsafe(`LISTEN "${channel}"`).then(() => true);
      // When the wait below is over before it, nobody handles its rejection any more.
      heard.catch(() => undefined);
      // A server that never answers would keep us here for good, and with us whoever calls `close`.
      const hears = await Promise.race([heard, lost.then(() => false)]).finally(() => clearTimeout(late));
      if (!hears) return;
      onState(true);
      prober = setInterval(() => {
        const late = setTimeout(lose, PROBE_TIMEOUT_MS);
        client`SELECT 1`.then(
          () => clearTimeout(late),
          () => lose(),
        );
      }, PROBE_MS);
      await lost;
    } finally {
      clearInterval(prober);
      closing.signal.removeEventListener('abort', end);
      onState(false);
      await client.end({ timeout: 0 }).catch(() => undefined);
    }
  }

  async function keepListening(): Promise<void> {
    let waitMs = RETRY_MS;
    while (!closing.signal.aborted) {
      const began = performance.now();
      try {
        await listen();
      } catch (error) {
        log.debug({ channel, error: messageOf(error) }, 'cannot listen to the database; trying again');
      }
      waitMs = performance.now() - began > RETRY_MAX_MS ? RETRY_MS : Math.min(RETRY_MAX_MS, waitMs * 2);
      await delay(waitMs, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  }

  const kept = keepListening();
  return {
    async close() {
      closing.abort();
      await kept;
    },
  };
}
