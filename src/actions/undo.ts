import { type Action, stepsOf, undoOf } from '../core/action.ts';
import { type Refusal, refuse } from '../core/errors.ts';
import type { ActionId } from '../core/ids.ts';
import type { IncidentState } from '../core/incident.ts';
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
  /** Whether its card carries the button. */
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
  const { records, audit, vault, approvals, policy } = deps;

  const toolOf = (action: Action): ActiveTool<unknown, Json> | undefined => {
    const tool = deps.registry.get(action.tool);
    return tool?.kind === 'active' ? (tool as ActiveTool<unknown, Json>) : undefined;
  };

  async function inverseOf(action: Action): Promise<Inverse | null> {
    const call = action.toolCallId && (await records.toolCall(action.toolCallId));
    const inverse = call && toolOf(action)?.inverse?.(call.result);
    return inverse ? { ...inverse, of: action } : null;
  }

  /** What of its plan can be taken back, the last step first: what an earlier undo has left is among it. */
  async function inversesOf(action: Action, actions: readonly Action[]): Promise<readonly Inverse[]> {
    const ran = stepsOf(actions, action).filter(({ state }) => state === 'succeeded');
    const inverses = await Promise.all(ran.toReversed().map(inverseOf));
    return inverses.filter((inverse) => inverse !== null);
  }

  /** Why it cannot be undone now by this person; else the call that does it. */
  async function look({ actionId, planHash, by }: UndoClick) {
    const action = await records.action(actionId);
    const record = action && (await records.load(action.incidentId));
    if (!action || !record) return refuse('UNKNOWN_ACTION', 'This card is not on record any more.');
    const { incident } = record;
    if (action.planHash !== planHash)
      return refuse('PLAN_CHANGED', 'This is not the action that the card shows. Nothing was undone.');
    const all = await inversesOf(action, record.actions);
    if (all.length === 0)
      return refuse(
        'NOT_UNDOABLE',
        `${action.tool} is ${action.state}: there is nothing to undo by a click.`,
      );
    for (const inverse of all) {
      const draft: Action = { ...action, tool: inverse.tool, input: inverse.input, runbookId: null };
      const mayNot = await policy.mayDecide(by, draft, incident, 'approve');
      if (mayNot) return mayNot;
    }
    const earlier = all.map((inverse) => undoOf(record.actions, inverse.of));
    const left = all.filter((_, at) => earlier[at]?.state !== 'succeeded');
    const open = earlier.find((undo) => undo && !['proposed', 'queued', 'succeeded'].includes(undo.state));
    const [inverse, ...andThen] = left;
    if (open || !inverse)
      return refuse(
        'UNDONE_ALREADY',
        `Your click changed nothing: ${standing[open?.state ?? 'succeeded'] ?? 'it is undone'}.`,
      );
    if (!atRest.includes(incident.state))
      return refuse(
        'AT_WORK',
        `${incident.id} is still being worked on. Wait until it rests, or stop it (\`/sentry stop ${incident.id}\`) and press Undo again.`,
      );
    const scopes = switchScopes(action.target, deps.targets.get(action.target)?.domain ?? incident.domain);
    const stopped = await deps.killSwitch.stopped(scopes);
    if (stopped) return refuse(stopped.code, `${stopped.reason} Nothing was undone.`);
    return { action, inverses: [inverse, ...andThen] as const };
  }

  async function propose(
    { action, inverses }: { action: Action; inverses: readonly [Inverse, ...Inverse[]] },
    by: string,
  ) {
    const [inverse, ...later] = inverses;
    const why = ({ of }: Inverse): string => `A person takes back ${of.tool} (${of.id}).`;
    const andThen = later.map((each) => ({ tool: each.tool, input: each.input, why: why(each) }));
    const credential = vault.mint({
      role: 'surgeon',
      incidentId: action.incidentId,
      targets: [action.target],
      tools: inverses.map(({ tool }) => tool),
    });
    try {
      const answer = await deps.gate.call(
        credential,
        {
          tool: inverse.tool,
          target: action.target,
          input: inverse.input,
          proposal: {
            why: why(inverse),
            runbookId: null,
            verify: null,
            andThen,
          },
        },
        {
          purpose: `undo ${action.id}`,
          signal: deps.shutdown,
          undo: { actionId: inverse.of.id, by, andThen: later.map(({ of }) => of.id) },
        },
      );
      if (answer.kind === 'ok') return refuse('NOT_ACTIVE', `${inverse.tool} changes nothing.`);
      return answer.kind === 'proposed'
        ? ((await records.action(answer.actionId)) ?? refuse('UNKNOWN_ACTION', 'It is not on record.'))
        : refuse(answer.code, `Nothing was undone. ${answer.reason}`);
    } finally {
      vault.revoke(credential);
    }
  }

  async function press(click: UndoClick): Promise<UndoAnswer> {
    const found = await look(click);
    if ('ok' in found) return found;
    const action = await propose(found, click.by);
    if ('ok' in action) return action;
    if (action.auditOnly) {
      // The switch was set in between.
      await deps.sql.begin((tx) => approvals.void(tx, action, 'Nothing may be changed now.'));
      return refuse('AUDIT_ONLY', 'Nothing may be changed now, so nothing was undone.');
    }
    // Somebody else's No to touching it takes the word that it is done although they said so, which is on its card.
    if (action.denialsAcknowledged.length > 0)
      return {
        ok: true,
        text: 'Asked for. Somebody has said no to touching this; its card in the thread asks whether to do it although.',
      };
    const decided = await approvals.decide({
      actionId: action.id,
      planHash: action.planHash,
      by: click.by,
      decision: 'approve',
      reason: '',
      anotherWay: false,
    });
    if (decided.ok) {
      const { state, approvedBy, approvalsNeeded } = decided.action;
      const missing = approvalsNeeded - approvedBy.length;
      return {
        ok: true,
        text:
          state === 'proposed'
            ? `Asked for: ${missing} more approval(s) needed, on its card in the thread.`
            : null,
      };
    }
    return decided.code === 'SELF_APPROVAL'
      ? { ok: true, text: 'Asked for. Somebody else has to approve it, on its card in the thread.' }
      : decided;
  }

  return {
    can: (action) => action.state === 'succeeded' && toolOf(action)?.inverse !== undefined,
    async press(click) {
      const answer = await press(click);
      const incidentId = (await records.action(click.actionId))?.incidentId;
      await audit.append({
        kind: answer.ok ? 'undo.asked' : 'undo.refused',
        actor: click.by,
        ...(incidentId ? { incidentId } : {}),
        details: { action: click.actionId, ...(answer.ok ? {} : { code: answer.code }) },
      });
      return answer;
    },
  };
}

const standing: Partial<Record<Action['state'], string>> = {
  approved: 'it is about to be undone',
  started: 'it is being undone',
  succeeded: 'it has been undone',
  unknown: 'it is not known whether its undo ran; somebody has to look and say so on its card',
};
