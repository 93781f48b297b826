import { setTimeout as delay } from 'node:timers/promises';
import { type Receiver, SocketModeReceiver } from '@slack/bolt';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { within } from '../../core/within.ts';
import { boltLogger } from '../bolt-logger.ts';
import { socketRefusal } from '../outbound/socket-refusal.ts';
import { webClientOptions } from '../outbound/web-client.ts';
import type { SlackConnection } from '../ports.ts';

const HELLO_MS = 15_000;
const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 10_000;
const IF_IT_GOES_ON =
  'If it goes on: is Socket Mode on in the app’s settings, and is slack.com reached over HTTPS and wss?';

export interface SocketHooks {
  /** After every connect, the first included. */
  readonly connected: () => void;
  readonly count: (change: 1 | -1) => void;
}

/**
 * One Socket Mode connection that comes back by itself: at once after Slack's polite `disconnect`, with growing
 * pauses while Slack cannot be reached. The SDK's own reconnecting waits 5 s each time, gives up on network errors
 * with an unhandled rejection, and so is switched off.
 */
export function socketReceiver(
  connection: Extract<SlackConnection, { readonly kind: 'socket' }>,
  log: Log,
  hooks: SocketHooks,
): Receiver {
  const receiver = new SocketModeReceiver({
    appToken: connection.appToken,
    autoReconnectEnabled: false,
    logger: boltLogger(log),
    installerOptions: {
      clientOptions: { ...webClientOptions(connection, log), rejectRateLimitedCalls: false },
    },
    processEventErrorHandler: async ({ error }) => {
      log.error({ error: messageOf(error) }, 'an event from Slack was not taken in; Slack sends it again');
      return false;
    },
  });
  const { client } = receiver;
  const stopping = new AbortController();
  let loop: Promise<void> = Promise.resolve();

  /** `refused`: told instead of `first`, when a person has to change something before it can connect at all. */
  async function keepConnected(first: () => void, refused: (why: Error) => void): Promise<void> {
    let failures = 0;
    let wasConnected = false;
    let said: string | undefined;
    while (!stopping.signal.aborted) {
      let end: () => void = () => undefined;
      const gone = new Promise<void>((resolve) => {
        end = resolve;
      });
      client.on('disconnected', end);
      try {
        await connect();
        failures = 0;
        wasConnected = true;
        said = undefined;
        hooks.count(1);
        hooks.connected();
        first();
        await gone;
        hooks.count(-1);
      } catch (error) {
        failures += 1;
        const refusal = socketRefusal(error);
        const [problem, todo] = refusal ? [refusal.message, refusal.hint] : [messageOf(error), IF_IT_GOES_ON];
        const isFirst = refusal !== undefined && !wasConnected;
        if (isFirst) refused(refusal);
        // Tried every few seconds, and said once: a refusal at the start by whoever waits for it.
        if (!stopping.signal.aborted && !isFirst && problem !== said)
          log.warn({ error: problem, todo }, 'no Socket Mode connection; trying again');
        said = problem;
        const wait = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** failures);
        await delay(wait, undefined, { signal: stopping.signal }).catch(() => undefined);
      } finally {
        client.off('disconnected', end);
      }
    }
  }

  async function connect(): Promise<void> {
    await within(HELLO_MS, client.start(), async () => {
      await client.disconnect();
      throw new Error(`no hello within ${HELLO_MS} ms`);
    });
  }

  return {
    init: (app) => receiver.init(app),
    start: () =>
      new Promise<void>((resolve, reject) => {
        loop = keepConnected(resolve, reject);
      }),
    async stop() {
      stopping.abort();
      // With no socket open the SDK's disconnect resolves at once; a stuck close handshake is not waited for.
      await Promise.race([client.disconnect(), delay(1_000, undefined, { ref: false })]);
      await Promise.race([loop, delay(1_000, undefined, { ref: false })]);
    },
  };
}
