import { setImmediate as nextLoop } from 'node:timers/promises';
import type postgres from 'postgres';
import type { Tx } from '../../core/sql.ts';

/** A pool of postgres.js. `lost` is set in its `onclose`, before anybody else learns that a connection of it is closed. */
export interface Pool {
  readonly client: postgres.Sql;
  lost: boolean;
}

/**
 * A transaction that survives the loss of its connection: it rejects, and nothing more is said on that connection.
 *
 * postgres.js (3.4.9; porsager/postgres #1154, #1208) says the callback's next statement, and its own ROLLBACK or COMMIT,
 * to a connection that is closed as well. That throws outside of every promise, which ends the process, or is never answered.
 */
export async function begin<T>(pool: Pool, options: string, use: (tx: Tx) => Promise<T>): Promise<T> {
  let failure: { readonly reason: unknown } | undefined;

  /** Exact until the event loop turns again; the transaction itself rejects a few microtasks after its connection closed. */
  async function isClosed(): Promise<boolean> {
    if (!pool.lost) return false;
    await nextLoop();
    return failure !== undefined;
  }

  async function run<R extends object>(query: () => PromiseLike<readonly R[]>): Promise<readonly R[]> {
    if (await isClosed()) throw failure?.reason;
    return query();
  }

  const begun = pool.client.begin(options, async (driver) => {
    const tx = driver as unknown as Tx;
    const guarded: Tx = Object.assign(
      <R extends object>(strings: TemplateStringsArray, ...values: readonly unknown[]) =>
        whenAsked(() => run(() => tx<R>(strings, ...values))),
      { json: (value: unknown) => tx.json(value), array: (values: readonly unknown[]) => tx.array(values) },
    );
    const [used] = await Promise.allSettled([use(guarded)]);
    // Whatever comes back makes the driver speak. The caller has its answer already: this transaction has rejected.
    if (await isClosed()) return new Promise<never>(() => undefined);
    if (used.status === 'rejected') throw used.reason;
    return used.value;
  });
  begun.catch((reason: unknown) => {
    failure = { reason };
  });
  return begun as Promise<T>;
}

/** Like the driver's own statements: runs once, and only when somebody waits for it. */
function whenAsked<T>(work: () => Promise<T>): PromiseLike<T> {
  let running: Promise<T> | undefined;
  return {
    // A statement is a thenable by its port.
    // oxlint-disable-next-line unicorn/no-thenable
    then: (resolve, reject) => {
      running ??= work();
      return running.then(resolve, reject);
    },
  };
}
