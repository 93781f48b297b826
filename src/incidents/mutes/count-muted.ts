import type { Sql } from '../../core/sql.ts';
import { type AlertFacts, type AlertMatcher, mayQuieten } from '../../safety/alert-matcher.ts';

/** So many open incidents are looked through, the newest. */
const LOOKED_AT = 2_000;

/** How many open incidents a mute would be for now. */
export async function countMuted(sql: Sql, matcher: AlertMatcher): Promise<number> {
  const rows = await sql<AlertFacts>`
    SELECT coalesce(labels->>'alertname', alert_name, '') AS alertname, severity, coalesce(target, '') AS target, source, title, labels
      FROM incident WHERE state NOT IN ('ignored', 'resolved') ORDER BY opened_at DESC LIMIT ${LOOKED_AT}`;
  return rows.filter((facts) => mayQuieten(matcher, facts)).length;
}
