import type { Investigator, PlanOutcome } from '../../agents/ports.ts';
import type { Action } from '../../core/action.ts';
import type { Diagnosis } from '../../core/diagnosis.ts';
import { isGoneCode, type LimitedUntil } from '../../core/errors.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { isEnded } from '../../core/machine.ts';
import { EMPTY_RECALL, type Recall } from '../../core/memory.ts';
import { verifyEvidence } from '../claims/verify-evidence.ts';
import { isLeftover, withdrawLeftovers } from '../leftovers.ts';
import { limitMet, mayAskAgain } from '../limited-until.ts';
import { move, note } from '../move.ts';
import { AFTER_A_NO, OVER_BY_ITSELF } from '../next-steps.ts';
import { withInvestigator } from '../work.ts';
import { redacted, triageOnRecord, worthActingOn } from './diagnose.ts';
import { lookAnew } from './look-anew.ts';
import type { PhaseRun } from './phase-run.ts';

/** `planning` → `awaiting_approval` with one action, else `reported`. */
export async function plan(run: PhaseRun): Promise<void> {
  const { deps, incident } = run;
  // Not a durable step on purpose: a turn that runs again after a crash, when the incident has been moved on (by itself or
  // by a later turn), must not propose once more.
  const now = await deps.records.incident(incident.id);
  if (now && now.state !== 'planning') {
    if (now.state === 'awaiting_approval') await deps.jobs.enqueueTurn(incident.id, 'proposed');
    return;
  }
  // Not durable either, and for the same reason: what stands now counts, not what stood at the first try.
  if (await takesUpProposal(run)) return;
  const known = await run.durably('read diagnosis', async () => {
    const record = await deps.records.load(incident.id);
    const last = record?.events.findLast((event) => event.type === 'diagnosis.concluded');
    return last?.diagnosis ?? null;
  });
  const recall = await run.durably('recall for the plan', () =>
    deps.memory.recall(incident, incident.incidentType).catch(() => EMPTY_RECALL),
  );
  const outcome = await withInvestigator(
    run,
    'surgeon',
    recall,
    async (investigator, work): Promise<PlanOutcome> => {
      if (!known) return none('There is no diagnosis on record.');
      const diagnosis = await planned(run, recall, investigator, known);
      return diagnosis
        ? investigator.plan(work, diagnosis)
        : none('The model failed while planning, and the runbooks’ own look does not carry a fix.');
    },
  );
  await run.durably('conclude', async () => {
    const action = outcome.kind === 'proposed' ? await deps.records.action(outcome.actionId) : null;
    if (outcome.kind === 'proposed' && action && !action.auditOnly) {
      return awaitDecision(run, action);
    }
    await deps.sql.begin((tx) => withdrawLeftovers(tx, deps, incident.id));
    const record = await deps.records.load(incident.id);
    const refusedFor = record?.toolCalls.findLast(({ role }) => role === 'surgeon')?.code ?? null;
    if (
      outcome.kind === 'none' &&
      record &&
      (refusedFor === 'FAILED_OVER' || hasGone(record, refusedFor)) &&
      (await lookAnew(run, outcome.reason))
    )
      return 'moved';
    // The last thing that was to be proposed had nothing left to repair.
    const hasPassed = refusedFor === 'OVER_BY_ITSELF';
    const limited = outcome.kind === 'none' && !hasPassed ? await limitedUntil(run) : null;
    const reason =
      outcome.kind === 'none'
        ? // The time stands beside it, in the reader's zone.
          (limited?.limit ?? outcome.reason)
        : `${action?.heldBy ?? 'Nothing may be changed now (AUDIT mode).'} This is what Sentry would propose.`;
    return move(deps, incident, {
      from: 'planning',
      to: 'reported',
      reason,
      key: `planned:none:${incident.round}:${run.reason}${limited ? `:${limited.until}` : ''}`,
      changes: limited
        ? { nextStep: limited.limit, asksAgainAt: limited.until }
        : {
            nextStep: hasPassed
              ? OVER_BY_ITSELF
              : (await hasDenied(run))
                ? AFTER_A_NO
                : nextWithout(known, reason),
          },
      events: [
        {
          type: 'plan.none',
          reason: deps.redact(reason),
          ...(outcome.kind === 'none' && outcome.said !== undefined
            ? { said: deps.redact(outcome.said) }
            : {}),
          ...(limited ? { asksAgainAt: limited.until } : {}),
        },
      ],
      turnAfterMs: null,
    });
  });
}

/** The limit for which nothing could be proposed, where it is worth waiting for. */
async function limitedUntil({ deps, incident }: PhaseRun): Promise<LimitedUntil | null> {
  const record = await deps.records.load(incident.id);
  return record && mayAskAgain(record) ? limitMet(record) : null;
}

async function awaitDecision({ deps, incident }: PhaseRun, action: Action): Promise<string> {
  const [left] = await deps.sql<{ ms: number }>`
    SELECT greatest(0, extract(epoch FROM expires_at - clock_timestamp()) * 1000)::float8 AS ms
      FROM action WHERE id = ${action.id}`;
  const moved = await move(deps, incident, {
    from: 'planning',
    to: 'awaiting_approval',
    reason: 'A fix is proposed.',
    key: `planned:${action.id}`,
    changes: { nextStep: 'Waiting for somebody to approve the proposed fix.' },
    // The timer of the expiry; the decision enqueues its own turn.
    turnAfterMs: Math.ceil(left?.ms ?? 0) + 500,
  });
  // A person may have closed it meanwhile: nobody decides on what was proposed for it.
  const now = moved === 'lost' ? await deps.records.incident(incident.id) : null;
  if (now && isEnded(now.state)) await deps.sql.begin((tx) => withdrawLeftovers(tx, deps, incident.id));
  // Somebody may have been faster than this transaction: their turn found the incident still planning.
  await deps.jobs.enqueueTurn(incident.id, 'proposed');
  return moved;
}

/**
 * A turn that died may have proposed before it moved the incident, and somebody may have approved that since: it is this
 * planning's own plan, so the incident waits for its decision or follows it. What is left of an earlier planning is
 * withdrawn, so that it does not stand in the way of the next plan.
 */
async function takesUpProposal(run: PhaseRun): Promise<boolean> {
  const { deps, incident } = run;
  const record = await deps.records.load(incident.id);
  const begunAt = record?.events.findLast(
    (event) => event.type === 'state.changed' && event.to === 'planning',
  )?.seq;
  const proposedHere = record?.events.findLast(
    (event) => event.type === 'action.proposed' && begunAt !== undefined && event.seq > begunAt,
  );
  const action = record?.actions.find(
    (each) =>
      isLeftover(each) && proposedHere?.type === 'action.proposed' && each.id === proposedHere.actionId,
  );
  if (action) {
    await awaitDecision(run, action);
    return true;
  }
  if (record?.actions.some(isLeftover))
    await deps.sql.begin((tx) => withdrawLeftovers(tx, deps, incident.id));
  return false;
}

async function hasDenied({ deps, incident }: PhaseRun): Promise<boolean> {
  const actions = (await deps.records.load(incident.id))?.actions ?? [];
  return actions.some(
    ({ state, round, beside }) => state === 'denied' && round === incident.round && !beside,
  );
}

/**
 * A model's diagnosis names no exact call and the surgeon may not read: where the playbook takes over only now, it looks
 * as the detective first, and plans from what it has seen itself. That diagnosis is held to its evidence like any other:
 * null when it does not carry a fix.
 */
async function planned(
  run: PhaseRun,
  recall: Recall,
  investigator: Investigator,
  known: Diagnosis,
): Promise<Diagnosis | null> {
  if (investigator.name !== 'playbook' || known.suggested !== undefined) return known;
  const { deps } = run;
  const incident = { ...run.incident, investigator: 'playbook' } as const;
  const checked = await withInvestigator({ ...run, incident }, 'detective', recall, async (playbook, work) =>
    verifyEvidence(run, playbook, work, await playbook.diagnose(work, await triageOnRecord(deps, incident))),
  );
  const { diagnosis } = checked;
  await run.durably('the playbook’s diagnosis', async () => {
    // By what it rests on: a turn that is tried again for the same reason has looked again.
    const looked = diagnosis.evidence[0]?.toolCallIds[0] ?? run.reason;
    await note(deps, incident, `taken over:${incident.round}:${looked}`, {
      type: 'diagnosis.concluded',
      round: incident.round,
      diagnosis: redacted(diagnosis, deps.redact),
    });
    return true;
  });
  return worthActingOn(checked) ? diagnosis : null;
}

/**
 * What a plan was about has gone, or shows nothing of the problem any more: while it waited for its decision, or before it could be
 * proposed, as when another incident's fix has ended it since it was looked at. That is worth a second look; after it, whoever plans
 * names what is not there.
 */
function hasGone({ events }: IncidentRecord, refusedFor: string | null): boolean {
  if (!isGoneCode(refusedFor) && refusedFor !== 'NOT_TO_BLAME') return false;
  const moves = events.filter((event) => event.type === 'state.changed');
  const hasWaited = moves.findLast(({ to }) => to === 'planning')?.from === 'awaiting_approval';
  return hasWaited || moves.filter(({ to }) => to === 'diagnosing').length === 1;
}

const none = (reason: string) => ({ kind: 'none', reason }) as const;

/** What a runbook recommends, else ours: what a model recommends is its own suggestion, in the thread. */
function nextWithout(diagnosis: Diagnosis | null, reason: string): string {
  if (diagnosis?.origin === 'model')
    return `${reason} A person should look at the cause and at what Claude suggests in the thread.`;
  return diagnosis?.remedy ?? reason;
}
