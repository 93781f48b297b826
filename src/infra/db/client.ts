import postgres from 'postgres';
import type { Sql } from '../../domain/sql.ts';

/** A pool of connections behind the `Sql` port. */
export interface Database {
  readonly sql: Sql;
  /** Waits for running statements, at most `timeoutMs`, and closes every connection. */
  close(timeoutMs?: number): Promise<void>;
}

/** Opens a pool; nothing is connected before the first statement. */
export function openDatabase(
  url: string,
  options: { readonly max?: number; readonly name?: string } = {},
): Database {
  const client = postgres(url, {
    max: options.max ?? 10,
    connect_timeout: 10,
    max_lifetime: null,
    onnotice: () => undefined,
    connection: { application_name: options.name ?? 'sentry' },
    types: {
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
    },
  });
  return {
    sql: client as unknown as Sql,
    close: (timeoutMs = 5_000) => client.end({ timeout: timeoutMs / 1000 }),
  };
}
