import type { IncidentId } from '../../core/ids.ts';
import type { Sql } from '../../core/sql.ts';
import type { BurstId } from './subject.ts';

/** So many problems without a first message are told in one digest before. */
export const MANY = 10;
/** One digest stands for what was opened in so many minutes by the clock, whichever process draws it. */
const MINUTES = 10;
const LISTED = 15;

export interface Burst {
  readonly problems: number;
  readonly bySeverity: readonly { readonly severity: string; readonly problems: number }[];
  readonly from: string;
  readonly to: string;
  /** The worst of them, the first ones first. */
  readonly worst: readonly {
    readonly id: IncidentId;
    readonly title: string;
    readonly members: number;
    readonly severity: string;
    readonly channel: string | null;
    readonly ts: string | null;
  }[];
}

/** The burst that these incidents belong to; null when they are not many. */
export async function burstOf(sql: Sql, ids: readonly string[]): Promise<BurstId | null> {
  const [row] = await sql<{ readonly id: BurstId }>`
    SELECT 'burst:' || floor(extract(epoch FROM opened_at) / ${MINUTES * 60})::bigint AS id
      FROM incident WHERE id = ANY (${sql.array([...ids])}::text[]) AND muted_by IS NULL AND merged_into IS NULL
     GROUP BY 1 HAVING count(*) > ${MANY} ORDER BY 1 DESC LIMIT 1`;
  return row?.id ?? null;
}

/** Digests that stand, of now and of just before: what they tell of still moves. */
export async function standingBursts(sql: Sql): Promise<readonly BurstId[]> {
  const rows = await sql<{ readonly id: BurstId }>`
    SELECT incident_id AS id FROM slack_post WHERE slot = 'digest' AND incident_id IN (
      SELECT 'burst:' || floor(extract(epoch FROM statement_timestamp()) / ${MINUTES * 60})::bigint - ago FROM generate_series(0, 1) AS ago)`;
  return rows.map(({ id }) => id);
}

/** All that was opened in its minutes, but for what is muted, what another's thread tells of, and what began in a channel of its own, which may be private. */
export async function loadBurst(sql: Sql, id: BurstId): Promise<Burst | null> {
  const [row] = await sql<Burst>`
    WITH opened AS MATERIALIZED (
      SELECT i.id, i.title, i.members, i.severity, i.channel, i.thread_ts AS ts, i.opened_at AS at, i.state = 'ignored' AS ignored,
             coalesce(array_position(ARRAY['critical', 'error', 'warning', 'info'], i.severity), 9) AS rank
        FROM incident i
       WHERE i.opened_at >= to_timestamp(${Number(id.slice('burst:'.length)) * MINUTES * 60}::float8)
         AND i.opened_at < to_timestamp(${(Number(id.slice('burst:'.length)) + 1) * MINUTES * 60}::float8)
         AND (i.muted_by IS NULL AND i.merged_into IS NULL OR i.thread_ts IS NOT NULL)
         AND (SELECT delivery_key FROM alert a WHERE a.incident_id = i.id ORDER BY a.id LIMIT 1) NOT LIKE 'slack:%')
    SELECT count(*)::int AS problems, min(at) AS from, max(at) AS to,
           (SELECT jsonb_agg(jsonb_build_object('severity', s.severity, 'problems', s.n) ORDER BY s.rank)
              FROM (SELECT severity, rank, count(*) AS n FROM opened GROUP BY 1, 2) AS s) AS "bySeverity",
           (SELECT jsonb_agg(jsonb_build_object('id', w.id, 'title', w.title, 'members', w.members, 'severity', w.severity, 'channel', w.channel, 'ts', w.ts)
                             ORDER BY w.rank, w.at, w.id)
              FROM (SELECT * FROM opened ORDER BY rank, at, id LIMIT ${LISTED}) AS w) AS worst
      FROM opened HAVING count(*) > ${MANY}`;
  return row ?? null;
}
