import { type Action, stepsOf, undoOf } from '../core/action.ts';
import { count } from '../core/count.ts';
import { formatDetailsDeleted } from '../core/details-deleted.ts';
import { type Refusal, refuse } from '../core/errors.ts';
import type { ActionId } from '../core/ids.ts';
import type { Incident, IncidentState } from '../core/incident.ts';
import type { Json } from '../core/tool-call.ts';
import { switchScopes } from '../safety/kill-switch/kill-switch.ts';
import type { ActiveTool } from '../tools/define.ts';
import type { Approvals } from './approvals/approvals.ts';
import type { Gate } from './gate.ts';
import type { GateDeps } from './gate-deps.ts';
import type { ApprovalPolicy } from './policy/policy.ts';

/** A person's click on *Undo*: who, from Slack's signed payload; what, as the card they saw names it. */
export interface UndoClick {
  readonly actionId: ActionId;
  readonly planHash: string;
  readonly by: string;
}

/** `text`: what is still needed; null when it is about to run. */
export type UndoAnswer = { readonly ok: true; readonly text: string | null } | Refusal;

export interface Undo {
  /** Whether its tool can take it back, once it ran. */
  can(action: Action): boolean;
  /**
   * Proposes the exact inverse of an action that ran, and approves it by the same click; of a plan, the inverses of what
   * succeeded of it and has one, the last step first, as a plan. It runs by its own turn, through
   * all checks and the ledger, once, and only while the target still is what the action made of it. Where the policy
   * wants more people, or somebody else, its card asks for them.
   */
  press(click: UndoClick): Promise<UndoAnswer>;
}

type UndoDeps = Pick<GateDeps, 'records' | 'audit' | 'vault' | 'killSwitch' | 'registry' | 'targets'> & {
  readonly gate: Pick<Gate, 'call'>;
  readonly approvals: Pick<Approvals, 'decide' | 'void'>;
  readonly policy: Pick<ApprovalPolicy, 'mayDecide'>;
  readonly sql: GateDeps['sql'];
  readonly shutdown: AbortSignal;
};

/** The call that takes back a step that ran. */
interface Inverse {
  readonly tool: string;
  readonly input: Json;
  readonly of: Action;
}

/** Nothing of the incident runs, and nothing is about to be decided. */
const atRest: readonly IncidentState[] = ['reported', 'escalated', 'resolved', 'stopped'];

export function createUndo(deps: UndoDeps): Undo {
  return {
    can: (action) => toolOf(deps, action)?.inverse !== undefined,
    async press(click) {
      const answer = await press(deps, click);
      await deps.audit.append({
        kind: answer.ok ? 'undo.asked' : 'undo.refused',
        actor: click.by,
        incidentId: (await deps.records.action(click.actionId))?.incidentId,
        details: { action: click.actionId, ...(answer.ok ? {} : { code: answer.code }) },
      });
      return answer;
    },
  };
}

async function press(deps: UndoDeps, click: UndoClick): Promise<UndoAnswer> {
  const found = await findUndoable(deps, click);
  if ('ok' in found) return found;
  const action = await propose(deps, found, click.by);
  if ('ok' in action) return action;
  if (action.auditOnly) {
    // The switch was set in between.
    await deps.sql.begin((tx) => deps.approvals.void(tx, action, 'Nothing may be changed now.'));
    return refuse('AUDIT_ONLY', 'Nothing may be changed now, so nothing was undone.');
  }
  // Somebody else's No to touching it takes the word that it is done although they said so, which is on its card.
  if (action.denialsAcknowledged.length > 0)
    return {
      ok: true,
      text: 'Asked for. Somebody has said no to touching this; its card in the thread asks whether to do it although.',
    };
  return approve(deps, action, click.by);
}

interface Undoable {
  readonly action: Action;
  readonly inverses: readonly [Inverse, ...Inverse[]];
}

/** Why it cannot be undone now by this person; else the calls that do it. */
async function findUndoable(deps: UndoDeps, click: UndoClick): Promise<Undoable | Refusal> {
  const action = await deps.records.action(click.actionId);
  const record = action && (await deps.records.load(action.incidentId));
  if (!action || !record) return refuse('UNKNOWN_ACTION', 'This card is not on record any more.');
  if (action.planHash !== click.planHash)
    return refuse('PLAN_CHANGED', 'This is not the action that the card shows. Nothing was undone.');
  const deleted = formatDetailsDeleted(record.incident);
  if (deleted !== null) return refuse('DETAILS_DELETED', `${deleted} Nothing was undone.`);
  const inverses = await inversesOf(deps, action, record.actions);
  if (inverses.length === 0) return refuse('NOT_UNDOABLE', 'There is nothing here to undo by a click.');
  const mayNot = await mayNotUndo(deps, action, inverses, record.incident, click.by);
  if (mayNot) return mayNot;
  const left = leftToUndo(inverses, record.actions);
  if ('ok' in left) return left;
  return (await notNow(deps, action, record.incident)) ?? { action, inverses: left };
}

/** What of its plan can be taken back, the last step first: what an earlier undo has left is among it. */
async function inversesOf(
  deps: UndoDeps,
  action: Action,
  actions: readonly Action[],
): Promise<readonly Inverse[]> {
  const ran = stepsOf(actions, action).filter(({ state }) => state === 'succeeded');
  const inverses = await Promise.all(ran.toReversed().map((step) => inverseOf(deps, step)));
  return inverses.filter((inverse) => inverse !== null);
}

async function inverseOf(deps: UndoDeps, action: Action): Promise<Inverse | null> {
  const call = action.toolCallId && (await deps.records.toolCall(action.toolCallId));
  const inverse = call && toolOf(deps, action)?.inverse?.(call.result);
  return inverse ? { ...inverse, of: action } : null;
}

function toolOf({ registry }: UndoDeps, action: Action): ActiveTool<unknown, Json> | undefined {
  const tool = registry.get(action.tool);
  return tool?.kind === 'active' ? (tool as ActiveTool<unknown, Json>) : undefined;
}

async function mayNotUndo(
  { policy }: UndoDeps,
  action: Action,
  inverses: readonly Inverse[],
  incident: Incident,
  by: string,
): Promise<Refusal | undefined> {
  for (const { tool, input } of inverses) {
    const mayNot = await policy.mayDecide(
      by,
      { ...action, tool, input, runbookId: null },
      incident,
      'approve',
    );
    if (mayNot) return mayNot;
  }
  return undefined;
}

/** Those that no earlier undo has done; refused while one is under way, and when none is left. */
function leftToUndo(
  inverses: readonly Inverse[],
  actions: readonly Action[],
): Undoable['inverses'] | Refusal {
  const earlier = inverses.map(({ of }) => undoOf(actions, of));
  const open = earlier.find((undo) => undo && !['proposed', 'queued', 'succeeded'].includes(undo.state));
  const [first, ...rest] = inverses.filter((_, at) => earlier[at]?.state !== 'succeeded');
  return open || !first
    ? refuse(
        'UNDONE_ALREADY',
        `Your click changed nothing: ${standing[open?.state ?? 'succeeded'] ?? 'it is undone'}.`,
      )
    : [first, ...rest];
}

async function notNow(
  { targets, killSwitch }: UndoDeps,
  action: Action,
  incident: Incident,
): Promise<Refusal | undefined> {
  if (!atRest.includes(incident.state))
    return refuse(
      'AT_WORK',
      `${incident.id} is still being worked on. Wait until it rests, or stop it (\`/sentry stop ${incident.id}\`) and press Undo again.`,
    );
  const scopes = switchScopes(action.target, targets.get(action.target)?.domain ?? incident.domain);
  const stopped = await killSwitch.stopped(scopes);
  return stopped && refuse(stopped.code, `${stopped.reason} Nothing was undone.`);
}

/** The undo as it stands proposed, a plan where it has several steps. */
async function propose(
  { vault, gate, records, shutdown }: UndoDeps,
  { action, inverses }: Undoable,
  by: string,
): Promise<Action | Refusal> {
  const [{ tool, input, of }, ...later] = inverses;
  const { target, incidentId } = action;
  const why = (step: Action): string => `A person takes back ${step.tool} (${step.id}).`;
  const andThen = later.map((each) => ({ tool: each.tool, input: each.input, why: why(each.of) }));
  const tools = inverses.map((each) => each.tool);
  const credential = vault.mint({ role: 'surgeon', incidentId, targets: [target], tools });
  try {
    const answer = await gate.call(
      credential,
      { tool, target, input, proposal: { why: why(of), runbookId: null, verify: null, andThen } },
      {
        purpose: `undo ${action.id}`,
        signal: shutdown,
        undo: { actionId: of.id, by, andThen: later.map((each) => each.of.id) },
      },
    );
    if (answer.kind === 'ok') return refuse('NOT_ACTIVE', `${tool} changes nothing.`);
    return answer.kind === 'proposed'
      ? ((await records.action(answer.actionId)) ?? refuse('UNKNOWN_ACTION', 'It is not on record.'))
      : refuse(answer.code, `Nothing was undone. ${answer.reason}`);
  } finally {
    vault.revoke(credential);
  }
}

/** By the click that asked for it, as far as the policy lets that person. */
async function approve({ approvals }: UndoDeps, action: Action, by: string): Promise<UndoAnswer> {
  const decided = await approvals.decide({
    actionId: action.id,
    planHash: action.planHash,
    by,
    decision: 'approve',
    reason: '',
    anotherWay: false,
  });
  if (!decided.ok)
    return decided.code === 'SELF_APPROVAL'
      ? { ok: true, text: 'Asked for. Somebody else has to approve it, on its card in the thread.' }
      : decided;
  const { state, approvedBy, approvalsNeeded } = decided.action;
  const missing = approvalsNeeded - approvedBy.length;
  return {
    ok: true,
    text:
      state === 'proposed'
        ? `Asked for: ${count(missing, 'more approval')} needed, on its card in the thread.`
        : null,
  };
}

const standing: Partial<Record<Action['state'], string>> = {
  approved: 'it is about to be undone',
  started: 'it is being undone',
  succeeded: 'it has been undone',
  unknown: 'it is not known whether its undo ran; somebody has to look and say so on its card',
};
