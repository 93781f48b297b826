import type { Sql } from '../../core/sql.ts';

/** After so long without a sign of life it did not run; a restart takes less. */
const AWAY_MS = 2 * 60_000;

/** A time in which Sentry did not run, ISO 8601. */
export interface Away {
  readonly from: string;
  readonly to: string;
}

/** Notes that Sentry runs now, in whichever process. To be called more often than every 2 min. */
export async function noteRunning(sql: Sql): Promise<void> {
  // A clock that was set back has left signs of life in its future, which would hide that it does not run until then.
  await sql`DELETE FROM presence WHERE since > statement_timestamp() + interval '1 minute'`;
  await sql`UPDATE presence SET until = clock_timestamp() WHERE until > statement_timestamp() + interval '1 minute'`;
  await sql`
    WITH going AS (
      UPDATE presence SET until = greatest(until, clock_timestamp())
       WHERE since = (SELECT since FROM presence ORDER BY until DESC LIMIT 1)
         AND until > clock_timestamp() - ${AWAY_MS} * interval '1 millisecond' RETURNING since)
    INSERT INTO presence (since) SELECT clock_timestamp() WHERE NOT EXISTS (SELECT FROM going) ON CONFLICT DO NOTHING`;
}

/** When it did not run between two times (ISO 8601), oldest first. Before its first start there was nobody to be away. */
export async function timesAway(sql: Sql, from: string, to: string): Promise<readonly Away[]> {
  const spans = await sql<{ since: string; until: string }>`
    (SELECT since, until FROM presence WHERE until < ${from} ORDER BY until DESC LIMIT 1)
    UNION ALL (SELECT since, until FROM presence WHERE until >= ${from} AND since <= ${to} ORDER BY until DESC LIMIT 1000)`;
  const sorted = spans
    .map(({ since, until }) => ({ since: Date.parse(since), until: Date.parse(until) }))
    .toSorted((a, b) => a.since - b.since);
  let seen: number | undefined;
  return sorted.flatMap(({ since, until }) => {
    const before = seen;
    seen = Math.max(seen ?? until, until);
    return before === undefined || since - before < AWAY_MS || since < Date.parse(from)
      ? []
      : [{ from: iso(before), to: iso(since) }];
  });
}

/** Deletes what is older than so many days, but for the last of it: by that a time away is known that began then. */
export async function deleteOldPresence(sql: Sql, days: number): Promise<void> {
  await sql`
    DELETE FROM presence
     WHERE until < (SELECT max(until) FROM presence WHERE until < statement_timestamp() - ${days} * interval '1 day')`;
}

const iso = (ms: number): string => new Date(ms).toISOString();
