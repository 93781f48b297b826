import { messageOf, OpsError } from '../core/errors.ts';
import type { IncidentId } from '../core/ids.ts';
import type { Incident } from '../core/incident.ts';
import { mayMove } from '../core/machine.ts';
import type { Tx } from '../core/sql.ts';
import type { ActionRow } from '../record/rows.ts';
import type { InvestigationDeps } from './deps.ts';
import { withdrawLeftovers } from './leftovers.ts';
import { moveAlone } from './move.ts';

/** So often a turn may fail for one reason before somebody else has to go on. */
const TRIES = 3;
/** The same where nobody else could: the playbook from the beginning, or a phase that has no investigator. */
const TRIES_ALONE = 6;
/** So often the limit it may fail for several reasons by turns. */
const ALL_REASONS = 3;
const MAX_REASON = 200;

/**
 * After a turn has failed for a reason that time does not mend: counts it, on record, and ends the repetition at its limit.
 * Claude's work goes to the playbook; what the playbook fails at, too, goes to a person. False: the turn is to be tried again.
 */
export async function endRepetition(
  deps: InvestigationDeps,
  incidentId: IncidentId,
  error: unknown,
  isBeside = false,
): Promise<boolean> {
  const incident = await deps.records.incident(incidentId);
  if (!incident || !(isBeside || mayMove(incident.state, 'escalated'))) return false;
  const said = deps.redact(messageOf(error)).slice(0, MAX_REASON);
  const worker = isBeside ? 'undo' : workerOf(deps, incident);
  const limit = worker === 'claude' || (worker === 'playbook' && deps.claude !== null) ? TRIES : TRIES_ALONE;
  const ended = await deps.sql.begin(async (tx) => {
    const { same, all } = await count(tx, incident, worker, reasonOf(error, said));
    if (same < limit && all < limit * ALL_REASONS) return false;
    deps.log.error(
      { incident: incident.id, state: incident.state, worker, reason: said },
      'a turn keeps failing',
    );
    const words = `The same step failed ${Math.max(same, 1)} times (${said}).`;
    if (worker === 'undo') await endBeside(tx, deps, incident, words);
    else if (worker === 'claude') await toPlaybook(tx, deps, incident, words);
    else await toPerson(tx, deps, incident, words);
    return true;
  });
  return ended;
}

/** Who does the work of the incident's phase. */
function workerOf({ claude }: InvestigationDeps, { state, investigator }: Incident): string {
  if (state !== 'triaging' && state !== 'diagnosing' && state !== 'planning') return 'nobody';
  return claude === null || investigator === 'playbook' ? 'playbook' : 'claude';
}

async function count(
  tx: Tx,
  { id, state, round }: Incident,
  worker: string,
  reason: string,
): Promise<{ readonly same: number; readonly all: number }> {
  const [one] = await tx<{ failures: number }>`
    INSERT INTO turn_failure AS f (incident_id, state, round, investigator, reason)
    VALUES (${id}, ${state}, ${round}, ${worker}, ${reason})
    ON CONFLICT (incident_id, state, round, investigator, reason)
      DO UPDATE SET failures = f.failures + 1, last_at = clock_timestamp()
    RETURNING failures`;
  const [sum] = await tx<{ failures: number }>`
    SELECT sum(failures)::integer AS failures FROM turn_failure
    WHERE incident_id = ${id} AND state = ${state} AND round = ${round} AND investigator = ${worker}`;
  return { same: one?.failures ?? 0, all: sum?.failures ?? 0 };
}

/** Another message with other numbers, ids or quoted words is the same reason. */
function reasonOf(error: unknown, said: string): string {
  const code = error instanceof OpsError ? error.code : error instanceof Error ? error.name : 'thrown';
  const general = said
    .replace(/"[^"]*"|'[^']*'|“[^”]*”/g, '…')
    .replace(/\b[\w-]*\d[\w-]*\b/g, '#')
    .replace(/\s+/g, ' ');
  return `${code}: ${general}`;
}

/** For the rest of the incident; the turn that goes on begins the phase anew. */
async function toPlaybook(
  tx: Tx,
  deps: InvestigationDeps,
  incident: Incident,
  reason: string,
): Promise<void> {
  await tx`UPDATE incident SET investigator = 'playbook', words = NULL WHERE id = ${incident.id}`;
  const event = { type: 'investigator.fallback', reason } as const;
  await deps.records.append(tx, incident.id, event, `fallback:${incident.round}`);
  await tx`SELECT sentry_enqueue_turn(${incident.id}, 'the playbook goes on')`;
}

async function toPerson(tx: Tx, deps: InvestigationDeps, incident: Incident, reason: string): Promise<void> {
  await moveAlone(tx, deps, incident, {
    from: incident.state,
    to: 'escalated',
    reason,
    key: `failing:${incident.state}:${incident.round}`,
    changes: {
      nextStep: 'A person has to take over.',
      // It is not over any more on anybody's word.
      ...(incident.state === 'resolved' ? { verdict: null, sourceResolvedAt: null } : {}),
    },
    events: [{ type: 'incident.escalated', reason }],
    turnAfterMs: null,
  });
  if (incident.state === 'planning' || incident.state === 'awaiting_approval')
    await withdrawLeftovers(tx, deps, incident.id);
  // Whoever has it looked at again begins to count anew.
  await tx`DELETE FROM turn_failure WHERE incident_id = ${incident.id}`;
}

/** What runs beside, and nothing gets done with: its card says so, and one that may have run is for people to look at. */
async function endBeside(tx: Tx, deps: InvestigationDeps, incident: Incident, reason: string): Promise<void> {
  const [undone] = await tx`
    SELECT FROM action WHERE incident_id = ${incident.id} AND undoes IS NOT NULL
       AND state NOT IN ('denied', 'expired', 'void', 'failed', 'skipped')`;
  const rows = await tx<Pick<ActionRow, 'id'>>`
    SELECT id FROM action
     WHERE incident_id = ${incident.id} AND beside AND step = 1 AND state IN ('proposed', 'approved')`;
  for (const { id } of rows) await deps.approvals.void(tx, { id, incidentId: incident.id }, reason);
  await tx`
    UPDATE action SET state = 'unknown', outcome = ${`${reason} Look at the target and settle it by hand.`}
     WHERE incident_id = ${incident.id} AND beside AND state = 'started' AND done_by < clock_timestamp()`;
  // What was called fixed may be undone: nobody looks after it any more but people.
  if (undone && incident.state === 'resolved' && incident.resolvedBy === 'confirmed')
    return toPerson(tx, deps, incident, reason);
  await tx`DELETE FROM turn_failure WHERE incident_id = ${incident.id} AND investigator = 'undo'`;
}
