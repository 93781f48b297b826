import type { Sql } from '../../core/sql.ts';
import { moveAlone } from '../move.ts';
import type { Confirmation } from '../source-end.ts';
import type { PhaseRun } from './phase-run.ts';

/** The reason of a turn that ends an incident of which nothing more was heard. */
export const SILENT_TURN = 'silent?';
/** So long without a word of its source or of a person. */
const DAYS = 7;
/** In one sweep; the next one goes on. */
const BATCH = 100;

type Senders = Pick<Confirmation, 'sendsEnds' | 'repeats'>;

/** Asks for the turns that end what has waited for people in silence: only of those that may be ended, or others would never come. */
export async function sweepSilent(sql: Sql, senders: Senders): Promise<void> {
  await sql`
    SELECT sentry_enqueue_turns(array_agg(id), ${SILENT_TURN}) FROM (
      SELECT id FROM incident
       WHERE state IN ('reported', 'escalated')
         AND opened_at < statement_timestamp() - ${DAYS} * interval '1 day'
         AND updated_at < statement_timestamp() - ${DAYS} * interval '1 day'
         AND sentry_silence_ends(id, ${sql.array([...senders.repeats])}::text[], ${sql.array(tellOnce(senders))}::text[])
       ORDER BY opened_at LIMIT ${BATCH}) AS silent
    HAVING count(*) > 0`;
}

/**
 * `reported` or `escalated` → `resolved`, on nobody's word: its sender tells again of what fires, and has not. It is not called fixed.
 */
export async function endSilent({ deps, incident, durably }: PhaseRun): Promise<void> {
  const { state, id, round } = incident;
  if (state !== 'reported' && state !== 'escalated') return;
  const { repeats } = deps.confirmation;
  await durably('end it', () =>
    deps.sql.begin(async (tx) => {
      // What an alert is about to change is waited for, and seen.
      await tx`SELECT FROM incident WHERE id = ${id} FOR UPDATE`;
      const [silent] = await tx<{ since: string }>`
        SELECT updated_at::text AS since FROM incident
         WHERE id = ${id} AND updated_at < clock_timestamp() - ${DAYS} * interval '1 day'
           AND sentry_silence_ends(id, ${tx.array([...repeats])}::text[], ${tx.array(tellOnce(deps.confirmation))}::text[])`;
      if (!silent) return;
      await moveAlone(tx, deps, incident, {
        from: state,
        to: 'resolved',
        reason: `Nothing was heard of its alert for ${DAYS} days.`,
        key: `silent:${round}:${silent.since}`,
        events: [
          {
            type: 'incident.summary',
            text: `Ended by its age: nothing was heard of its alert for ${DAYS} days, neither that it fires nor that it is over. Whether the problem is gone is not known.`,
          },
        ],
        changes: { nextStep: null, resolvedBy: null },
        turnAfterMs: null,
      });
    }),
  );
}

/** Those that tell of an end, but of what fires only once: their silence says nothing. */
function tellOnce({ sendsEnds, repeats }: Senders): readonly string[] {
  return [...sendsEnds.keys()].filter((name) => !repeats.has(name));
}
