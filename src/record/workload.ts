import type { Sql } from '../core/sql.ts';

/** How much is under way, and what waits for people. Times are in ms, by the database's clock. */
export interface Workload {
  /** Incidents that are not over, by state; a count ends at `COUNT_TO`. */
  readonly incidents: readonly { readonly state: string; readonly count: number }[];
  /** Incidents at work whose turn failed, and is tried again. */
  readonly failing: number;
  /** Nobody knows whether they ran, until a person settles them. */
  readonly unknownActions: number;
  readonly approvals: number;
  /** Of the oldest proposal that waits; 0: none does. */
  readonly approvalWaitMs: number;
}

/** What waits for people may pile up over years, and is counted at every scrape. */
const COUNT_TO = 10_000;

export async function readWorkload(sql: Sql): Promise<Workload> {
  const [incidents, [row]] = await Promise.all([
    sql<{ readonly state: string; readonly count: number }>`
      SELECT s.state, n.count
        FROM unnest(ARRAY['open', 'triaging', 'diagnosing', 'reported', 'planning', 'awaiting_approval', 'remediating',
                          'verifying', 'escalated', 'stopped']) AS s (state),
             LATERAL (SELECT count(*)::int FROM (
               SELECT FROM incident i WHERE i.state = s.state AND i.state NOT IN ('ignored', 'resolved')
                LIMIT ${COUNT_TO}) AS counted) AS n`,
    sql<Omit<Workload, 'incidents'>>`
      SELECT (SELECT count(*)::int FROM incident i
               WHERE i.state IN ('open', 'triaging', 'diagnosing', 'planning', 'awaiting_approval', 'remediating', 'verifying')
                 AND (SELECT f.failures FROM turn_failure f
                       WHERE f.incident_id = i.id AND f.state = i.state AND f.round = i.round LIMIT 1) IS NOT NULL) AS failing,
             (SELECT count(*)::int FROM action WHERE state = 'unknown' AND state IN ('started', 'unknown')) AS "unknownActions",
             count(*)::int AS approvals,
             coalesce(greatest(extract(epoch FROM clock_timestamp() - min(proposed_at)) * 1000, 0), 0)::float8
               AS "approvalWaitMs"
        FROM action WHERE state = 'proposed' AND state IN ('proposed', 'approved', 'started') AND NOT audit_only`,
  ]);
  if (!row) throw new Error('the record did not answer');
  return { incidents, ...row };
}
