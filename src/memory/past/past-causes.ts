import { asIncidentId, type IncidentId } from '../../core/ids.ts';
import type { PastCause } from '../../core/memory.ts';
import type { Sql } from '../../core/sql.ts';
import type { Json } from '../../core/tool-call.ts';
import type { Cluster, PastCase } from './clusters.ts';
import { formatEnds } from './incident-end.ts';

/** Arguments that name what was there then: a process, a time, an id in hexadecimal. */
const OF_THEN =
  /"(?:pid|since|until|from|to|at|start|end|backend_start)"\s*:|\d{4}-\d\d-\d\d|\b(?=[0-9a-f]*\d)[0-9a-f]{12,64}\b/i;

/**
 * Of each problem the cause to be checked first, by the newest incident it stands for: the newest that was fixed, else the newest that has
 * one, with the read its first claim stood on. None where no cause is on record.
 */
export async function pastCausesOf(
  sql: Sql,
  clusters: readonly Cluster[],
): Promise<ReadonlyMap<IncidentId, PastCause>> {
  const leads = clusters.flatMap(({ newest, cases }) => {
    const known = cases.filter(hasCause);
    const lead = known.find(({ end }) => end === 'fixed') ?? known[0];
    return lead === undefined ? [] : [[newest.id, lead] as const];
  });
  const reads = await readsOf(
    sql,
    leads.map(([, { id }]) => id),
  );
  return new Map(
    leads.map(([newest, { id, cause, end }]) => [
      newest,
      { incidentId: id, cause, ended: formatEnds([end]), read: reads.get(id) ?? null },
    ]),
  );
}

const hasCause = (one: PastCase): one is PastCase & { readonly cause: string } => one.cause !== null;

/** By the last diagnosis of each incident that found a cause: the first look at its target that a claim cites. */
async function readsOf(
  sql: Sql,
  ids: readonly IncidentId[],
): Promise<ReadonlyMap<IncidentId, NonNullable<PastCause['read']>>> {
  if (ids.length === 0) return new Map();
  const rows = await sql<{ id: string; tool: string; input: Json }>`
    SELECT i.id, c.tool, c.input
      FROM (SELECT jsonb_array_elements_text(${sql.json(ids)}) AS id) wanted
      JOIN incident i ON i.id = wanted.id
     CROSS JOIN LATERAL (
       SELECT e.body->'diagnosis' AS diagnosis FROM event e
        WHERE e.incident_id = i.id AND e.type = 'diagnosis.concluded' AND e.body->'diagnosis'->>'verdict' = 'cause_found'
        ORDER BY e.seq DESC LIMIT 1) last
     CROSS JOIN LATERAL (
       SELECT t.tool, t.input
         FROM jsonb_array_elements(last.diagnosis->'evidence') WITH ORDINALITY AS claim (says, n)
        CROSS JOIN LATERAL jsonb_array_elements_text(claim.says->'toolCallIds') AS cited (id)
         JOIN tool_call t ON t.id = cited.id
        WHERE t.incident_id = i.id AND t.target = i.target AND t.state = 'ok' AND t.role = 'detective' AND t.input IS NOT NULL
        ORDER BY claim.n LIMIT 1) c`;
  return new Map(
    rows.map(({ id, tool, input }) => [
      asIncidentId(id),
      { tool, input: OF_THEN.test(JSON.stringify(input)) ? null : input },
    ]),
  );
}
