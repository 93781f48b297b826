import type { TouchedObject } from './denial.ts';
import type { ActionId, IncidentId, ToolCallId } from './ids.ts';
import type { Json, VerifyPlan } from './tool-call.ts';

/** `queued`: a later step of a plan, which waits for the step before it. `skipped`: such a step that has not run and never will. */
export const actionStates = [
  'proposed',
  'queued',
  'approved',
  'denied',
  'expired',
  'void',
  'started',
  'succeeded',
  'failed',
  'unknown',
  'skipped',
] as const;
export type ActionState = (typeof actionStates)[number];
export type Risk = 'low' | 'medium' | 'high';

/** Begins the line of a card that says that the same act did not help the last time. */
export const TRIED_BEFORE = 'Tried before: ';

const ranks: Readonly<Record<Risk, number>> = { low: 0, medium: 1, high: 2 };

/** Whether a thing is of higher risk now than it was approved as. */
export const isRiskier = (now: Risk, approved: Risk): boolean => ranks[now] > ranks[approved];

/**
 * `repair`: something is read red and it is to make that green; the only one that can be called fixed. `prevent`: nothing
 * is red, it keeps a problem from coming back. `undo`: it takes another action back.
 */
export type Purpose = 'repair' | 'prevent' | 'undo';

/** The most steps that one approval may be for. */
export const MAX_STEPS = 5;

/** Characters of one command: a card shows that much to the letter, and what nobody can read there cannot be approved. */
export const MAX_COMMAND = 2_800;

/** What is done to the things an action touches, as people say it. */
export interface Verbs {
  /** Before it has run: `Restart`. */
  readonly does: string;
  /** Afterwards: `Restarted`. */
  readonly did: string;
  /** On its button, where the thing is not named: `Restart the service`. */
  readonly button: string;
  /** What is better once it has run, for somebody half awake: `Its locks and its connection.` Each of the two is a line of a phone or two. */
  readonly frees?: string;
  /** What it costs: `Its open transaction is rolled back; its client reconnects.` Neither is kept of a proposal of before they were. */
  readonly costs?: string;
}

/** One proposed mutation, as shown on the card and as it will run: nothing is asked of a model after *Approve*. */
export interface Action {
  readonly id: ActionId;
  readonly incidentId: IncidentId;
  /** The id of the first step of the plan it belongs to: its own, when it is that step or stands alone. */
  readonly planId: ActionId;
  /** From 1. The first carries what is decided of the plan: card, approvals, expiry. */
  readonly step: number;
  readonly round: number;
  readonly state: ActionState;
  readonly tool: string;
  readonly target: string;
  readonly input: Json;
  /** The exact command, as it will run (SQL, argv …). */
  readonly command: string;
  /** SHA-256 (hex) over all steps of its plan, the same on each: what the approval is bound to. */
  readonly planHash: string;
  /** The stable part of the state seen when it was proposed; must not have moved when it runs. */
  readonly guard: Json;
  readonly why: string;
  readonly blastRadius: string;
  /** The state seen before, for people, a line each; one that begins with `TRIED_BEFORE` tells how the same act went. */
  readonly preflight: readonly string[];
  /** How to take it back, or that it cannot be. */
  readonly undo: string;
  readonly risk: Risk;
  readonly runbookId: string | null;
  /** Of what it does, by which runbook in which version; what was earned counts for the same alone. Null: nothing earns it. */
  readonly autonomyKey: string | null;
  /** A repair's recovery criterion; for the other purposes how to tell that it took effect. */
  readonly verify: VerifyPlan;
  readonly purpose: Purpose;
  readonly expiresAt: string;
  readonly proposedAt: string;
  /** How many people have to approve it, and who has so far. */
  readonly approvalsNeeded: number;
  readonly approvedBy: readonly string[];
  /** The rule of the policy it was proposed under; null without one. */
  readonly policyRule: string | null;
  /** It is approved by its rule at this time unless somebody denies it before; null: somebody has to approve it. */
  readonly autonomousAt: string | null;
  /** The last who decided; `policy` when a rule did. */
  readonly decidedBy: string | null;
  readonly decidedAt: string | null;
  readonly decisionReason: string | null;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  /** What the run said, redacted; or why it is void or unknown. */
  readonly outcome: string | null;
  readonly toolCallId: ToolCallId | null;
  /** True when proposed in AUDIT mode or under the switch: the card says *would propose* and carries no button. */
  readonly auditOnly: boolean;
  /** What the switch said when it kept this from running; goes with it. Null: it is not held up. */
  readonly heldBy: string | null;
  /** The action that this one takes back. Null: it is no undo. */
  readonly undoes: ActionId | null;
  /** It runs beside the incident's own course, which stays where it is: an undo, or a lasting fix. */
  readonly beside: boolean;
  /** The person who asked for it; null: Sentry proposed it. */
  readonly requestedBy: string | null;
  /** The physical system it changes, whatever its target is called; null for one of before this was kept. */
  readonly identity: string | null;
  /** What it touches on that system, by their full keys. */
  readonly objects: readonly TouchedObject[];
  /** Its tool's, as they were when it was proposed; null for one of before this was kept whose tool has none any more. */
  readonly verbs: Verbs | null;
  /** The denials that stood on its card: approving it is approving it although they do. */
  readonly denialsAcknowledged: readonly string[];
}

/** All steps of its plan, in their order; itself alone when it is no plan of several. */
export function stepsOf(actions: readonly Action[], { planId }: Pick<Action, 'planId'>): readonly Action[] {
  return actions.filter((each) => each.planId === planId).toSorted((a, b) => a.step - b.step);
}

/** The undo of an action, while it may have run or still may; undefined when there is none. */
export function undoOf(actions: readonly Action[], { id }: Pick<Action, 'id'>): Action | undefined {
  return actions.find(
    ({ undoes, state }) =>
      undoes === id && !['denied', 'expired', 'void', 'failed', 'skipped'].includes(state),
  );
}

/** Whether it is to keep a problem that is fixed already from coming back. */
export function isLastingFix({ beside, undoes }: Pick<Action, 'beside' | 'undoes'>): boolean {
  return beside && undoes === null;
}

/** The step that follows it and still waits; undefined for the last one, and where the rest was skipped. */
export function stepAfter(actions: readonly Action[], action: Action): Action | undefined {
  const after = stepsOf(actions, action).find(({ step }) => step > action.step);
  return after?.state === 'queued' ? after : undefined;
}

/**
 * What a plan that has begun has left undone, in order. Empty while a step of it is open, where what ran was taken back, and
 * where what is left has been asked for again.
 */
export function restOf(actions: readonly Action[], steps: readonly Action[]): readonly Action[] {
  const ran = steps.filter((step) => ['succeeded', 'failed'].includes(step.state) && !neverRan(step));
  const rest = steps.filter((step) => step.state === 'skipped' || neverRan(step));
  const isOpen = ran.length + rest.length < steps.length;
  if (isOpen || ran.length === 0 || ran.some((step) => undoOf(actions, step))) return [];
  const stands = (each: Action): boolean =>
    !['denied', 'expired', 'void', 'skipped'].includes(each.state) && !neverRan(each);
  const isAsked = ({ tool, command, proposedAt }: Action): boolean =>
    actions.some(
      (each) =>
        each.tool === tool && each.command === command && each.proposedAt > proposedAt && stands(each),
    );
  return rest.some(isAsked) ? [] : rest;
}

/** For people: which step of its plan it is; empty for a single action. */
export function formatStep(actions: readonly Action[], action: Action): string {
  const { length } = stepsOf(actions, action);
  return length > 1 ? `Step ${action.step} of ${length}` : '';
}

/** Claimed, and nothing ran for certain: it says nothing about whether the command helps, and may be proposed again. */
export function neverRan(action: Pick<Action, 'state' | 'toolCallId'>): boolean {
  return action.state === 'failed' && action.toolCallId === null;
}

/** The last repair of a round that ran or may have, however its run was judged: what *fixed* would be said of. */
export function repairOf(actions: readonly Action[], inRound: number): Action | undefined {
  return actions.findLast(
    (action) =>
      action.purpose === 'repair' &&
      action.round === inRound &&
      ['succeeded', 'failed', 'unknown'].includes(action.state) &&
      !neverRan(action),
  );
}

/** What an active tool's run ended as. `unknown`: it may or may not have taken effect. */
export type ActionOutcome =
  /** `data`: what the tool has to say to programs (what to undo it by); kept with its evidence. */
  | { readonly kind: 'succeeded'; readonly text: string; readonly data?: Json }
  | { readonly kind: 'failed'; readonly text: string }
  | { readonly kind: 'unknown'; readonly text: string };
