import { numberAt } from '../../../core/measure.ts';
import type { Json } from '../../../core/tool-call.ts';
import { oneLine } from '../../format.ts';
import type { PostgresSession, Row } from '../system.ts';

/**
 * A time as text with microseconds and in UTC (`2026-11-21T10:00:00.123456Z`). A pid is bound to its `backend_start`,
 * and a JavaScript Date would cut that to milliseconds.
 */
export function exactTime(column: string): string {
  return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}

/** Seconds from a time until now, one decimal; null for null. */
export function secondsSince(column: string): string {
  return `round(extract(epoch FROM clock_timestamp() - ${column})::numeric, 1)`;
}

/**
 * Whether a session of pg_stat_activity is Sentry's own. Anybody may call himself so (`application_name`), only Sentry
 * has its roles' passwords; the connection tells which they are (`sentry.own_roles`).
 */
export function isOwnSession(alias: string): string {
  return `(coalesce(${alias}.application_name, '') ~ '^sentry($|[ :/_-])' AND coalesce(${alias}.usename::text IN (
    SELECT session_user::text UNION ALL SELECT json_array_elements_text(current_setting('sentry.own_roles', true)::json)), false))`;
}

/** The columns every tool shows of a session; `a` is pg_stat_activity. */
export const sessionColumns = `
  a.pid, ${exactTime('a.backend_start')} AS backend_start, a.backend_type,
  a.usename::text AS "user", a.datname::text AS database, a.application_name,
  host(a.client_addr) AS client_addr, a.state, a.wait_event_type, a.wait_event,
  ${exactTime('a.xact_start')} AS xact_start, ${exactTime('a.query_start')} AS query_start,
  ${secondsSince('a.backend_start')} AS session_age_seconds,
  ${secondsSince('a.xact_start')} AS xact_age_seconds,
  ${secondsSince('a.query_start')} AS query_age_seconds,
  ${secondsSince('a.state_change')} AS state_age_seconds,
  ${isOwnSession('a')} AS is_sentry,
  left(a.query, 2000) AS query`;

/** One session as tools give it. Ages in seconds; a null age: not in a transaction, never ran anything, or hidden from the role. */
export type SessionFacts = {
  readonly pid: number;
  readonly backend_start: string | null;
  readonly backend_type: string | null;
  readonly user: string | null;
  readonly database: string | null;
  readonly application_name: string | null;
  readonly client_addr: string | null;
  readonly state: string | null;
  readonly wait_event_type: string | null;
  readonly wait_event: string | null;
  readonly xact_start: string | null;
  readonly query_start: string | null;
  readonly session_age_seconds: number | null;
  readonly xact_age_seconds: number | null;
  readonly query_age_seconds: number | null;
  readonly state_age_seconds: number | null;
  readonly is_sentry: boolean;
  /** One line, capped; the last statement when the session is idle. */
  readonly query: string;
};

/** A row of `sessionColumns`, its query made one line; columns beside them are left out. */
export function sessionFacts(row: Row): SessionFacts {
  const text = (name: string): string | null => (row[name] ?? null) as string | null;
  const seconds = (name: string): number | null => (row[name] ?? null) as number | null;
  return {
    pid: Number(row['pid']),
    backend_start: text('backend_start'),
    backend_type: text('backend_type'),
    user: text('user'),
    database: text('database'),
    application_name: text('application_name'),
    client_addr: text('client_addr'),
    state: text('state'),
    wait_event_type: text('wait_event_type'),
    wait_event: text('wait_event'),
    xact_start: text('xact_start'),
    query_start: text('query_start'),
    session_age_seconds: seconds('session_age_seconds'),
    xact_age_seconds: seconds('xact_age_seconds'),
    query_age_seconds: seconds('query_age_seconds'),
    state_age_seconds: seconds('state_age_seconds'),
    is_sentry: row['is_sentry'] === true,
    query: oneLine(row['query']),
  };
}

/** What people and models call a session: who it is, without what it does. */
export function who(session: SessionFacts): string {
  const name = oneLine(session.application_name, 100) || 'no application_name';
  return `pid ${session.pid} (${oneLine(session.user ?? '?', 100)}@${oneLine(session.database ?? '?', 100)}, ${name})`;
}

const hiddenQuery = '<insufficient privilege>';

/**
 * Whether a row of pg_stat_activity is a client's session. Of a hidden one only who is connected where is known: what has no
 * user or no database is a worker of the server's own.
 */
export function isClientSession(alias: string): string {
  return `CASE WHEN ${alias}.backend_type IS NULL THEN ${alias}.datname IS NOT NULL AND ${alias}.usename IS NOT NULL
               ELSE ${alias}.backend_type = 'client backend' END`;
}

/**
 * How many clients' sessions the role may not see, beside Sentry's own: what is not found among the others may be among
 * these.
 */
export async function hiddenSessions(session: PostgresSession): Promise<number> {
  const [row] = await session.query(
    `SELECT count(*)::int AS n FROM pg_stat_activity a
      WHERE a.query = $1 AND ${isClientSession('a')} AND NOT ${isOwnSession('a')}`,
    [hiddenQuery],
  );
  return Number(row?.['n']);
}

/** For a measure of sessions: hidden ones are not counted in it. */
export function hidesSessions(data: Json): boolean {
  return (numberAt(data, 'hidden_count') ?? 0) > 0;
}

/** For a measure of sessions of at least `min_seconds`: younger ones are not listed. */
export function hidesBelow(data: Json, bound: number): boolean {
  return hidesSessions(data) || (numberAt(data, 'min_seconds') ?? 0) > bound;
}

export function hiddenLine(hidden: number): readonly string[] {
  return hidden === 0
    ? []
    : [
        `${hidden === 1 ? '1 session is' : `${hidden} sessions are`} hidden from Sentry's role: GRANT pg_monitor TO <role> (or pg_read_all_stats).`,
      ];
}

/** How many of these the role may not see. */
export function hiddenAmong(sessions: readonly SessionFacts[]): number {
  return sessions.filter((session) => session.query === hiddenQuery).length;
}
