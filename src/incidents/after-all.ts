import { type CardClick, takeDenialBack } from '../actions/approvals/take-back.ts';
import type { ApprovalPolicy } from '../actions/policy/policy.ts';
import { type Action, isLastingFix, restOf, stepsOf } from '../core/action.ts';
import { type Refusal, refuse } from '../core/errors.ts';
import type { ActionId } from '../core/ids.ts';
import type { Incident } from '../core/incident.ts';
import { mayMove } from '../core/machine.ts';
import type { Tx } from '../core/sql.ts';
import type { InvestigationDeps } from './deps.ts';
import { moveIn } from './move.ts';

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

/**
 * Nothing of the incident runs or is planned, and it is not over: what is asked for can be waited for. A lasting fix is asked
 * for while it is fixed.
 */
const restsFor = ({ state, resolvedBy, round }: Incident, action: Action): boolean =>
  isLastingFix(action)
    ? state === 'resolved' && resolvedBy === 'confirmed' && round === action.round
    : state !== 'planning' && mayMove(state, 'awaiting_approval');

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
function busy(incident: Incident, action: Action): Refusal | undefined {
  if (restsFor(incident, action)) return undefined;
  const { id, state } = incident;
  if (incident.endedAt)
    return refuse('AT_WORK', `${id} is over. If it is not, open it anew: /sentry investigate <what you see>`);
  if (state === 'stopped')
    return refuse('AT_WORK', `${id} is stopped. Resume it first: /sentry resume ${id}`);
  return refuse(
    'AT_WORK',
    state === 'awaiting_approval'
      ? 'Another plan of this incident waits for its decision. Decide on that one first.'
      : `${id} is being worked on. Press again when it waits for people.`,
  );
}

/** Through the gate like any proposal: fresh pre-flight, new card. The incident waits for it from the same moment on. */
async function proposeAgain(
  deps: Deps,
  incident: Incident,
  steps: readonly Action[],
  by: string,
  said: {
    readonly purpose: string;
    readonly reason: string;
    readonly nextStep: string;
    readonly by?: string;
  },
): Promise<AfterAll> {
  const [action, ...andThen] = steps;
  if (!action) throw new Error('a plan without a step');
  const credential = deps.vault.mint({
    role: 'surgeon',
    incidentId: incident.id,
    targets: [action.target],
    tools: steps.map(({ tool }) => tool),
  });
  const lasting = isLastingFix(action);
  const asked = { type: 'action.asked_again', actionId: action.id, by } as const;
  const stored = async (tx: Tx, id: ActionId, expiresMinutes: number): Promise<void> => {
    if (lasting) {
      await deps.records.append(tx, incident.id, asked);
      return;
    }
    const moved = await moveIn(tx, deps, incident, {
      from: incident.state,
      to: 'awaiting_approval',
      reason: said.reason,
      key: `asked again:${id}`,
      changes: { nextStep: said.nextStep },
      events: [asked],
      turnAfterMs: expiresMinutes * 60_000 + 500,
    });
    if (moved !== 'moved') throw new IncidentMoved();
  };
  try {
    const { tool, target, input, why, runbookId, verify } = action;
    const answer = await deps.gate.call(
      credential,
      { tool, target, input, proposal: { why, runbookId, verify, andThen } },
      {
        purpose: said.purpose,
        signal: deps.shutdown,
        again: { stored, ...(said.by === undefined ? {} : { by: said.by }) },
        ...(lasting ? { lasting } : {}),
      },
    );
    if (answer.kind === 'proposed') return { ok: true, text: null };
    if (answer.kind === 'ok') return refuse('NOT_ACTIVE', `${tool} changes nothing.`);
    return refuse(answer.code, answer.reason);
  } finally {
    deps.vault.revoke(credential);
  }
}

class IncidentMoved extends Error {
  constructor() {
    super('The incident has just moved on; look at its thread.');
  }
}
