import type { IncidentId } from '../core/ids.ts';
import type { PhaseRun } from './phases/phase-run.ts';

/** More of them are no help to anybody, and in a storm each of them is a message that is edited. */
const AT_MOST = 5;

/**
 * Puts on record which other incidents are open on the same physical system, whatever they call it, on both sides: two people
 * must not work on one thing without knowing of each other. Never holds an incident up.
 */
export async function noteRelated({ deps, incident, durably }: PhaseRun): Promise<void> {
  const { target, id } = incident;
  if (target === null) return;
  await durably('open on the same system', async () => {
    const open = await deps.sql<{ id: IncidentId; target: string }>`
      SELECT id, target FROM incident
       WHERE target IS NOT NULL AND id <> ${id} AND state NOT IN ('ignored', 'resolved')
         AND opened_at <= (SELECT opened_at FROM incident WHERE id = ${id})
       ORDER BY opened_at DESC, id LIMIT ${AT_MOST}`;
    const others = open.filter((row) => row.target !== target);
    const systems = new Map<string, string | null>();
    if (others.length > 0)
      for (const name of new Set([target, ...others.map((row) => row.target)]))
        systems.set(name, await deps.gate.systemOf(name));
    const own = systems.get(target) ?? null;
    const same = open
      .filter((row) => row.target === target || (own !== null && systems.get(row.target) === own))
      .map((row) => row.id);
    if (same.length === 0) return [];
    await deps.sql.begin(async (tx) => {
      const before = { type: 'incident.related', incidents: same, began: 'before' } as const;
      const since = { type: 'incident.related', incidents: [id], began: 'since' } as const;
      // In one order for all turns, this incident in its place among the others: each entry locks an incident's row.
      for (const each of [id, ...same].toSorted())
        if (each === id) await deps.records.append(tx, id, before, 'related');
        else await deps.records.append(tx, each, since, `related:${id}`);
    });
    return same satisfies readonly IncidentId[];
  });
}
