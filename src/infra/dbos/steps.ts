import { DBOS } from '@dbos-inc/dbos-sdk';
import { within } from '../../core/within.ts';
import type { TakenUp } from './earlier-tries.ts';

/**
 * Runs `fn` once per name and turn: after a crash its recorded result is returned instead. `anew`: what an earlier try of the
 * same turn got from this step says nothing about now.
 */
export type Durably = <T>(
  name: string,
  fn: () => Promise<T>,
  options?: { readonly anew?: boolean },
) => Promise<T>;

/** The steps of this process's workflows, which all end when it stops. */
export interface Steps {
  readonly durably: Durably;
  /** Aborted when the process stops. */
  readonly stopSignal: AbortSignal;
  stopping(): boolean;
  /** Begins no step any more, and waits for the running ones at most `drainMs`. */
  stop(drainMs: number): Promise<void>;
}

/**
 * While we stop, no step begins and none is recorded: what was cut off must run again elsewhere, not be replayed as a
 * failure. A step never settles then; its turn stays pending and is taken over.
 */
export function createSteps(): Steps {
  const ending = new AbortController();
  const inFlight = new Set<Promise<unknown>>();
  const stopping = (): boolean => ending.signal.aborted;

  async function unlessStopping<T>(fn: () => Promise<T>): Promise<T> {
    if (stopping()) return forever();
    const work = fn();
    inFlight.add(work);
    try {
      return await work.then(
        (result) => (stopping() ? forever() : result),
        (error: unknown) => {
          if (stopping()) return forever();
          throw error;
        },
      );
    } finally {
      inFlight.delete(work);
    }
  }

  return {
    durably: (name, fn) => DBOS.runStep(() => unlessStopping(fn), { name }),
    stopSignal: ending.signal,
    stopping,
    async stop(drainMs) {
      ending.abort();
      await within(drainMs, Promise.allSettled(inFlight), () => undefined);
    },
  };
}

/** `durably` for one turn, which takes up what its earlier tries finished. `ran`: it has finished a step that none of them had. */
export function createTurnSteps(
  { durably }: Steps,
  earlier: TakenUp | undefined,
): { readonly durably: Durably; readonly ran: boolean } {
  const begun = new Map<string, number>();
  const turn = {
    ran: false,
    async durably<T>(name: string, fn: () => Promise<T>, { anew = false } = {}): Promise<T> {
      const nth = begun.get(name) ?? 0;
      begun.set(name, nth + 1);
      let taken = anew;
      const result = await durably(name, async () => {
        const before = anew ? undefined : await earlier?.finished(name, nth);
        if (before) taken = true;
        return before ? (before.output as T) : fn();
      });
      if (!taken) turn.ran = true;
      return result;
    },
  };
  return turn;
}

/** The workflow of a process that stops neither ends nor fails: it is taken over as it stands. */
export const forever = (): Promise<never> => new Promise<never>(() => undefined);
