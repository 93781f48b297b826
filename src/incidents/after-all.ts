import { type CardClick, takeDenialBack } from '../actions/approvals/take-back.ts';
import type { ApprovalPolicy } from '../actions/policy/policy.ts';
import { type Action, isLastingFix, restOf, stepsOf } from '../core/action.ts';
import { type Refusal, refuse } from '../core/errors.ts';
import type { Incident } from '../core/incident.ts';
import { type AskedFor, askForApproval, atWork, waitsForPeople } from './ask-for-approval.ts';
import type { InvestigationDeps } from './deps.ts';

/** `text` is for whoever pressed; null where the thread shows all of it. */
export type AfterAll = { readonly ok: true; readonly text: string | null } | Refusal;

/** People change their minds about what was denied, and have done what was left undone. */
export interface ChangeOfMind {
  /** Asks for the denied action anew, as things are now; a No that stands is on its card. */
  askAgain(click: CardClick): Promise<AfterAll>;
  /** The No stands nowhere any more; where the incident waits for people, it is asked for anew as well. */
  takeBack(click: CardClick): Promise<AfterAll>;
  /** Asks for what a plan that stopped half-way has left undone, as a plan of its own. */
  runRest(click: CardClick): Promise<AfterAll>;
}

type Deps = InvestigationDeps & { readonly policy: Pick<ApprovalPolicy, 'mayDecide'> };

export function createChangeOfMind(deps: Deps): ChangeOfMind {
  const audited = async (
    click: CardClick,
    answer: AfterAll,
    [asked, refused] = ['denial.asked_again', 'denial.ask_again_refused'],
  ): Promise<AfterAll> => {
    const action = await deps.records.action(click.actionId);
    await deps.audit.append({
      kind: answer.ok ? asked : refused,
      actor: click.by,
      ...(action ? { incidentId: action.incidentId } : {}),
      details: { action: click.actionId, ...(answer.ok ? {} : { code: answer.code }) },
    });
    return answer;
  };
  return {
    askAgain: async (click) => audited(click, await askAgain(deps, click)),
    async takeBack(click) {
      const taken = await takeDenialBack(deps, click);
      if (!taken.ok) return taken;
      const incident = await deps.records.incident(taken.action.incidentId);
      if (!incident || !restsFor(incident, taken.action)) return { ok: true, text: 'The No is taken back.' };
      const again = await audited(click, await askAgain(deps, click));
      return again.ok
        ? again
        : { ok: true, text: `The No is taken back. It is not asked for again: ${again.reason}` };
    },
    runRest: async (click) =>
      audited(click, await askForRest(deps, click), ['plan.rest_asked', 'plan.rest_refused']),
  };
}

/** What is asked for can be waited for; a lasting fix is asked for while it is fixed. */
const restsFor = (incident: Incident, action: Action): boolean => {
  if (!isLastingFix(action)) return waitsForPeople(incident);
  const { state, resolvedBy, round } = incident;
  return state === 'resolved' && resolvedBy === 'confirmed' && round === action.round;
};

async function askAgain(deps: Deps, click: CardClick): Promise<AfterAll> {
  const found = await cardOf(deps, click);
  if ('ok' in found) return found;
  const { action, incident, record } = found;
  if (action.state !== 'denied' || action.undoes !== null)
    return refuse('NOT_DENIED', `It is ${action.state}: there is no No to go back on.`);
  // Asking is not approving: who may say No may have it asked again, and the new card says who may approve it.
  const mayNot = (await deps.policy.mayDecide(click.by, action, incident, 'deny')) ?? busy(incident, action);
  if (mayNot) return mayNot;
  return proposeAgain(deps, incident, stepsOf(record.actions, action), click.by, {
    purpose: `ask again for ${action.id}`,
    reason: 'A person has it asked for again.',
    nextStep: 'Waiting for somebody to approve what was denied before.',
  });
}

async function askForRest(deps: Deps, click: CardClick): Promise<AfterAll> {
  const found = await cardOf(deps, click);
  if ('ok' in found) return found;
  const { action, incident, record } = found;
  const steps = stepsOf(record.actions, action);
  const unknown = steps.find(({ state }) => state === 'unknown');
  if (unknown)
    return refuse(
      'STEP_UNKNOWN',
      `Nobody knows whether step ${unknown.step} ran. Say so on its card first; nothing was asked for.`,
    );
  const rest = !action.beside ? restOf(record.actions, steps) : [];
  if (rest.length === 0)
    return refuse(
      'NO_REST',
      'Nothing of this plan is left to ask for: it ran, was taken back, never began, or is asked for already.',
    );
  for (const step of rest) {
    const mayNot = await deps.policy.mayDecide(click.by, step, incident, 'deny');
    if (mayNot) return mayNot;
  }
  const refusal = busy(incident, action);
  if (refusal) return refusal;
  const asked = await proposeAgain(deps, incident, rest, click.by, {
    by: click.by,
    purpose: `ask for the rest of ${action.planId}`,
    reason: 'A person has the rest of the plan asked for.',
    nextStep: 'Waiting for somebody to approve the rest of the plan.',
  });
  // Whether it went by itself or by what ran of the plan, nobody knows.
  return !asked.ok && asked.code === 'OVER_BY_ITSELF'
    ? refuse(asked.code, 'The problem is over now, so there is nothing left to run. Nothing was asked for.')
    : asked;
}

/** What the card shows, as it stands on record; a refusal when it shows something else. */
async function cardOf(deps: Deps, { actionId, planHash }: CardClick) {
  const action = await deps.records.action(actionId);
  const record = action && (await deps.records.load(action.incidentId));
  if (!action || !record) return refuse('UNKNOWN_ACTION', 'This card is not on record any more.');
  if (action.planHash !== planHash)
    return refuse('PLAN_CHANGED', 'This is not the action that the card shows. Nothing was done.');
  return { action, record, incident: record.incident };
}

/** Why nothing can be asked for in an incident now. */
const busy = (incident: Incident, action: Action): Refusal | undefined =>
  restsFor(incident, action) ? undefined : atWork(incident);

/** As things are now, the steps in their order. */
async function proposeAgain(
  deps: Deps,
  incident: Incident,
  steps: readonly Action[],
  by: string,
  said: Pick<AskedFor, 'purpose' | 'reason' | 'nextStep' | 'by'>,
): Promise<AfterAll> {
  const [action, ...andThen] = steps;
  if (!action) throw new Error('a plan without a step');
  const { tool, target, input, why, runbookId, verify } = action;
  const answer = await askForApproval(deps, incident, {
    ...said,
    role: 'surgeon',
    request: { tool, target, input, proposal: { why, runbookId, verify, andThen } },
    events: [{ type: 'action.asked_again', actionId: action.id, by }],
    ...(isLastingFix(action) ? { lasting: action.id } : {}),
  });
  if (answer.kind === 'proposed') return { ok: true, text: null };
  if (answer.kind === 'ok') return refuse('NOT_ACTIVE', `${tool} changes nothing.`);
  return refuse(answer.code, answer.reason);
}
