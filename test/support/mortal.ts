import { AsyncLocalStorage } from 'node:async_hooks';
import type { Sql } from '../../src/core/sql.ts';

/** One run of something that is to die right before its n-th write, as a process does: from then on nothing of it is written. */
interface Life {
  writes: number;
  readonly dieAt: number;
  readonly died: () => void;
}

const life = new AsyncLocalStorage<Life>();

/** Runs it until it ends or is dead; `dieAt` 0: never. */
export async function mortally(
  dieAt: number,
  run: () => Promise<void>,
): Promise<{ readonly writes: number; readonly isDead: boolean }> {
  return new Promise((resolve, reject) => {
    const own: Life = { writes: 0, dieAt, died: () => resolve({ writes: own.writes, isDead: true }) };
    void life.run(own, run).then(() => resolve({ writes: own.writes, isDead: false }), reject);
  });
}

const forever = new Promise<never>(() => undefined);

/** Counts what writes, a transaction as one: whoever dies within one has written nothing of it. The dead write no more. */
export function mortal(sql: Sql): Sql {
  const isDead = (): boolean => {
    const own = life.getStore();
    if (!own) return false;
    own.writes += 1;
    if (own.dieAt === 0 || own.writes < own.dieAt) return false;
    own.died();
    return true;
  };
  return new Proxy(sql, {
    apply: (_, self, args: unknown[]) => {
      const [text] = args as [readonly string[] | undefined];
      const writes = /^\s*(INSERT|UPDATE|DELETE|WITH|SELECT sentry_)/.test(text?.[0] ?? '');
      return writes && isDead() ? forever : Reflect.apply(sql as never, self, args);
    },
    get: (_, name, self) =>
      name === 'begin'
        ? (...args: unknown[]) =>
            isDead() ? forever : Reflect.apply(sql.begin as (...given: unknown[]) => unknown, sql, args)
        : Reflect.get(sql, name, self),
  });
}
