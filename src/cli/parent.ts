import type { Log } from '../core/log.ts';

/** The process that starts Sentry again (scripts/lib/supervise.mjs), if there is one. */
export interface Parent {
  readonly isThere: boolean;
  /** From now on an end is a crash, not a start that failed. */
  tellReady(): void;
}

/** @param gone called when the parent has ended: nobody would start Sentry again, or stop it. */
export function watchParent(log: Log, gone: () => void): Parent {
  if (!process.connected) return { isThere: false, tellReady: () => undefined };
  process.once('disconnect', gone);
  process.on('message', (message: { readonly startedAgain?: unknown }) => {
    if (typeof message.startedAgain === 'string')
      log.warn({ because: message.startedAgain }, 'started again: Sentry had ended unexpectedly');
  });
  // A start that fails ends by itself, with nothing left to do.
  process.channel?.unref();
  return {
    isThere: true,
    tellReady: () => {
      // The parent may end in this very moment; `disconnect` tells.
      if (process.connected) process.send?.('ready', () => undefined);
    },
  };
}
