import type { Sql } from '../../core/sql.ts';
import { move } from '../move.ts';
import type { PhaseRun } from './phase-run.ts';

/** The reason of a turn that ends an incident of which nothing more was heard. */
export const SILENT_TURN = 'silent?';
/** So long without a word of its source or of a person. */
const DAYS = 7;
/** In one sweep; the next one goes on. */
const BATCH = 100;

/** Asks for the turns that end what has waited for people in silence. */
export async function sweepSilent(sql: Sql): Promise<void> {
  await sql`
    SELECT sentry_enqueue_turns(array_agg(id), ${SILENT_TURN}) FROM (
      SELECT id FROM incident
       WHERE state IN ('reported', 'escalated') AND details_deleted_at IS NULL
         AND opened_at < statement_timestamp() - ${DAYS} * interval '1 day'
         AND updated_at < statement_timestamp() - ${DAYS} * interval '1 day'
       ORDER BY opened_at LIMIT ${BATCH}) AS silent
    HAVING count(*) > 0`;
}

/**
 * `reported` or `escalated` → `resolved`, on nobody's word: its sender tells again of what fires, and of ends, and has told of
 * neither. It is not called fixed.
 */
export async function endSilent({ deps, incident, durably }: PhaseRun): Promise<void> {
  const { state, id } = incident;
  if (state !== 'reported' && state !== 'escalated') return;
  const last = await durably('heard of it?', async () => {
    const [row] = await deps.sql<{ at: string | null }>`
      SELECT max(a.received_at) AS at FROM incident i JOIN alert a ON a.incident_id = i.id
       WHERE i.id = ${id} AND i.updated_at < clock_timestamp() - ${DAYS} * interval '1 day'
         AND EXISTS (SELECT FROM alert_state s WHERE s.incident_id = i.id
                        AND s.source = ANY (${deps.sql.array([...deps.confirmation.sendsEnds.keys()])}::text[]))
         AND NOT EXISTS (SELECT FROM action o WHERE o.incident_id = i.id
                            AND o.state IN ('proposed', 'approved', 'started', 'unknown', 'queued'))`;
    return row?.at ?? null;
  });
  if (last === null) return;
  await durably('end it', () =>
    move(deps, incident, {
      from: state,
      to: 'resolved',
      reason: `Nothing was heard of its alert for ${DAYS} days.`,
      key: `silent:${incident.round}:${last}`,
      events: [
        {
          type: 'incident.summary',
          text: `Ended by its age: nothing was heard of its alert for ${DAYS} days, neither that it fires nor that it is over. Whether the problem is gone is not known.`,
        },
      ],
      changes: { nextStep: null, resolvedBy: null },
      turnAfterMs: null,
    }),
  );
}
