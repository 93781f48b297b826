import { setTimeout as sleep } from 'node:timers/promises';
import { openListener } from '../../src/infra/db/listen.ts';
import { quiet } from './quiet.ts';

export interface Bell {
  /**
   * Resolves at the next commit that the record tells of, counted from the call: ask for it before looking, so that nothing
   * comes in between. After 100 ms it resolves in any case.
   */
  next(): Promise<unknown>;
  close(): Promise<void>;
}

/** Rings when something is committed to a record: asking it over and over would take the processor from what is watched. */
export function openBell(url: string): Bell {
  const waiting = new Set<() => void>();
  const ring = (): void => {
    for (const wake of waiting) wake();
    waiting.clear();
  };
  const listener = openListener(url, { channel: 'sentry_bus', onNotice: ring, onState: ring, log: quiet });
  return {
    next: () => Promise.race([new Promise<void>((resolve) => void waiting.add(resolve)), sleep(100)]),
    close: () => listener.close(),
  };
}
