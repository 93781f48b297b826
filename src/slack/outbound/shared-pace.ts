import type { Sql } from '../../core/sql.ts';

/** A bucket of tokens that the processes on one record share. */
export interface SharedBucket {
  /** Takes one token where more than `leave` are left. `left`: tokens after that. */
  take(leave: number): Promise<{ readonly isTaken: boolean; readonly left: number }>;
  /** Slack said to wait: nobody takes one before. */
  block(ms: number): Promise<void>;
}

/** The bucket of that key, with so many tokens at most. */
export type OpenBucket = (
  key: string,
  size: { readonly perSecond: number; readonly burst: number },
) => SharedBucket;

/** A bucket that is to be full later than this was filled by a clock that has since been set back: it counts as full. */
const FULL_WITHIN_SECONDS = 120;

/**
 * The buckets by the record's clock: Slack counts an app's calls, not a process's. A bucket is the moment at which it is full
 * again (GCRA), taken from in one statement. Without the record nothing is sent, so no process needs a pace of its own then.
 */
export const sharedPace =
  (sql: Sql): OpenBucket =>
  (key, { perSecond, burst }) => ({
    async take(leave) {
      const [row] = await sql<{ readonly is_taken: boolean; readonly left: number }>`
        WITH taken AS (
          INSERT INTO slack_pace AS p (key, full_at)
          VALUES (${key}, clock_timestamp() + make_interval(secs => ${1 / perSecond}))
          ON CONFLICT (key) DO UPDATE SET full_at = make_interval(secs => ${1 / perSecond}) +
              CASE WHEN p.full_at > clock_timestamp() + make_interval(secs => ${FULL_WITHIN_SECONDS}) THEN clock_timestamp()
                   ELSE greatest(p.full_at, clock_timestamp()) END
            WHERE p.full_at <= clock_timestamp() + make_interval(secs => ${(burst - 1 - leave) / perSecond})
               OR p.full_at > clock_timestamp() + make_interval(secs => ${FULL_WITHIN_SECONDS})
          RETURNING full_at),
        full_again AS (
          SELECT coalesce((SELECT full_at FROM taken), (SELECT full_at FROM slack_pace WHERE key = ${key})) AS at)
        SELECT EXISTS (SELECT FROM taken) AS is_taken,
               (${burst}::float8 - ${perSecond}::float8 * greatest(0, extract(epoch FROM at - clock_timestamp())))::float8 AS left
          FROM full_again`;
      return { isTaken: row?.is_taken === true, left: row?.left ?? 0 };
    },
    async block(ms) {
      const seconds = Math.min(ms / 1000 + (burst - 1) / perSecond, FULL_WITHIN_SECONDS);
      await sql`
        INSERT INTO slack_pace AS p (key, full_at) VALUES (${key}, clock_timestamp() + make_interval(secs => ${seconds}))
        ON CONFLICT (key) DO UPDATE SET full_at = greatest(p.full_at, EXCLUDED.full_at)`;
    },
  });
