import { type Refusal, refuse } from '../../core/errors.ts';
import type { Sql, Tx } from '../../core/sql.ts';

/** How often something may be done at all, whoever asks (the seed: a service restarts once in ten minutes). */
export interface RateLimit {
  /** What is counted, e.g. one service of one machine. */
  readonly key: string;
  /** For people: `restart of web`. */
  readonly what: string;
  readonly times: number;
  readonly withinMs: number;
}

/** Rows older than every limit's window. */
const FORGET_AFTER = '2 days';

/**
 * The seed's layer 11, in PostgreSQL: counted over all processes, and over restarts of Sentry. Undefined when it may be done
 * now; else a refusal that says when. `own`: the action that asks, which does not count against itself.
 */
export async function rateRefusal(
  sql: Sql | Tx,
  { key, what, times, withinMs }: RateLimit,
  own: string | null = null,
): Promise<Refusal | undefined> {
  const rows = await sql<{ free_in_ms: number; free_at_ms: number; free_at: string }>`
    SELECT (extract(epoch FROM claimed_at - clock_timestamp()) * 1000)::float8 + ${withinMs} AS free_in_ms,
           (extract(epoch FROM claimed_at) * 1000)::float8 + ${withinMs} AS free_at_ms,
           to_char((claimed_at + ${withinMs} * interval '1 millisecond') AT TIME ZONE 'UTC', 'HH24:MI:SS') AS free_at
      FROM rate_claim
     WHERE key = ${key} AND action_id IS DISTINCT FROM ${own}
       AND claimed_at > statement_timestamp() - ${withinMs} * interval '1 millisecond'
     ORDER BY claimed_at DESC LIMIT ${times}`;
  const oldest = rows.at(-1);
  if (rows.length < times || !oldest) return undefined;
  const seconds = Math.max(1, Math.ceil(oldest.free_in_ms / 1000));
  const said = `At most ${times} ${what} in ${Math.round(withinMs / 60_000)} minutes.`;
  return {
    ...refuse('RATE_LIMITED', `${said} It may be done again in ${seconds} s, at ${oldest.free_at} UTC.`),
    wait: { until: new Date(Math.ceil(oldest.free_at_ms)).toISOString(), limit: said },
  };
}

/** Counts an action, in the transaction that claims it; or refuses, and the claim is not made. */
export async function takeRate(tx: Tx, limit: RateLimit, actionId: string): Promise<Refusal | undefined> {
  // Two processes that claim for the same thing wait for each other here, also under different names of a target.
  await tx`SELECT pg_advisory_xact_lock(hashtextextended(${`rate ${limit.key}`}, 0))`;
  const refusal = await rateRefusal(tx, limit, actionId);
  if (refusal) return refusal;
  await tx`DELETE FROM rate_claim WHERE claimed_at < statement_timestamp() - ${FORGET_AFTER}::interval`;
  await tx`INSERT INTO rate_claim (action_id, key) VALUES (${actionId}, ${limit.key})
           ON CONFLICT (action_id) DO UPDATE SET claimed_at = clock_timestamp()`;
  return undefined;
}

/** Nothing ran for certain: it does not count. */
export async function returnRate(tx: Tx, actionId: string): Promise<void> {
  await tx`DELETE FROM rate_claim WHERE action_id = ${actionId}`;
}
