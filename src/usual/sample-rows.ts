import type { Sql } from '../core/sql.ts';

/** So long a sample is of use: a week, and the day that is under way. */
export const KEPT_DAYS = 8;
/** An incident is opened when its alert has waited for a while: what was sampled so long before is no ordinary day either. */
const BEFORE_MS = 30 * 60_000;

/** A row of `usual_sample` as the comparison reads it. */
export interface SampleRow {
  /** ISO 8601, by the database's clock. */
  readonly at: string;
  readonly numbers: Readonly<Record<string, number>>;
}

export interface KeptSamples {
  /** Those that count, oldest first. */
  readonly samples: readonly SampleRow[];
  /** How many do not, as an incident of the target was open then. */
  readonly leftOut: number;
}

/** The targets that have no sample of this slot of time yet. */
export async function withoutSample(
  sql: Sql,
  targets: readonly string[],
  slot: string,
): Promise<readonly string[]> {
  const rows = await sql<{ target: string }>`
    SELECT target FROM usual_sample WHERE target = ANY (${sql.array(targets)}::text[]) AND slot = ${slot}`;
  const taken = new Set(rows.map(({ target }) => target));
  return targets.filter((target) => !taken.has(target));
}

/** Takes a target's sample of a slot upon itself; false: somebody else does, or did. One whose taker dies stays without numbers. */
export async function claimSample(sql: Sql, target: string, slot: string): Promise<boolean> {
  const rows = await sql`
    INSERT INTO usual_sample (target, slot, why) VALUES (${target}, ${slot}, 'its reading has not ended')
    ON CONFLICT DO NOTHING RETURNING target`;
  return rows.length > 0;
}

/** Gives a claim back. */
export async function releaseSample(sql: Sql, target: string, slot: string): Promise<void> {
  await sql`DELETE FROM usual_sample WHERE target = ${target} AND slot = ${slot}`;
}

/** Puts what was read into the sample that was claimed. */
export async function saveSample(
  sql: Sql,
  sample: {
    readonly target: string;
    readonly slot: string;
    readonly system: string | null;
    readonly numbers: Readonly<Record<string, number>>;
    readonly why: string | null;
  },
): Promise<void> {
  const { target, slot, system, numbers, why } = sample;
  await sql`
    UPDATE usual_sample SET system = ${system}, numbers = ${sql.json(numbers)}, why = ${why}, taken_at = clock_timestamp()
     WHERE target = ${target} AND slot = ${slot}`;
}

/** What was sampled of a target while its name stood for this system, and no incident of it was open. */
export async function keptSamples(sql: Sql, target: string, system: string): Promise<KeptSamples> {
  const [rows, incidents] = await Promise.all([
    // A clock that was set back has left samples in its future.
    sql<SampleRow>`
      SELECT taken_at AS at, numbers FROM usual_sample
       WHERE target = ${target} AND system = ${system} AND taken_at <= statement_timestamp()
         AND taken_at > statement_timestamp() - ${KEPT_DAYS} * interval '1 day' ORDER BY slot`,
    sql<{ from: string; to: string | null }>`
      SELECT opened_at AS "from", NULL AS "to" FROM incident
       WHERE target = ${target} AND state NOT IN ('ignored', 'resolved')
      UNION ALL
      SELECT opened_at, ended_at FROM incident
       WHERE target = ${target} AND state IN ('ignored', 'resolved')
         AND ended_at > statement_timestamp() - ${KEPT_DAYS} * interval '1 day'`,
  ]);
  const spans = incidents.map(({ from, to }) => ({
    from: Date.parse(from) - BEFORE_MS,
    to: to === null ? Number.POSITIVE_INFINITY : Date.parse(to),
  }));
  const samples = rows.filter(({ at }) => {
    const time = Date.parse(at);
    return !spans.some(({ from, to }) => time >= from && time <= to);
  });
  return { samples, leftOut: rows.length - samples.length };
}

/** The newest sample of a target, whether it counts for what is usual or not, and which system that was; null: there is none. */
export async function newestSample(
  sql: Sql,
  target: string,
): Promise<(SampleRow & { readonly system: string }) | null> {
  const [row] = await sql<SampleRow & { readonly system: string }>`
    SELECT taken_at AS at, numbers, system FROM usual_sample
     WHERE target = ${target} AND system IS NOT NULL AND taken_at <= statement_timestamp() ORDER BY slot DESC LIMIT 1`;
  return row ?? null;
}

/** The system that a target's name stood for when it was last sampled; null: it was not yet. */
export async function lastSystem(sql: Sql, target: string): Promise<string | null> {
  const [row] = await sql<{ system: string }>`
    SELECT system FROM usual_sample WHERE target = ${target} AND system IS NOT NULL ORDER BY slot DESC LIMIT 1`;
  return row?.system ?? null;
}

/** Deletes what is too old, and what a wrong clock has left in the future. */
export async function deleteOldSamples(sql: Sql): Promise<void> {
  await sql`DELETE FROM usual_sample WHERE taken_at < statement_timestamp() - ${KEPT_DAYS} * interval '1 day'`;
  await sql`DELETE FROM usual_sample WHERE taken_at > statement_timestamp() + interval '1 hour'`;
}

/** How the sampling of a target goes. ISO 8601. */
export interface SamplingState {
  readonly target: string;
  /** When something was read last; null: not in the days that are kept. */
  readonly sampledAt: string | null;
  readonly samples: number;
  /** What the last try could not read; null: it read all. */
  readonly why: string | null;
}

/** Of each of these targets that was tried. */
export async function samplingStates(
  sql: Sql,
  targets: readonly string[],
): Promise<readonly SamplingState[]> {
  return sql<SamplingState>`
    SELECT target, max(taken_at) FILTER (WHERE system IS NOT NULL) AS "sampledAt",
           (count(*) FILTER (WHERE system IS NOT NULL))::int AS samples,
           (array_agg(why ORDER BY slot DESC))[1] AS why
      FROM usual_sample WHERE target = ANY (${sql.array(targets)}::text[]) GROUP BY target ORDER BY target`;
}
