import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from 'postgres';
import { OpsError } from '../../../core/errors.ts';
import type { SessionOptions } from '../../../tools/ports.ts';
import type { DescribedStatement, PostgresSession, Row } from '../system.ts';
import { type ClientKeeper, createClientKeeper } from './client-keeper.ts';
import { type FaultPlace, isConnectionLoss, postgresFault } from './postgres-fault.ts';

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

/**
 * What each use begins with. Plain SET statements: a function of the target (`set_config`) is looked up by a path that
 * somebody may have changed, a statement is not. With the catalogue first, no function, operator or view of the target
 * can take the place of the one that a tool means; nor does what the database's owner sets for its sessions change it. By SET rather than at connecting: pg_settings then still tells the
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
    "SET IntervalStyle = 'postgres'",
    'SET quote_all_identifiers = off',
    'SET standard_conforming_strings = on',
    // A deferrable one waits until no other is under way.
    "SET default_transaction_isolation = 'read committed'",
    'SET default_transaction_deferrable = off',
    `SET sentry.own_roles = ${literal(JSON.stringify(ownRoles))}`,
  ].join('; ');
}

/** As a constant that means the same whatever `standard_conforming_strings` is. */
function literal(text: string): string {
  return `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

export function createSerialConnection(options: SerialConnectionOptions): SerialConnection {
  const { place, reserved } = options;
  const keeper = createClientKeeper(options, ping);
  const queue = createQueue(place);
  const keepalive = reserved ? setInterval(() => void ping(), keepaliveMs) : undefined;
  keepalive?.unref();

  async function use<T>(
    work: (session: SerialSession) => Promise<T>,
    session: SessionOptions,
    opened?: () => void,
  ): Promise<T> {
    if (keeper.isClosed()) throw ended(place);
    const until = performance.now() + session.timeoutMs;
    const bounds = { place, signal: session.signal, until, discard: keeper.discard };
    return queue.inTurn(session, async () => {
      await prepare(keeper, options, bounds);
      opened?.();
      return runSession(keeper, options, bounds, work);
    });
  }

  /** Reconnects early, so the server cannot give our reserved connection slot away. A failure tries again later. */
  async function ping(): Promise<void> {
    if (keeper.isClosed() || queue.busy()) return;
    try {
      await use(async () => undefined, { timeoutMs: 10_000, signal: new AbortController().signal });
      keeper.works();
    } catch (error) {
      if (!(error instanceof OpsError)) throw error;
      keeper.reopenLater();
    }
  }

  return {
    busy: queue.busy,
    use,
    open: () => void ping(),
    async close() {
      clearInterval(keepalive);
      await keeper.close();
    },
  };
}

/** Lets one after the other have the connection. */
function createQueue(place: FaultPlace) {
  let waiting = 0;
  let tail: Promise<unknown> = Promise.resolve();

  return {
    busy: () => waiting > 0,
    async inTurn<T>(session: SessionOptions, work: () => Promise<T>): Promise<T> {
      const before = tail;
      let release = (): void => undefined;
      tail = new Promise<void>((resolve) => {
        release = resolve;
      });
      waiting += 1;
      try {
        await turn(before, session, place);
        return await work();
      } finally {
        waiting -= 1;
        // Those behind us still wait for those before us, whether or not we did.
        void before.then(release);
      }
    },
  };
}

async function runSession<T>(
  keeper: ClientKeeper,
  { place, singleUse }: SerialConnectionOptions,
  bounds: Bounds,
  work: (session: SerialSession) => Promise<T>,
): Promise<T> {
  const mine = keeper.epoch();
  const ours = (): Sql => {
    if (mine !== keeper.epoch()) throw lost(place);
    return keeper.connect();
  };
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
    if (mine === keeper.epoch()) await (singleUse ? keeper.discard() : leaveNothing(keeper, place));
  }
}

/** Sets the limits, which also proves the connection; a connection that died while idle is replaced once. */
async function prepare(
  keeper: ClientKeeper,
  options: SerialConnectionOptions,
  bounds: Bounds,
): Promise<void> {
  const set = async (): Promise<void> => {
    const left = Math.max(1, Math.ceil(bounds.until - performance.now()));
    await cancellable(keeper.connect().unsafe(limitsSql(options, left)).simple(), bounds);
  };
  try {
    await set();
  } catch (error) {
    if (!(error instanceof OpsError) || !isConnectionLoss(error.code) || keeper.isClosed()) throw error;
    await sleep(50);
    await set();
  }
}

/** What one use set, locked or left open is no other's: a connection that cannot forget it is thrown away. */
async function leaveNothing({ connect, discard }: ClientKeeper, place: FaultPlace): Promise<void> {
  const signal = new AbortController().signal;
  const until = performance.now() + cancelGraceMs;
  try {
    await cancellable(connect().unsafe('DISCARD ALL'), { place, signal, until, discard });
  } catch (error) {
    if (!(error instanceof OpsError)) throw error;
    await discard();
  }
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
