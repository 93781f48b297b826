import type { Action } from '../../core/action.ts';
import type { IncidentEventBody } from '../../core/event.ts';
import { MAX_ROUNDS } from '../../core/machine.ts';
import type { Tx } from '../../core/sql.ts';
import type { ActionRow } from '../../record/rows.ts';
import { moveAlone } from '../move.ts';
import { NOT_TO_BLAME, SEEN_NO_MORE } from '../next-steps.ts';
import type { PhaseRun } from './phase-run.ts';

type Looked = Extract<IncidentEventBody, { type: 'incident.looked' }>;

/** What a look has found. `gone`: what was found is not there any more; `other`: it is, or is again, and what was said of it does not hold. */
export type Judged = Pick<Looked, 'after' | 'says' | 'seen' | 'differences'> &
  (
    | { readonly outcome: 'same' | 'could_not_look' }
    | { readonly outcome: 'changed'; readonly kind: 'gone' | 'other' }
  );

type Waiting = Pick<Action, 'id' | 'incidentId' | 'state'>;

/**
 * Puts a look on record, once. Where something has changed, the plan that waits is withdrawn with it, and the cause is looked for again
 * while the problem is there. An approval that was pressed meanwhile stands: its fix is held against the system before it runs.
 */
export function concludeLook(run: PhaseRun, judged: Judged): Promise<'said' | 'left'> {
  const { deps, incident } = run;
  return deps.sql.begin(async (tx) => {
    // In the ledger's order: the action's row, then the incident's.
    const waiting = await lockPlan(tx, incident.id);
    const [row] = await tx<{ readonly at: string; readonly changes: number }>`
      SELECT looked_at AS at, (SELECT count(*)::int FROM event e WHERE e.incident_id = i.id AND e.type = 'incident.looked'
               AND e.body->'again' = 'true' AND e.at > statement_timestamp() - interval '1 day') AS changes
        FROM incident i WHERE id = ${incident.id} AND state = ${incident.state} AND round = ${incident.round}
         AND is_looking FOR UPDATE`;
    if (!row || waiting.some(({ state }) => state === 'approved')) return 'left';
    const { outcome, after, says, seen, differences } = judged;
    const isChanged = judged.outcome === 'changed';
    const again = isChanged && judged.kind === 'other' && row.changes < MAX_ROUNDS;
    const event: Looked = {
      type: 'incident.looked',
      round: incident.round,
      outcome,
      after,
      says,
      seen,
      differences,
      withdrew: isChanged && waiting.length > 0,
      again,
    };
    const key = `looked:${row.at}`;
    if (!isChanged) return stay(tx, run, event, key);
    const nextStep = judged.kind === 'gone' ? SEEN_NO_MORE : NOT_TO_BLAME;
    if (!again && incident.state !== 'awaiting_approval') return stay(tx, run, event, key, nextStep);
    await moveAlone(tx, deps, incident, {
      from: incident.state,
      to: again ? 'diagnosing' : 'reported',
      reason:
        judged.kind === 'gone' ? 'What was found is no longer there.' : 'What was said no longer holds.',
      key,
      events: [event],
      changes: again
        ? { round: incident.round + 1, verdict: null, nextStep: 'Looking for the cause again.' }
        : { nextStep },
      turnAfterMs: again ? 0 : null,
    });
    for (const each of again ? [] : waiting) await deps.approvals.void(tx, each, `${says} Nothing was run.`);
    return 'said';
  });
}

async function stay(
  tx: Tx,
  { deps, incident }: PhaseRun,
  event: Looked,
  key: string,
  nextStep?: string,
): Promise<'said'> {
  await deps.records.append(tx, incident.id, event, key);
  await tx`
    UPDATE incident SET is_looking = false, next_step = coalesce(${nextStep ?? null}, next_step), updated_at = clock_timestamp()
     WHERE id = ${incident.id}`;
  return 'said';
}

async function lockPlan(tx: Tx, incidentId: Waiting['incidentId']): Promise<readonly Waiting[]> {
  const rows = await tx<Pick<ActionRow, 'id' | 'state'>>`
    SELECT id, state FROM action WHERE incident_id = ${incidentId} AND NOT beside AND NOT audit_only
       AND state IN ('proposed', 'approved') ORDER BY id FOR UPDATE`;
  return rows.map(({ id, state }) => ({ id, incidentId, state }));
}
