import type { SessionState } from './session-state.ts';

/** What a card says of a session and must still be so when something is done to it; what it does from moment to moment is none of it. */
export type SessionGuard = {
  readonly pid: number;
  readonly backend_start: string;
  readonly user: string | null;
  readonly database: string | null;
  readonly application_name: string | null;
  readonly xact_start: string | null;
  readonly has_written: boolean;
};

export function sessionGuard({ facts, hasWritten }: SessionState): SessionGuard {
  const { pid, user, database, application_name, xact_start } = facts;
  return {
    pid,
    backend_start: String(facts.backend_start),
    user,
    database,
    application_name,
    xact_start,
    has_written: hasWritten,
  };
}

/** The same as a condition on `a`, pg_stat_activity, with the parameters $1 to $7 of `guardParams`: for the statement that has the effect. */
export const sameSession = `
  a.pid = $1::int AND a.backend_start = $2::timestamptz
     AND a.usename::text IS NOT DISTINCT FROM $3::text AND a.datname::text IS NOT DISTINCT FROM $4::text
     AND a.application_name IS NOT DISTINCT FROM $5::text
     AND a.xact_start IS NOT DISTINCT FROM $6::timestamptz AND (a.backend_xid IS NOT NULL) = $7::boolean`;

export function guardParams(guard: SessionGuard): readonly unknown[] {
  return [
    guard.pid,
    guard.backend_start,
    guard.user,
    guard.database,
    guard.application_name,
    guard.xact_start,
    guard.has_written,
  ];
}
