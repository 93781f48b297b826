import { count } from '../../../core/count.ts';
import { OpsError } from '../../../core/errors.ts';
import { age, oneLine } from '../../format.ts';
import { blockingGraph } from '../read/blocking-graph.ts';
import { exactTime, type SessionFacts, sessionColumns, sessionFacts, who } from '../read/session-columns.ts';
import type { SessionKey } from '../read/session-key.ts';
import type { PostgresSession } from '../system.ts';

/** What a session is and holds, before something is done to it. */
export interface SessionState {
  readonly facts: SessionFacts;
  /** It has an xid: it wrote something that its end takes back. */
  readonly hasWritten: boolean;
  readonly lockedTables: readonly string[];
  readonly locks: number;
  /** One line each: who waits behind it. */
  readonly waiters: readonly string[];
  /** Pids of the sessions it waits for itself; 0 stands for a prepared transaction. */
  readonly blockedBy: readonly number[];
  /** The target's clock, text with microseconds. */
  readonly clock: string;
}

/**
 * Reads the session and refuses what must never be signalled.
 *
 * @throws OpsError GONE (also when the pid belongs to a later session, and when it only waits and holds nobody up),
 * POSTGRES_HIDDEN, POSTGRES_OWN_BACKEND, POSTGRES_SYSTEM_BACKEND, POSTGRES_SUPERUSER_SESSION
 */
export async function signalable(session: PostgresSession, key: SessionKey): Promise<SessionState> {
  const [row] = await session.query(
    `SELECT ${sessionColumns},
            a.backend_start = $2::timestamptz AS same, a.backend_xid IS NOT NULL AS has_written,
            a.pid = pg_backend_pid() AS is_this, coalesce(r.rolsuper, false) AS is_super,
            (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS we_are_super,
            (SELECT count(*)::int FROM pg_locks l WHERE l.pid = a.pid AND l.granted) AS locks,
            to_json(pg_blocking_pids(a.pid)) AS blocked_by,
            ${exactTime('clock_timestamp()')} AS clock
       FROM pg_stat_activity a LEFT JOIN pg_roles r ON r.oid = a.usesysid
      WHERE a.pid = $1::int`,
    [key.pid, key.backend_start],
  );
  if (row === undefined) throw gone(key, 'has ended');
  const facts = sessionFacts(row);
  if (facts.backend_start === null)
    throw new OpsError(
      'POSTGRES_HIDDEN',
      `Sentry's acting role may not see whose session pid ${key.pid} is.`,
      {
        hint: 'GRANT pg_read_all_stats TO <acting role>; without it a reused pid cannot be told from the right one.',
      },
    );
  if (row['same'] !== true)
    throw gone(key, `has ended; the pid belongs to a session started ${facts.backend_start} now`);
  if (facts.is_sentry || row['is_this'] === true)
    throw forbidden('POSTGRES_OWN_BACKEND', facts, "is one of Sentry's own connections");
  if (facts.backend_type !== 'client backend')
    throw forbidden('POSTGRES_SYSTEM_BACKEND', facts, `is a ${facts.backend_type}, not a client's session`);
  if (row['is_super'] === true && row['we_are_super'] !== true)
    throw forbidden(
      'POSTGRES_SUPERUSER_SESSION',
      facts,
      'belongs to a superuser, whom Sentry may not signal',
    );
  const blockedBy = row['blocked_by'] as readonly number[];
  const behind = await waiters(session, key.pid);
  if (blockedBy.length > 0 && behind.length === 0)
    throw forbidden('GONE', facts, `only waits itself, for ${blockersOf(blockedBy)}: ending it frees nobody`);
  return {
    facts,
    hasWritten: row['has_written'] === true,
    lockedTables: await lockedTables(session, key.pid),
    locks: Number(row['locks']),
    waiters: behind,
    blockedBy,
    clock: String(row['clock']),
  };
}

/** What speaks against ending or cancelling it although it is possible: part of a pre-flight. */
export function objected({ blockedBy }: SessionState): { readonly objection?: string } {
  if (blockedBy.length === 0) return {};
  const blockers = blockersOf(blockedBy);
  return { objection: `It waits itself, for ${blockers}: those behind it may only wait for that then.` };
}

function blockersOf(pids: readonly number[]): string {
  return pids.map((pid) => (pid === 0 ? 'a prepared transaction' : `session ${pid}`)).join(' and ');
}

/** Whether exactly this session still exists. */
export async function isAlive(session: PostgresSession, key: SessionKey): Promise<boolean> {
  const rows = await session.query(
    'SELECT 1 FROM pg_stat_activity WHERE pid = $1::int AND backend_start = $2::timestamptz',
    [key.pid, key.backend_start],
  );
  return rows.length > 0;
}

/** What the card says about the state, a line each. */
export function stateLines(state: SessionState): readonly string[] {
  const { facts } = state;
  return [
    `${who(facts)}, session started ${facts.backend_start}`,
    `${facts.state} for ${age(facts.state_age_seconds)}; transaction ${facts.xact_start === null ? 'none' : `${age(facts.xact_age_seconds)} old`}`,
    `${facts.state === 'active' ? 'runs' : 'last ran'}: ${oneLine(facts.query, 200)}`,
    `holds ${count(state.locks, 'lock')}${state.lockedTables.length > 0 ? `: ${state.lockedTables.join(', ')}` : ''}`,
    state.waiters.length === 0
      ? 'nobody waits for it'
      : `${count(state.waiters.length, 'session')} waiting behind it: ${state.waiters.slice(0, 5).join('; ')}`,
    ...(state.blockedBy.length > 0 ? [`waits itself for ${blockersOf(state.blockedBy)}`] : []),
  ];
}

async function lockedTables(session: PostgresSession, pid: number): Promise<readonly string[]> {
  const rows = await session.query(
    `SELECT c.relname || ' (' || string_agg(DISTINCT l.mode, ', ') || ')' AS held
       FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
      WHERE l.pid = $1::int AND l.granted AND c.relkind IN ('r', 'p', 'm')
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      GROUP BY c.relname ORDER BY c.relname LIMIT 8`,
    [pid],
  );
  return rows.map((row) => oneLine(row['held'], 120));
}

/** Everybody in the queue behind it: who waits for a waiter waits for it, too. */
async function waiters(session: PostgresSession, pid: number): Promise<readonly string[]> {
  const rows = await session.query(
    `SELECT a.pid, a.pid || ' (' || coalesce(nullif(a.application_name, ''), a.usename::text, '?') || ')' AS waiter,
            to_json(pg_blocking_pids(a.pid)) AS blocked_by
       FROM pg_stat_activity a WHERE a.wait_event_type = 'Lock' ORDER BY a.query_start LIMIT 500`,
  );
  const graph = blockingGraph(
    rows.map((row) => ({ pid: Number(row['pid']), blockedBy: row['blocked_by'] as readonly number[] })),
  );
  const names = new Map(rows.map((row) => [Number(row['pid']), oneLine(row['waiter'], 120)]));
  const behind = graph.behind(pid);
  return behind.map((waiter) => names.get(waiter) ?? String(waiter));
}

function gone({ pid, backend_start }: SessionKey, what: string): OpsError {
  return new OpsError('GONE', `The session pid ${pid} started at ${backend_start} ${what}.`, {
    hint: 'Nothing was done. Look again whether the problem is still there.',
  });
}

function forbidden(code: string, facts: SessionFacts, why: string): OpsError {
  return new OpsError(code, `${who(facts)} ${why}.`, {
    hint: 'Name the client session that causes the problem; a person with the right role can act on others by hand.',
  });
}
