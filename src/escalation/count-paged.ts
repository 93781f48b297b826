import type { Sql } from '../core/sql.ts';

/** Incidents that ended in the last seven days, and those of them that nobody was paged for. */
export interface PagedCounts {
  readonly ended: number;
  readonly unpaged: number;
}

export async function countPaged(sql: Sql): Promise<PagedCounts> {
  const [row] = await sql<PagedCounts>`
    SELECT count(*)::int AS ended,
           (count(*) FILTER (WHERE NOT EXISTS (SELECT FROM escalation_page p WHERE p.incident_id = i.id)))::int AS unpaged
      FROM incident i
     WHERE state IN ('ignored', 'resolved') AND ended_at > statement_timestamp() - interval '7 days'
       AND NOT sentry_is_test(i.id)`;
  return row ?? { ended: 0, unpaged: 0 };
}

/** `40 of 42 incidents that ended in the last 7 days needed no page (95 %).` Null: none ended. */
export function formatPaged({ ended, unpaged }: PagedCounts): string | null {
  if (ended === 0) return null;
  const percent = Math.floor((100 * unpaged) / ended);
  return `${unpaged} of ${ended} ${ended === 1 ? 'incident' : 'incidents'} that ended in the last 7 days needed no page (${percent} %).`;
}
