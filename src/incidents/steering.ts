import type { Severity } from '../core/alert.ts';
import { type Refusal, refuse } from '../core/errors.ts';
import type { ActionId, IncidentId } from '../core/ids.ts';
import type { Incident } from '../core/incident.ts';
import { isEnded, mayMove, nextWork } from '../core/machine.ts';
import type { Tx } from '../core/sql.ts';
import { addRequester } from '../record/record.ts';
import type { ActionRow } from '../record/rows.ts';
import type { AuditLog } from '../safety/audit/audit-chain.ts';
import { closeIncident } from './close.ts';
import type { InvestigationDeps } from './deps.ts';
import { moveAlone, moveIn } from './move.ts';
import { RESUMED_AT_REST } from './next-steps.ts';
import { setSeverity } from './set-severity.ts';
import { tellNews } from './tell-news.ts';

export type Steered = { readonly ok: true; readonly text: string } | Refusal;

/** What a person in the thread may do with an incident; each is on record with who did it. */
export interface Steering {
  /** A hypothesis or a fact: has a finished investigation looked at again, and a running one hear it in its next phase. */
  hint(incidentId: IncidentId, by: string, text: string): Promise<Steered>;
  /** No turn goes on until *Resume*. A mutation that has begun is waited for, so it cannot be stopped half-way. */
  stop(incidentId: IncidentId, by: string, reason: string): Promise<Steered>;
  resume(incidentId: IncidentId, by: string): Promise<Steered>;
  /** It is over, on this person's word. */
  close(incidentId: IncidentId, by: string, reason: string): Promise<Steered>;
  setSeverity(incidentId: IncidentId, by: string, to: Severity): Promise<Steered>;
}

const HINT_MAX = 2_000;

type SteeringDeps = InvestigationDeps & { readonly audit: AuditLog };

export function createSteering(deps: SteeringDeps): Steering {
  return {
    hint: (incidentId, by, text) => giveHint(deps, incidentId, by, text),
    stop: (incidentId, by, reason) => stop(deps, incidentId, by, reason),
    resume: (incidentId, by) => resume(deps, incidentId, by),
    close: (incidentId, by, reason) => closeIncident(deps, incidentId, by, reason),
    setSeverity: (incidentId, by, to) => setSeverity(deps, incidentId, by, to),
  };
}

async function giveHint(
  deps: SteeringDeps,
  incidentId: IncidentId,
  by: string,
  text: string,
): Promise<Steered> {
  const { sql, records } = deps;
  const incident = await records.incident(incidentId);
  if (!incident) return refuse('UNKNOWN_INCIDENT', `There is no ${incidentId}.`);
  const words = deps.redact(text).trim().slice(0, HINT_MAX);
  if (!words) return refuse('EMPTY_HINT', 'Say what to look at: “hint: it began with the release”.');
  if (isEnded(incident.state))
    return refuse(
      'ENDED',
      `${incidentId} is over. If it is not, open it anew: /sentry investigate <what you see>`,
    );
  const again = incident.state === 'reported' || incident.state === 'escalated';
  await sql.begin(async (tx) => {
    const event = { type: 'hint.given', by, text: words } as const;
    // First, for it locks what waits for a decision before the incident, as decisions do.
    const moved =
      again &&
      (await moveAlone(tx, deps, incident, {
        from: incident.state,
        to: 'diagnosing',
        reason: 'A person gave a hint.',
        key: `hint:${incident.round}`,
        changes: { round: incident.round + 1, nextStep: 'Looking again with the hint.' },
        events: [event],
      }));
    if (moved !== 'moved') {
      await records.append(tx, incidentId, event);
      // Whoever looks for the cause hears it anyway.
      if (nextWork(incident.state) !== 'diagnose') await tellNews(tx, [incidentId]);
    }
    await addRequester(tx, incidentId, by);
  });
  return {
    ok: true,
    text: again ? 'Looking again with your hint.' : 'Noted. I take it into account in my next step.',
  };
}

async function stop(
  deps: SteeringDeps,
  incidentId: IncidentId,
  by: string,
  reason: string,
): Promise<Steered> {
  const { records } = deps;
  const incident = await records.incident(incidentId);
  if (!incident) return refuse('UNKNOWN_INCIDENT', `There is no ${incidentId}.`);
  if (incident.state === 'stopped') return refuse('ALREADY_STOPPED', `${incidentId} is stopped already.`);
  const rest = incident.state === 'remediating' ? await callOffRest(deps, incidentId, by, reason) : null;
  if (rest) return { ok: true, text: rest };
  if (!mayMove(incident.state, 'stopped'))
    return refuse(
      'CANNOT_STOP',
      incident.state === 'remediating'
        ? 'The approved fix is running; it ends within its time limit. Stop again then.'
        : `${incidentId} is over; there is nothing to stop.`,
    );
  const { moved, undoing } = await moveToStopped(deps, incident, by, reason);
  // It has moved on in between. Whoever says *stop* says it once: it is stopped where it is now.
  if (moved !== 'moved') return stop(deps, incidentId, by, reason);
  return {
    ok: true,
    text: `${incidentId} is stopped. ${undoing ? 'What had begun ends within its time limit. ' : ''}To go on: /sentry resume ${incidentId}, or “resume” in its thread.`,
  };
}

/** Where it is now, with what it waited for: nothing of it is approved any more. `undoing`: something that a person asked for beside it has begun. */
function moveToStopped(deps: SteeringDeps, incident: Incident, by: string, said: string) {
  const { id: incidentId } = incident;
  const reason = deps.redact(said);
  return deps.sql.begin(async (tx) => {
    const open = await lockOpenActions(tx, incidentId);
    const outcome = await moveIn(tx, deps, incident, {
      from: incident.state,
      to: 'stopped',
      reason: 'A person stopped it.',
      key: `stop:${Date.now()}`,
      changes: { nextStep: 'Stopped: mention me with “resume”, and I go on.' },
      events: [{ type: 'incident.stopped', by, reason }],
      turnAfterMs: null,
    });
    if (outcome === 'moved') {
      await voidStopped(tx, deps, incidentId, open);
      await deps.audit.appendIn(tx, {
        kind: 'incident.stopped',
        actor: by,
        incidentId,
        details: { reason },
      });
    }
    return { moved: outcome, undoing: open.some(({ state }) => state === 'started') };
  });
}

/** A plan under way begins no step any more; what has begun ends. Null: nothing is left of it that could begin. */
async function callOffRest(
  deps: SteeringDeps,
  incidentId: IncidentId,
  by: string,
  reason: string,
): Promise<string | null> {
  const { sql, records, audit } = deps;
  const steps = await sql.begin(async (tx) => {
    const rows = await tx<Pick<ActionRow, 'id' | 'step'>>`
      UPDATE action SET state = 'skipped', finished_at = clock_timestamp(), outcome = 'Not run: a person stopped the plan.'
       WHERE incident_id = ${incidentId} AND NOT beside AND NOT audit_only AND state = 'queued'
         AND EXISTS (SELECT FROM action f WHERE f.id = action.plan_id AND f.state IN ('started', 'unknown', 'succeeded'))
      RETURNING id, step`;
    if (rows.length === 0) return [];
    const [now] = await tx<
      Pick<Incident, 'severity'>
    >`SELECT severity FROM incident WHERE id = ${incidentId}`;
    await records.append(tx, incidentId, {
      type: 'incident.stopped',
      by,
      reason: deps.redact(reason),
      ...(now ? { severity: now.severity } : {}),
    });
    await audit.appendIn(tx, {
      kind: 'plan.stopped',
      actor: by,
      incidentId,
      details: { reason: deps.redact(reason), skipped: rows.map(({ id }) => id) },
    });
    await tx`SELECT sentry_enqueue_turn(${incidentId}, 'plan stopped', 0)`;
    return rows.map(({ step }) => step).toSorted((a, b) => a - b);
  });
  const [first] = steps;
  return first === undefined
    ? null
    : `The plan of ${incidentId} is stopped: step ${first} and what follows it does not run. What has begun ends within its time limit; then I look whether it helped.`;
}

async function resume(deps: SteeringDeps, incidentId: IncidentId, by: string): Promise<Steered> {
  const { sql, records } = deps;
  const incident = await records.incident(incidentId);
  if (incident?.state !== 'stopped' || !incident.stoppedFrom)
    return refuse('NOT_STOPPED', `${incidentId} is not stopped.`);
  const { stoppedFrom } = incident;
  await sql.begin(async (tx) => {
    // What was proposed at the very moment of the stop. An undo that a person asked for since then is a word of its own.
    const open = (await lockOpenActions(tx, incidentId)).filter(({ beside }) => !beside);
    const moved = await moveIn(tx, deps, incident, {
      from: 'stopped',
      to: stoppedFrom,
      reason: 'A person has it go on.',
      key: `resume:${Date.now()}`,
      // What was promised before the stop (to ask again at a time) is not promised any more.
      ...(nextWork(stoppedFrom) === 'wait' ? { changes: { nextStep: RESUMED_AT_REST } } : {}),
      events: [{ type: 'incident.resumed', by }],
    });
    if (moved === 'moved') await voidStopped(tx, deps, incidentId, open);
  });
  return { ok: true, text: `${incidentId} goes on.` };
}

type OpenAction = {
  readonly id: ActionId;
  readonly state: 'proposed' | 'approved' | 'started';
  readonly beside: boolean;
};

/** What could still run, and what runs beside the incident's course. In the ledger's order: actions' rows before the incident's. */
async function lockOpenActions(tx: Tx, incidentId: IncidentId): Promise<readonly OpenAction[]> {
  return tx<OpenAction>`
    SELECT id, state, beside FROM action WHERE incident_id = ${incidentId} AND NOT audit_only
       AND (state IN ('proposed', 'approved') OR beside AND state = 'started') ORDER BY id FOR UPDATE`;
}

/** An approval does not outlive a stop: after *Resume* the target is looked at anew, and people are asked again. */
async function voidStopped(
  tx: Tx,
  { approvals }: Pick<InvestigationDeps, 'approvals'>,
  incidentId: IncidentId,
  actions: readonly OpenAction[],
): Promise<void> {
  for (const { id } of actions)
    await approvals.void(tx, { id, incidentId }, 'The incident was stopped before it ran.');
}
