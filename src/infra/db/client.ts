import postgres from 'postgres';
import type { Sql, Tx } from '../../core/sql.ts';
import { storableJson } from '../../core/storable.ts';
import { postgresConnection } from '../process/postgres-connection.ts';
import { begin, type Pool } from './begin.ts';

/** A pool of connections behind the `Sql` port. */
export interface Database {
  readonly sql: Sql;
  /** Waits for running statements, at most `timeoutMs`, and closes every connection. */
  close(timeoutMs?: number): Promise<void>;
}

/** What is under way on connections that are being given up may take this long to end. */
const RETIRE_SECONDS = 5;

/**
 * Opens a pool; nothing is connected before the first statement. When a connection is lost the whole pool is replaced:
 * postgres.js (3.4) keeps a connection that was reset under a statement, and never answers the next one on it. What was
 * under way fails with `CONNECTION_…` or `ECONN…`; what comes afterwards has new connections.
 */
export function openDatabase(
  url: string,
  options: { readonly max?: number; readonly name?: string; readonly role?: string | null } = {},
): Database {
  let closed = false;
  let pool = open();
  const retiring = new Set<Promise<void>>();

  function open(): OpenPool {
    const { url: plain, ssl } = postgresConnection(url);
    const client = postgres(plain, {
      ssl,
      max: options.max ?? 10,
      connect_timeout: 10,
      // Connections are closed by nothing but a loss and the end, see `onclose`.
      max_lifetime: null,
      onnotice: () => undefined,
      onclose: () => {
        opened.lost = true;
        replace(opened);
      },
      connection: {
        application_name: options.name ?? 'sentry',
        // What it acts as, from its first statement on.
        ...(options.role ? { role: options.role } : {}),
      },
      types,
    });
    const opened: OpenPool = { client: client as unknown as Client, lost: false };
    const { options: own } = opened.client;
    // Each new connection would ask for the types of arrays again, and postgres.js (3.4) leaves that question's end to
    // nobody: a server that goes away in the middle of it ends the process. Once they are known, none asks.
    Object.defineProperty(own, 'fetch_types', {
      get: () => Object.keys(own.shared.typeArrayMap).length === 0,
    });
    return opened;
  }

  function replace(lost: OpenPool): void {
    if (closed || pool !== lost) return;
    pool = open();
    // The types of arrays are asked for by the first connection, and known only to statements after its first one.
    const { options: to } = pool.client;
    const { options: from } = lost.client;
    Object.assign(to.parsers, from.parsers);
    Object.assign(to.serializers, from.serializers);
    Object.assign(to.shared, { typeArrayMap: from.shared.typeArrayMap });
    const retired = lost.client.end({ timeout: RETIRE_SECONDS }).finally(() => retiring.delete(retired));
    retiring.add(retired);
  }

  const sql: Sql = Object.assign(
    storing(() => pool.client as unknown as Tx),
    {
      begin: <T>(...args: readonly unknown[]): Promise<T> => {
        const use = args.at(-1) as (tx: Tx) => Promise<T>;
        return begin(pool, args.length > 1 ? String(args[0]) : '', (tx) => use(storing(() => tx)));
      },
    },
  );
  return {
    sql,
    async close(timeoutMs = 5_000) {
      closed = true;
      await Promise.all([pool.client.end({ timeout: timeoutMs / 1000 }), ...retiring]);
    },
  };
}

/**
 * The last boundary before the database: whatever a statement carries is such that PostgreSQL takes it, whoever said it.
 * A single NUL or half of a surrogate pair in a model's answer would have it refuse the row, and what waits for that row
 * would never end. What is hashed or signed must be storable before, or it would not be met again.
 */
function storing(tx: () => Tx): Tx {
  const run = (strings: TemplateStringsArray, ...values: readonly unknown[]) =>
    tx()(strings, ...values.map(storableJson));
  return Object.assign(run as unknown as Tx, {
    json: (value: unknown) => tx().json(storableJson(value)),
    array: (values: readonly unknown[]) => tx().array(storableJson(values) as readonly unknown[]),
  });
}

/** `shared` is postgres.js's own, and not in its types. */
type Client = postgres.Sql & { readonly options: { readonly shared: { readonly typeArrayMap: object } } };

type OpenPool = Pool & { readonly client: Client };

const types = {
  // Sequence numbers stay far below 2^53.
  int8: {
    to: 20,
    from: [20],
    serialize: (value: number) => String(value),
    parse: (text: string) => Number(text),
  },
  time: {
    to: 1184,
    from: [1114, 1184],
    serialize: (value: string | Date) => (value instanceof Date ? value.toISOString() : value),
    parse: (text: string) => new Date(text).toISOString(),
  },
};
