import postgres from 'postgres';
import type { Sql, Tx } from '../../domain/sql.ts';
import { storableJson } from '../../domain/storable.ts';

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
  let client = open();
  const retiring = new Set<Promise<void>>();

  function open(): Client {
    const opened = postgres(url, {
      max: options.max ?? 10,
      connect_timeout: 10,
      // Connections are closed by nothing but a loss and the end, see `onclose`.
      max_lifetime: null,
      onnotice: () => undefined,
      onclose: () => replace(opened as unknown as Client),
      connection: {
        application_name: options.name ?? 'sentry',
        // What it acts as, from its first statement on.
        ...(options.role ? { role: options.role } : {}),
      },
      types,
    });
    return opened as unknown as Client;
  }

  function replace(lost: Client): void {
    if (closed || client !== lost) return;
    client = open();
    // The types of arrays are asked for by the first connection, and known only to statements after its first one.
    Object.assign(client.options.parsers, lost.options.parsers);
    Object.assign(client.options.serializers, lost.options.serializers);
    Object.assign(client.options.shared, { typeArrayMap: lost.options.shared.typeArrayMap });
    const retired = lost.end({ timeout: RETIRE_SECONDS }).finally(() => retiring.delete(retired));
    retiring.add(retired);
  }

  const sql: Sql = Object.assign(
    storing(() => client),
    {
      begin: async <T>(...args: readonly unknown[]): Promise<T> => {
        const use = args.at(-1) as (tx: Tx) => Promise<T>;
        const inside = (tx: unknown): Promise<T> => use(storing(() => tx as Client));
        const begun = args.length > 1 ? client.begin(String(args[0]), inside) : client.begin(inside);
        return begun as Promise<T>;
      },
    },
  );
  return {
    sql,
    async close(timeoutMs = 5_000) {
      closed = true;
      await Promise.all([client.end({ timeout: timeoutMs / 1000 }), ...retiring]);
    },
  };
}

/**
 * The last boundary before the database: whatever a statement carries is such that PostgreSQL takes it, whoever said it.
 * A single NUL or half of a surrogate pair in a model's answer would have it refuse the row, and what waits for that row
 * would never end. What is hashed or signed must be storable before, or it would not be met again.
 */
function storing(client: () => Client): Tx {
  const run = (strings: TemplateStringsArray, ...values: readonly unknown[]) =>
    client()(strings, ...(values.map(storableJson) as never[]));
  return Object.assign(run as unknown as Tx, {
    json: (value: unknown) => client().json(storableJson(value) as never),
    array: (values: readonly unknown[]) => client().array(storableJson(values) as never),
  });
}

/** `shared` is postgres.js's own, and not in its types. */
type Client = postgres.Sql & { readonly options: { readonly shared: { readonly typeArrayMap: object } } };

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
