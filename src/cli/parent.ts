import type { Log } from '../core/log.ts';
import { within } from '../core/within.ts';
import type { ListeningSocket } from '../http/server.ts';

/** The process that starts Sentry again (scripts/lib/supervise.mjs), if there is one. */
export interface Parent {
  readonly isThere: boolean;
  /** The socket it has kept listening since the last start here; null: there was none, a port is to be chosen. */
  socket(): Promise<ListeningSocket | null>;
  /** From now on the parent keeps it, and answers on it whenever this process is gone. */
  keep(socket: ListeningSocket): void;
  /** From now on an end is a crash, not a start that failed. */
  tellReady(): void;
  /** Nothing is accepted here any more. */
  tellAway(): void;
}

/** What the parent says first. */
interface Greeting {
  readonly startedAgain: string | null;
  readonly listening: { readonly host: string; readonly port: number } | null;
}

/** The parent says it before this program is loaded; one that says nothing has kept no socket. */
const GREETING_MS = 5_000;

const NOBODY: Parent = {
  isThere: false,
  socket: async () => null,
  keep: () => undefined,
  tellReady: () => undefined,
  tellAway: () => undefined,
};

/** @param gone called when the parent has ended: nobody would start Sentry again, or stop it. */
export function watchParent(log: Log, gone: () => void): Parent {
  if (!process.connected) return NOBODY;
  process.once('disconnect', gone);
  const greeted = new Promise<ListeningSocket | null>((resolve) => {
    process.once('message', ({ startedAgain, listening }: Greeting, handle: unknown) => {
      if (startedAgain) log.warn({ because: startedAgain }, 'started again: Sentry had ended unexpectedly');
      resolve(listening && handle ? { ...listening, handle: handle as object } : null);
    });
  });
  // A start that fails ends by itself, with nothing left to do.
  process.channel?.unref();
  /** The parent may end in this very moment; `disconnect` tells. */
  const tell = (message: unknown, handle?: object): void => {
    if (process.connected) process.send?.(message, handle as never, {}, () => undefined);
  };
  return {
    isThere: true,
    socket: () =>
      within(GREETING_MS, greeted).catch((): null => {
        log.warn({}, 'the parent keeps no port');
        return null;
      }),
    keep: ({ host, port, handle }) => tell({ listening: { host, port } }, handle),
    tellReady: () => tell('ready'),
    tellAway: () => tell('away'),
  };
}
