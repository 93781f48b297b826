import { asIncidentId, type IncidentId } from '../../core/ids.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import type { Sql } from '../../core/sql.ts';
import type { Retrieval } from '../../search/retrieval.ts';
import type { Entry } from '../../search/types.ts';
import { incidentDocument } from '../past/incident-document.ts';
import type { SystemFacts } from '../systems/system-facts.ts';
import { systemOf } from '../systems/systems.ts';

const BATCH = 200;

/**
 * Puts into the index what has changed on record since it was last put there, of incidents that have something to tell:
 * something was concluded, or they are over; the latest first. Returns how many.
 *
 * @param changedWithinMs looks at nothing that was changed longer ago
 * @param signal leaves the rest to the next call
 */
export async function syncIncidents(
  sql: Sql,
  retrieval: Retrieval,
  load: (id: IncidentId) => Promise<IncidentRecord | null>,
  changedWithinMs: number | null = null,
  signal?: AbortSignal,
): Promise<number> {
  let put = 0;
  for (;;) {
    const rows = await sql<{ id: string }>`
      SELECT i.id FROM incident i
       WHERE i.state IN ('reported', 'escalated', 'resolved', 'stopped')
         AND NOT sentry_is_test(i.id)
         AND i.updated_at > coalesce(statement_timestamp() - ${changedWithinMs}::float8 * interval '1 ms', '-infinity') AND NOT EXISTS (
         SELECT FROM search_space s JOIN search_entry e ON e.space_id = s.id
          WHERE s.name = 'incident:' || i.domain AND e.key = i.id AND e.updated_at > i.updated_at)
       ORDER BY i.updated_at DESC LIMIT ${BATCH}`;
    const before = put;
    for (const { id } of rows) {
      if (signal?.aborted) return put;
      const record = await load(asIncidentId(id));
      // Forgotten meanwhile.
      if (!record) continue;
      await retrieval.upsert({ kind: 'incident', scope: record.incident.domain }, [
        incidentEntry(record, await systemOf(sql, record.incident.target)),
      ]);
      put += 1;
    }
    if (rows.length < BATCH || put === before) return put;
  }
}

/** How many incidents the index does not have as they are now. */
export async function countBehind(sql: Sql): Promise<number> {
  const [row] = await sql<{ n: number }>`
    SELECT count(*)::int AS n FROM incident i
     WHERE i.state IN ('reported', 'escalated', 'resolved', 'stopped') AND NOT sentry_is_test(i.id) AND NOT EXISTS (
       SELECT FROM search_space s JOIN search_entry e ON e.space_id = s.id
        WHERE s.name = 'incident:' || i.domain AND e.key = i.id AND e.updated_at > i.updated_at)`;
  return row?.n ?? 0;
}

export function incidentEntry(record: IncidentRecord, system: SystemFacts | null = null): Entry {
  const { incident } = record;
  const { document, metadata } = incidentDocument(record, new Date(incident.updatedAt), system);
  return { key: incident.id, title: incident.title, text: document, metadata };
}
