import postgres, { type Sql } from 'postgres';
import { postgresConnection } from '../../../infra/process/postgres-connection.ts';
import { wireTypes } from './wire-types.ts';

interface ClientOptions {
  readonly url: string;
  /** Stays open and is opened again when lost. */
  readonly reserved: boolean;
}

const reopenAfterMs: readonly number[] = [100, 250, 500, 1_000];

/** The client of one connection, made when it is needed and made anew when it was lost. */
export interface ClientKeeper {
  connect(): Sql;
  /** Counts lost connections, so that a session never goes on over a connection it did not begin with. */
  epoch(): number;
  /** Throws the connection away. */
  discard(): Promise<void>;
  /** Waits a little longer after each failure, until it works again. Does nothing once closed. */
  reopenLater(): void;
  works(): void;
  isClosed(): boolean;
  close(): Promise<void>;
}

/** `reopen`: connects again, which ends in `works` or `reopenLater`. */
export function createClientKeeper(options: ClientOptions, reopen: () => Promise<void>): ClientKeeper {
  let client: Sql | undefined;
  let epoch = 0;
  let closed = false;
  let reopening: NodeJS.Timeout | undefined;
  let attempts = 0;

  function lose(): void {
    epoch += 1;
    if (options.reserved) reopenLater();
  }

  function reopenLater(): void {
    if (closed || reopening !== undefined) return;
    reopening = setTimeout(
      () => {
        reopening = undefined;
        void reopen();
      },
      reopenAfterMs[Math.min(attempts, reopenAfterMs.length - 1)],
    );
    reopening.unref();
    attempts += 1;
  }

  return {
    connect() {
      if (client !== undefined) return client;
      const opened = openClient(options, () => {
        // Ignore the close event of a client that we already replaced.
        if (client === opened) lose();
      });
      client = opened;
      return opened;
    },
    epoch: () => epoch,
    async discard() {
      const old = client;
      if (old === undefined) return;
      client = undefined;
      lose();
      await old.end({ timeout: 0 });
    },
    reopenLater,
    works() {
      attempts = 0;
    },
    isClosed: () => closed,
    async close() {
      closed = true;
      clearTimeout(reopening);
      await client?.end({ timeout: 1 });
    },
  };
}

function openClient({ url, reserved }: ClientOptions, onclose: () => void): Sql {
  const connection = postgresConnection(ownUrl(url));
  return postgres(connection.url, {
    ssl: connection.ssl,
    max: 1,
    prepare: false,
    fetch_types: false,
    connect_timeout: 5,
    keep_alive: 30,
    idle_timeout: reserved ? 0 : 10,
    // A reserved connection that is recycled could find its slot taken.
    max_lifetime: null,
    backoff: () => 0,
    onnotice: () => undefined,
    onclose,
    types: wireTypes as never,
    connection: { application_name: 'sentry' },
  });
}

/** postgres.js lets the URL's parameters win over ours; those that make Sentry recognisable and harmless must not. */
function ownUrl(url: string): string {
  const parsed = new URL(url);
  for (const name of [
    'application_name',
    'default_transaction_read_only',
    'options',
    'statement_timeout',
    'lock_timeout',
  ])
    parsed.searchParams.delete(name);
  return parsed.href;
}
