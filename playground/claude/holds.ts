import type { HoldPoint } from './send.ts';

/** Where held and stalled streams wait until somebody lets them go. */
export interface Holds extends HoldPoint {
  release(): void;
  /** Resolves when a stream is being held. */
  held(): Promise<void>;
  count(): number;
}

export function createHolds(): Holds {
  const waiting = new Set<() => void>();
  let arrivals: (() => void)[] = [];
  return {
    wait: (response) =>
      new Promise((resolve) => {
        const go = () => {
          waiting.delete(go);
          resolve();
        };
        waiting.add(go);
        response.once('close', go);
        for (const arrived of arrivals) arrived();
        arrivals = [];
      }),
    release() {
      for (const go of waiting) go();
    },
    held: () => (waiting.size > 0 ? Promise.resolve() : new Promise((resolve) => arrivals.push(resolve))),
    count: () => waiting.size,
  };
}
