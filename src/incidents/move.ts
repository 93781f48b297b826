import type { Severity } from '../core/alert.ts';
import { type Effort, isResting } from '../core/effort.ts';
import { OpsError } from '../core/errors.ts';
import type { IncidentEventBody } from '../core/event.ts';
import type { IncidentId } from '../core/ids.ts';
import type { Incident, IncidentState, Verdict } from '../core/incident.ts';
import { isEnded, mayLookAgain, mayMove, restsUnder } from '../core/machine.ts';
import type { Tx } from '../core/sql.ts';
import { outwardText } from '../safety/screen/boundary.ts';
import { letGo } from './correlation/let-go.ts';
import type { InvestigationDeps } from './deps.ts';
import { lockLastingFix, lockOpenPlan, withdrawLastingFix, withdrawOpenPlan } from './leftovers.ts';

/** What may change with a move; undefined leaves the column as it is. */
export interface IncidentChanges {
  /** Of this and what has joined since the incident was read the worse. */
  readonly severity?: Severity;
  readonly incidentType?: string | null;
  readonly routine?: boolean | null;
  readonly round?: number;
  readonly cause?: string | null;
  readonly confidence?: number | null;
  readonly verdict?: Verdict | null;
  readonly nextStep?: string | null;
  readonly investigator?: 'claude' | 'playbook' | null;
  /**
   * Left out, a rest that the policy asked for ends when the cause is looked for. With a move to `reported` that this asks for, what has
   * joined meanwhile is weighed in a turn of its own.
   */
  readonly effort?: Effort;
  readonly sourceResolvedAt?: null;
  /** With a move to `resolved`, whose word it is. */
  readonly resolvedBy?: Incident['resolvedBy'];
  readonly closedBy?: string;
  /** With a move to `reported`: when a turn of its own comes and asks again (phases/ask-again.ts). Any other move clears it. */
  readonly asksAgainAt?: string;
}

/** The reason of the turn that comes when a limit is over. */
export const ASK_AGAIN_TURN = 'ask again';
/** The reason of a turn for what runs beside the incident's course; it is in data since only undos did. */
export const BESIDE_TURN = 'undo';
/** What joined an incident that waits or rests may ask for more; the reason stands in prisma/migrations. */
export const JOINED_TURN = 'alert joined';
/** Something was told of an incident that waits: whether it is still so. The reason stands in prisma/migrations, and is no other turn's. */
export const STILL_SO_TURN = 'still so?';
/** After the limit's last moment. */
const ASK_AGAIN_AFTER_MS = 500;

export interface Move {
  readonly from: IncidentState;
  readonly to: IncidentState;
  readonly reason: string;
  /** Recorded before the state change, in order. */
  readonly events?: readonly IncidentEventBody[];
  readonly changes?: IncidentChanges;
  /** The key under which a re-run of the same step finds that it has been done: unique per turn and move. */
  readonly key: string;
  /** Whether a turn follows; false where only a person or a timer goes on. */
  readonly turnAfterMs?: number | null;
}

/**
 * Moves an incident, with its events and its next turn, in one transaction. `already`: this very move was made before a
 * crash. `lost`: somebody else moved the incident first, or it is in a later round; whoever did has asked for the turn that
 * goes on.
 */
export async function move(
  deps: InvestigationDeps,
  incident: Incident,
  step: Move,
): Promise<'moved' | 'already' | 'lost'> {
  const outcome = await deps.sql.begin((tx) => moveAlone(tx, deps, incident, step));
  return outcome;
}

/**
 * The same inside a transaction. Once it is not fixed any more, nothing is asked for that was to keep it so; once its cause
 * is looked for again, nothing that rests on the cause that was found before.
 */
export async function moveAlone(
  tx: Tx,
  deps: Pick<InvestigationDeps, 'records' | 'approvals'>,
  incident: Incident,
  step: Move,
): Promise<'moved' | 'already' | 'lost'> {
  // In the ledger's order: the action's row, then the incident's.
  const waiting = step.from === 'resolved' ? await lockLastingFix(tx, incident.id) : [];
  // *Resume* leads back into the same look.
  const isLookedForAgain = step.to === 'diagnosing' && step.from !== 'stopped';
  const plan = isLookedForAgain ? await lockOpenPlan(tx, incident.id) : [];
  const outcome = await moveIn(tx, deps, incident, step);
  if (outcome === 'moved') {
    await withdrawLastingFix(tx, deps, waiting, step.reason);
    await withdrawOpenPlan(tx, deps, plan);
  }
  return outcome;
}

/** The move itself, in a transaction of the caller's, such as the ledger's. */
export async function moveIn(
  tx: Tx,
  deps: Pick<InvestigationDeps, 'records'>,
  incident: Incident,
  { from, to, reason: said, events = [], changes = {}, key, turnAfterMs = 0 }: Move,
): Promise<'moved' | 'already' | 'lost'> {
  const reason = outwardText(said);
  if (!mayMove(from, to, incident.stoppedFrom))
    throw new OpsError('ILLEGAL_MOVE', `${incident.id} may not go from ${from} to ${to}.`, {
      hint: 'A defect: report it with the record.',
    });
  // A mute may have come after the turn had read the incident, which goes on all the same. So may the incident that it is a part of:
  // under that it rests before its next phase, and not once it has a fix, a result or a person of its own.
  const endsMute = (from === 'open' || isEnded(from)) && !isEnded(to);
  const endsMerge = !isEnded(to) && (isEnded(from) || !restsUnder(to));
  // What it rests under is told, too: both rows are locked by id, as correlation locks them.
  const locked =
    endsMute || endsMerge
      ? await tx<{ id: IncidentId; muted_by: string | null; merged_into: IncidentId | null }>`
          SELECT id, muted_by, merged_into FROM incident
           WHERE id IN (${incident.id}, (SELECT merged_into FROM incident WHERE id = ${incident.id}))
           ORDER BY id COLLATE "C" FOR UPDATE`
      : [];
  const held = locked.find(({ id }) => id === incident.id);
  const rows = await tx<Pick<Incident, 'severity'> & { readonly has_news: boolean }>`
    UPDATE incident SET
      state = ${to},
      -- Whoever looks for the cause anew knows all that was told before.
      news_at = CASE WHEN NOT ${isEnded(to) || (to === 'diagnosing' && from !== 'stopped')} THEN news_at END,
      is_looking = false,
      muted_by = CASE WHEN ${isEnded(to)} THEN muted_by END,
      merged_into = CASE WHEN NOT ${endsMerge} THEN merged_into END,
      words = NULL,
      stopped_from = ${to === 'stopped' ? from : null},
      -- Never less than what rests under it: for that nobody else calls.
      severity = sentry_worse_severity(
        CASE WHEN severity = ${incident.severity} THEN coalesce(${changes.severity ?? null}, severity)
             ELSE sentry_worse_severity(severity, coalesce(${changes.severity ?? null}, severity)) END,
        coalesce((SELECT m.severity FROM incident m
                   WHERE m.merged_into = incident.id AND m.source_resolved_at IS NULL AND m.state NOT IN ('ignored', 'resolved')
                   ORDER BY array_position(ARRAY['critical', 'error', 'warning', 'info'], m.severity) LIMIT 1),
                 coalesce(${changes.severity ?? null}, severity))),
      incident_type = CASE WHEN ${changes.incidentType !== undefined} THEN ${changes.incidentType ?? null} ELSE incident_type END,
      routine = CASE WHEN ${changes.routine !== undefined} THEN ${changes.routine ?? null}::boolean ELSE routine END,
      round = coalesce(${changes.round ?? null}::integer, round),
      cause = CASE WHEN ${changes.cause !== undefined} THEN ${outward(changes.cause)} ELSE cause END,
      confidence = CASE WHEN ${changes.confidence !== undefined} THEN ${changes.confidence ?? null}::float8 ELSE confidence END,
      verdict = CASE WHEN ${changes.verdict !== undefined} THEN ${changes.verdict ?? null} ELSE verdict END,
      next_step = CASE WHEN ${changes.nextStep !== undefined} THEN ${outward(changes.nextStep)} ELSE next_step END,
      investigator = CASE WHEN ${changes.investigator !== undefined} THEN ${changes.investigator ?? null} ELSE investigator END,
      source_resolved_at = CASE WHEN ${changes.sourceResolvedAt === null} THEN NULL ELSE source_resolved_at END,
      effort = coalesce(${changes.effort ?? null},
                        CASE WHEN ${to === 'diagnosing'} AND effort IN ('none', 'on_demand', 'triage') THEN 'adaptive'
                             ELSE effort END),
      resolved_by = CASE WHEN ${to === 'resolved'} THEN ${changes.resolvedBy ?? null} ELSE NULL END,
      closed_by = ${changes.closedBy ?? null},
      asks_again_at = ${changes.asksAgainAt ?? null}::timestamptz,
      flapping_until = CASE WHEN ${from === 'resolved' && to === 'reported'} THEN flapping_until END,
      ended_at = CASE WHEN ${isEnded(to)} THEN clock_timestamp() WHEN ${isEnded(from)} THEN NULL ELSE ended_at END,
      details_deleted_at = NULL,
      updated_at = clock_timestamp()
    WHERE id = ${incident.id} AND state = ${from} AND round = ${incident.round}
    RETURNING severity, news_at IS NOT NULL AS has_news`;
  const stateKey = `state:${key}`;
  const [row] = rows;
  if (row === undefined) {
    const [done] =
      await tx`SELECT 1 AS x FROM event WHERE incident_id = ${incident.id} AND dedupe_key = ${stateKey}`;
    return done ? 'already' : 'lost';
  }
  if (endsMute && typeof held?.muted_by === 'string')
    await deps.records.append(tx, incident.id, { type: 'incident.unmuted', mute: held.muted_by });
  if (endsMerge && typeof held?.merged_into === 'string')
    await letGo(tx, deps, [incident.id, held.merged_into], null);
  for (const [index, event] of events.entries())
    await deps.records.append(tx, incident.id, weighed(event, row.severity), `${key}:${index}`);
  await deps.records.append(tx, incident.id, { type: 'state.changed', from, to, reason }, stateKey);
  // Marked, because a reason may be a model's or a person's words, and those of some turns say what the turn is for.
  if (turnAfterMs !== null)
    await tx`SELECT sentry_enqueue_turn(${incident.id}, ${`moved: ${reason.slice(0, 200)}`}, ${turnAfterMs})`;
  if (to === 'reported' && isResting(changes.effort ?? null))
    await tx`SELECT sentry_enqueue_turn(${incident.id}, ${JOINED_TURN}, 0)`;
  if (row.has_news && mayLookAgain(to))
    await tx`SELECT sentry_enqueue_turn(${incident.id}, ${STILL_SO_TURN}, 0)`;
  if (changes.asksAgainAt !== undefined)
    await tx`
      SELECT sentry_enqueue_turn(${incident.id}, ${ASK_AGAIN_TURN}, greatest(0, ceil(
        extract(epoch FROM ${changes.asksAgainAt}::timestamptz - clock_timestamp()) * 1000))::bigint + ${ASK_AGAIN_AFTER_MS})`;
  return 'moved';
}

/** With how bad it is now, where that decides whom it is told: later it may be worse. */
function weighed(event: IncidentEventBody, severity: Severity): IncidentEventBody {
  const isWeighed =
    event.type === 'plan.none' || event.type === 'incident.stopped' || event.type === 'incident.closed';
  return isWeighed ? { ...event, severity } : event;
}

/** These columns hold what models and people said, and leave by every way there is. */
function outward(text: string | null | undefined): string | null {
  return text == null ? null : outwardText(text);
}

/** Records events that move nothing. */
export async function note(
  deps: InvestigationDeps,
  incident: Incident,
  key: string,
  event: IncidentEventBody,
): Promise<void> {
  await deps.sql.begin((tx) => deps.records.append(tx, incident.id, event, key));
}
