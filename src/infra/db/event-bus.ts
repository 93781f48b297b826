import { messageOf } from '../../core/errors.ts';
import type { EventBus, Subscriber } from '../../core/event-bus.ts';
import type { Log } from '../../core/log.ts';
import { type Listener, openListener } from './listen.ts';

const CHANNEL = 'sentry_bus';
const SWEEP_MS = 30_000;
/** While nothing is heard, sweeps are all there is. A slow one waits longer, so that it does not wear the database out. */
const DEAF_SWEEP_MS = 500;
const REST = 4;

interface Subscription {
  readonly subscriber: Subscriber;
  /** Has the sweep run now, or once more after the one under way. */
  wake(): void;
  end(): Promise<void>;
}

/** The bus over PostgreSQL's NOTIFY. Before `start` and while the connection is lost, subscribers live on their sweeps. */
export function createEventBus(options: {
  readonly url: string;
  readonly log: Log;
  /** How often is swept while events are heard, and while they are not, ms. */
  readonly sweepMs?: number;
  readonly deafSweepMs?: number;
}): EventBus & { start(): void; stop(): Promise<void> } {
  const { url, log, sweepMs = SWEEP_MS, deafSweepMs = DEAF_SWEEP_MS } = options;
  const subscriptions = new Set<Subscription>();
  let listener: Listener | undefined;
  let hears = false;

  /** `topic id`. A topic that nobody here knows is of a newer version. */
  function onNotice(payload: string): void {
    const at = payload.indexOf(' ');
    const topic = payload.slice(0, at) as keyof Subscriber['on'];
    for (const { subscriber, wake } of subscriptions) {
      const react = subscriber.on[topic] as ((id: string) => void) | 'sweep' | undefined;
      if (react === 'sweep') wake();
      else react?.(payload.slice(at + 1));
    }
  }

  function onState(now: boolean): void {
    if (now === hears) return;
    hears = now;
    for (const { wake } of subscriptions) wake();
  }

  const restMs = (subscriber: Subscriber, tookMs: number, swept: boolean): number =>
    hears && swept ? (subscriber.everyMs ?? sweepMs) : Math.max(deafSweepMs, REST * tookMs);

  return {
    subscribe(subscriber) {
      const sweeping = keepSweeping(subscriber, { log, restMs });
      const subscription: Subscription = {
        subscriber,
        wake: sweeping.wake,
        async end() {
          subscriptions.delete(subscription);
          await sweeping.end();
        },
      };
      subscriptions.add(subscription);
      return subscription.end;
    },
    start() {
      listener = openListener(url, { channel: CHANNEL, onNotice, onState, log });
    },
    async stop() {
      await listener?.close();
      await Promise.all([...subscriptions].map(({ end }) => end()));
    },
  };
}

/** Sweeps, rests, and sweeps again, until it is ended; earlier when it is woken. */
function keepSweeping(
  subscriber: Subscriber,
  options: {
    readonly log: Log;
    readonly restMs: (subscriber: Subscriber, tookMs: number, swept: boolean) => number;
  },
): { wake(): void; end(): Promise<void> } {
  let ended = false;
  let isDue = false;
  let wakeUp = (): void => undefined;

  async function run(): Promise<void> {
    while (!ended) {
      isDue = false;
      const began = performance.now();
      const swept = await subscriber.sweep().then(
        () => true,
        (error: unknown) => {
          if (!ended)
            options.log.warn({ error: messageOf(error) }, 'cannot look for what has changed; trying again');
          return false;
        },
      );
      if (!isDue && !ended) await rest(options.restMs(subscriber, performance.now() - began, swept));
    }
  }

  async function rest(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      wakeUp = resolve;
      timer = setTimeout(resolve, ms).unref();
    });
    clearTimeout(timer);
  }

  const running = run();
  const wake = (): void => {
    isDue = true;
    wakeUp();
  };
  return {
    wake,
    async end() {
      ended = true;
      wake();
      await running;
    },
  };
}
