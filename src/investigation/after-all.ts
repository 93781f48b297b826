import type { ApprovalPolicy } from '../approvals/policy.ts';
import { type DeniedClick, takeDenialBack } from '../approvals/take-back.ts';
import { type Action, isLastingFix } from '../domain/action.ts';
import { type Refusal, refuse } from '../domain/errors.ts';
import type { ActionId } from '../domain/ids.ts';
import type { Incident } from '../domain/incident.ts';
import type { Tx } from '../domain/sql.ts';
import type { InvestigationDeps } from './deps.ts';
import { mayMove } from './machine.ts';
import { moveIn } from './move.ts';

/** `text` is for whoever pressed; null where the thread shows all of it. */
export type AfterAll = { readonly ok: true; readonly text: string | null } | Refusal;

/** People change their minds about what was denied. */
export interface ChangeOfMind {
  /** Asks for the denied action anew, as things are now; a No that stands is on its card. */
  askAgain(click: DeniedClick): Promise<AfterAll>;
  /** The No stands nowhere any more; where the incident waits for people, it is asked for anew as well. */
  takeBack(click: DeniedClick): Promise<AfterAll>;
}

type Deps = InvestigationDeps & { readonly policy: Pick<ApprovalPolicy, 'mayDecide'> };

export function createChangeOfMind(deps: Deps): ChangeOfMind {
  const audited = async (click: DeniedClick, answer: AfterAll): Promise<AfterAll> => {
    const action = await deps.records.action(click.actionId);
    await deps.audit.append({
      kind: answer.ok ? 'denial.asked_again' : 'denial.ask_again_refused',
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
      deps.reporter.changed(taken.action.incidentId);
      const incident = await deps.records.incident(taken.action.incidentId);
      if (!incident || !restsFor(incident, taken.action)) return { ok: true, text: 'The No is taken back.' };
      const again = await audited(click, await askAgain(deps, click));
      return again.ok
        ? again
        : { ok: true, text: `The No is taken back. It is not asked for again: ${again.reason}` };
    },
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

async function askAgain(deps: Deps, click: DeniedClick): Promise<AfterAll> {
  const action = await deps.records.action(click.actionId);
  const incident = action && (await deps.records.incident(action.incidentId));
  if (!action || !incident) return refuse('UNKNOWN_ACTION', 'This card is not on record any more.');
  if (action.planHash !== click.planHash)
    return refuse('PLAN_CHANGED', 'This is not the action that the card shows. Nothing was done.');
  if (action.state !== 'denied' || action.undoes !== null)
    return refuse('NOT_DENIED', `It is ${action.state}: there is no No to go back on.`);
  // Asking is not approving: who may say No may have it asked again, and the new card says who may approve it.
  const mayNot = await deps.policy.mayDecide(click.by, action, incident, 'deny');
  if (mayNot) return mayNot;
  if (!restsFor(incident, action))
    return refuse(
      'AT_WORK',
      incident.endedAt
        ? `${incident.id} is over. If it is not, open it anew: /sentry investigate <what you see>`
        : incident.state === 'awaiting_approval'
          ? 'Another plan of this incident waits for its decision. Decide on that one first.'
          : `${incident.id} is being worked on. Press again when it waits for people.`,
    );
  return proposeAgain(deps, incident, action, click.by);
}

/** Through the gate like any proposal: fresh pre-flight, new card. The incident waits for it from the same moment on. */
async function proposeAgain(deps: Deps, incident: Incident, action: Action, by: string): Promise<AfterAll> {
  const [, ...andThen] = await deps.records.plan(action.planId);
  const credential = deps.vault.mint({
    role: 'surgeon',
    incidentId: incident.id,
    targets: [action.target],
    tools: [action.tool, ...andThen.map((step) => step.tool)],
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
      reason: 'A person has it asked for again.',
      key: `asked again:${id}`,
      changes: { nextStep: 'Waiting for somebody to approve what was denied before.' },
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
        purpose: `ask again for ${action.id}`,
        signal: deps.shutdown,
        again: { stored },
        ...(lasting ? { lasting } : {}),
      },
    );
    if (answer.kind === 'proposed') return { ok: true, text: null };
    if (answer.kind === 'ok') return refuse('NOT_ACTIVE', `${tool} changes nothing.`);
    return refuse(answer.code, answer.reason);
  } finally {
    deps.vault.revoke(credential);
    deps.reporter.changed(incident.id);
  }
}

class IncidentMoved extends Error {
  constructor() {
    super('The incident has just moved on; look at its thread.');
  }
}
