import { setTimeout as sleep } from 'node:timers/promises';
import postgres, { type Sql } from 'postgres';
import { OpsError } from '../../../core/errors.ts';
import type { SessionOptions } from '../../../tools/ports.ts';
import type { DescribedStatement, PostgresSession, Row } from '../system.ts';
import { type FaultPlace, isConnectionLoss, postgresFault } from './postgres-fault.ts';
import { wireTypes } from './wire-types.ts';

export interface SerialConnectionOptions {
  readonly url: string;
  readonly place: FaultPlace;
  readonly readOnly: boolean;
  /** Stays open and is opened again when lost; otherwise it closes after 10 s without work. */
  readonly reserved: boolean;
  /** Each use has a connection that nobody else has used or will use. */
  readonly singleUse?: boolean;
  /** Of this target: Sentry's own sessions are those of these roles that also call themselves so. */
  readonly ownRoles: readonly string[];
}

/** What a session may do on a connection that is its own. */
export interface SerialSession extends PostgresSession {
  describe(sql: string): Promise<DescribedStatement>;
}

/** One connection that one session at a time may use. */
export interface SerialConnection {
  /** Somebody uses it or waits for it. */
  busy(): boolean;
  /**
   * Waits its turn, makes sure the connection works (`opened` is then called), runs `work`.
   * Throws OpsError; `work` runs at most once.
   */
  use<T>(
    work: (session: SerialSession) => Promise<T>,
    options: SessionOptions,
    opened?: () => void,
  ): Promise<T>;
  /** Connects in the background, now rather than at first use. */
  open(): void;
  close(): Promise<void>;
}

/** How long a cancelled statement may take to end before its connection is thrown away. */
const cancelGraceMs = 2_000;
const keepaliveMs = 30_000;
const reopenAfterMs: readonly number[] = [100, 250, 500, 1_000];

/**
 * What each use begins with. Plain SET statements: a function of the target (`set_config`) is looked up by a path that
 * somebody may have changed, a statement is not. With the catalogue first, no function, operator or view of the target
 * can take the place of the one that a tool means. By SET rather than at connecting: pg_settings then still tells the
 * server's own values (reset_val) to the tools. Read tools stay out of the way: they wait at most 2 s for a lock.
 */
function limitsSql({ readOnly, ownRoles }: SerialConnectionOptions, timeoutMs: number): string {
  return [
    'SET search_path = pg_catalog, pg_temp',
    ...(readOnly ? ['SET default_transaction_read_only = on'] : []),
    `SET statement_timeout = ${timeoutMs}`,
    `SET lock_timeout = '${readOnly ? 2 : 5}s'`,
    "SET TimeZone = 'UTC'",
    "SET DateStyle = 'ISO, YMD'",
    'SET standard_conforming_strings = on',
    `SET sentry.own_roles = ${literal(JSON.stringify(ownRoles))}`,
  ].join('; ');
}

/** As a constant that means the same whatever `standard_conforming_strings` is. */
function literal(text: string): string {
  return `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

export function createSerialConnection(options: SerialConnectionOptions): SerialConnection {
  let client: Sql | undefined;
  /** Counts lost connections, so that a session never goes on over a connection it did not begin with. */
  let epoch = 0;
  let waiting = 0;
  let tail: Promise<unknown> = Promise.resolve();
  let closed = false;
  let reopening: NodeJS.Timeout | undefined;
  let attempts = 0;
  const keepalive = options.reserved ? setInterval(() => void ping(), keepaliveMs) : undefined;
  keepalive?.unref();

  function connect(): Sql {
    if (client !== undefined) return client;
    const opened = openClient(options, () => {
      // Ignore the close event of a client that we already replaced.
      if (client !== opened) return;
      epoch += 1;
      if (options.reserved && !closed) reopenLater();
    });
    client = opened;
    return opened;
  }

  async function discard(): Promise<void> {
    const old = client;
    if (old === undefined) return;
    client = undefined;
    epoch += 1;
    if (options.reserved && !closed) reopenLater();
    await old.end({ timeout: 0 });
  }

  function reopenLater(): void {
    if (reopening !== undefined) return;
    reopening = setTimeout(
      () => {
        reopening = undefined;
        void ping();
      },
      reopenAfterMs[Math.min(attempts, reopenAfterMs.length - 1)],
    );
    reopening.unref();
    attempts += 1;
  }

  /** Reconnects early, so the server cannot give our reserved connection slot away. A failure tries again later. */
  async function ping(): Promise<void> {
    if (closed || waiting > 0) return;
    try {
      await use(async () => undefined, { timeoutMs: 10_000, signal: new AbortController().signal });
      attempts = 0;
    } catch (error) {
      if (!(error instanceof OpsError)) throw error;
      if (!closed) reopenLater();
    }
  }

  async function use<T>(
    work: (session: SerialSession) => Promise<T>,
    session: SessionOptions,
    opened?: () => void,
  ): Promise<T> {
    if (closed) throw ended(options.place);
    const before = tail;
    let release = (): void => undefined;
    tail = new Promise<void>((resolve) => {
      release = resolve;
    });
    waiting += 1;
    const until = performance.now() + session.timeoutMs;
    try {
      await turn(before, session, options.place);
    } catch (error) {
      waiting -= 1;
      // Those behind us still wait for those before us.
      void before.then(release);
      throw error;
    }
    try {
      return await runSession(work, session, until, opened);
    } finally {
      waiting -= 1;
      release();
    }
  }

  async function runSession<T>(
    work: (session: SerialSession) => Promise<T>,
    session: SessionOptions,
    until: number,
    opened?: () => void,
  ): Promise<T> {
    const bounds = { place: options.place, signal: session.signal, until, discard };
    await prepare(bounds);
    const mine = epoch;
    const ours = (): Sql => {
      if (mine !== epoch) throw lost(options.place);
      return connect();
    };
    opened?.();
    try {
      return await work({
        query: async (sql, params = []) =>
          cancellable(ours().unsafe<Row[]>(sql, params as never, { simple: false } as never), bounds),
        describe: async (sql) => {
          const asked = ours().unsafe(sql, [], { prepare: true }).describe();
          const { types, columns } = await cancellable(asked, bounds);
          return { parameters: types, columns: columns.length };
        },
      });
    } finally {
      if (mine === epoch) await (options.singleUse ? discard() : leaveNothing());
    }
  }

  /** Sets the limits, which also proves the connection; a connection that died while idle is replaced once. */
  async function prepare(bounds: Bounds): Promise<void> {
    const set = async (): Promise<void> => {
      const left = Math.max(1, Math.ceil(bounds.until - performance.now()));
      await cancellable(connect().unsafe(limitsSql(options, left)).simple(), bounds);
    };
    try {
      await set();
    } catch (error) {
      if (!(error instanceof OpsError) || !isConnectionLoss(error.code) || closed) throw error;
      await sleep(50);
      await set();
    }
  }

  /** What one use set, locked or left open is no other's: a connection that cannot forget it is thrown away. */
  async function leaveNothing(): Promise<void> {
    const bounds = {
      place: options.place,
      signal: new AbortController().signal,
      until: performance.now() + cancelGraceMs,
      discard,
    };
    try {
      await cancellable(connect().unsafe('DISCARD ALL'), bounds);
    } catch (error) {
      if (!(error instanceof OpsError)) throw error;
      await discard();
    }
  }

  return {
    busy: () => waiting > 0,
    use,
    open: () => void ping(),
    async close() {
      closed = true;
      clearInterval(keepalive);
      clearTimeout(reopening);
      await client?.end({ timeout: 1 });
    },
  };
}

function openClient({ url, reserved }: SerialConnectionOptions, onclose: () => void): Sql {
  return postgres(ownUrl(url), {
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

/** Waits for the one before, but not beyond the time limit or an abort. */
async function turn(
  before: Promise<unknown>,
  { timeoutMs, signal }: SessionOptions,
  place: FaultPlace,
): Promise<void> {
  if (signal.aborted) throw aborted(place);
  await new Promise<void>((resolve, reject) => {
    const stop = (error: OpsError): void => {
      finish();
      reject(error);
    };
    const onAbort = (): void => stop(aborted(place));
    const timer = setTimeout(() => stop(timedOut(place, 'waiting for its connection')), timeoutMs);
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    void before.then(() => {
      finish();
      resolve();
    });
  });
}

interface Bounds {
  readonly place: FaultPlace;
  readonly signal: AbortSignal;
  /** By `performance.now()`. */
  readonly until: number;
  readonly discard: () => Promise<void>;
}

/**
 * Runs one statement, which is sent when it is first waited for; an abort or the time limit cancels it on the server, and
 * throws the connection away when that does not help.
 */
async function cancellable<T>(query: Promise<T>, { place, signal, until, discard }: Bounds): Promise<T> {
  if (signal.aborted) throw aborted(place);
  let why: OpsError | undefined;
  let cancelling: Promise<unknown> = Promise.resolve();
  const stop = (reason: OpsError): void => {
    if (why !== undefined) return;
    why = reason;
    cancelling = cancelOnServer(query, discard);
  };
  const onAbort = (): void => stop(aborted(place));
  // The server's own statement_timeout comes first; this is for a server that does not answer.
  const timer = setTimeout(
    () => stop(timedOut(place, 'running its statement')),
    Math.max(1, until - performance.now()) + 500,
  );
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await query;
  } catch (error) {
    // A cancel request that is still on its way would hit the next statement on this connection.
    await cancelling;
    const fault = why ?? postgresFault(place, error);
    // After a reset under a statement, postgres.js connects again but never answers the next one (3.4).
    if (isConnectionLoss(fault.code)) await discard();
    throw fault;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

/** Query.cancel() of postgres.js drops the promise of the request; when that fails, the process would end of it. */
async function cancelOnServer(query: Promise<unknown>, discard: () => Promise<void>): Promise<void> {
  const inner = query as unknown as { canceller: ((query: unknown) => Promise<void>) | null };
  const settled = query.then(
    () => true,
    () => true,
  );
  const asked = inner.canceller?.(query);
  inner.canceller = null;
  await Promise.race([asked?.catch(() => undefined), sleep(cancelGraceMs)]);
  const ended = await Promise.race([settled, sleep(cancelGraceMs, false)]);
  if (!ended) await discard();
}

function aborted(place: FaultPlace): OpsError {
  return new OpsError('POSTGRES_ABORTED', `${place.target}: stopped before it ended`, {
    hint: 'The call was stopped by a person, a timeout or a shutdown; call again.',
    retryable: true,
  });
}

function timedOut(place: FaultPlace, doing: string): OpsError {
  return new OpsError('POSTGRES_TIMEOUT', `${place.target}: took too long ${doing}`, {
    hint: 'The server does not answer in time, or other calls keep the connection; try again, or look at the host.',
    retryable: true,
  });
}

function lost(place: FaultPlace): OpsError {
  return new OpsError('POSTGRES_CONNECTION_CLOSED', `${place.target}: the connection was lost`, {
    hint: 'Sentry connects again by itself; call again.',
    retryable: true,
  });
}

function ended(place: FaultPlace): OpsError {
  return new OpsError('POSTGRES_CLOSED', `${place.target}: Sentry is shutting down`, {
    hint: 'Nothing was done; it is done after the next start.',
    retryable: true,
  });
}
