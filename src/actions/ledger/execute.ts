import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { Action, Risk } from '../../core/action.ts';
import type { TouchedObject } from '../../core/denial.ts';
import { messageOf, type Refusal, refuse } from '../../core/errors.ts';
import type { Tx } from '../../core/sql.ts';
import { isCriterion } from '../../core/tool-call.ts';
import { switchScopes } from '../../safety/kill-switch/kill-switch.ts';
import type { ToolContext } from '../../tools/define.ts';
import type { Approved, Objection } from '../checks/approval-checks.ts';
import { notRed, storeReading } from '../proposals/aim.ts';
import { boundBy, isGone, objectionLine, riskOf } from '../proposals/draft-step.ts';
import { touchedBy, touchesTheSame } from '../proposals/touched.ts';
import { withTimeout } from '../with-timeout.ts';
import { contextOf, type Entered, enter } from './enter.ts';
import type { ExecutionDeps, ExecutionResult, LedgerHooks } from './execution.ts';
import { type Claim, WINDOW_MS } from './ledger.ts';
import { endClaim, notRun } from './outcome.ts';
import { effectOf, LOOK_AGAIN_MS, laterSteps, planOf } from './run-of-plan.ts';
import { runOnce } from './run-once.ts';
import { settle } from './settle.ts';

/** While nobody can tell who may approve. */
const UNKNOWN_MS = 5_000;

/** Its state as it is now, and what follows from it. */
interface Authorised {
  readonly clock: string | null;
  /** performance.now() */
  readonly readAt: number;
  readonly objects: readonly TouchedObject[];
  readonly risk: Risk;
}

/** `Execution.execute`. */
export async function execute(
  deps: ExecutionDeps,
  given: Action,
  hooks: LedgerHooks,
  signal: AbortSignal,
): Promise<ExecutionResult> {
  // As it stands now, not as it stood when the turn began: a step that runs again after a crash finds what it did then.
  const steps = await planOf(deps, given);
  const action = steps.find(({ id }) => id === given.id);
  if (!action) return notRun(deps, given, 'refused', refuse('UNKNOWN_ACTION', 'It is not on record.'));
  if (action.state === 'started' || action.state === 'unknown') return settle(deps, action, hooks, signal);
  if (action.state === 'succeeded' || action.state === 'failed')
    return { kind: 'ran', outcome: { kind: action.state, text: action.outcome ?? '' } };
  // Somebody's No, or a stop, came between: what became of it is on record, and it is planned anew.
  if (action.state === 'void')
    return notRun(deps, action, 'void', refuse('VOID', action.outcome ?? 'The state moved.'));
  if (action.state !== (action.step === 1 ? 'approved' : 'queued'))
    return notRun(deps, action, 'refused', refuse('NOT_APPROVED', `It is ${action.state}.`));
  if (action.incidentId !== given.incidentId || action.planHash !== given.planHash)
    return notRun(
      deps,
      action,
      'void',
      refuse('PLAN_CHANGED', 'What is on record is not what was to be run.'),
    );

  const entered = await enter(deps, action);
  if ('ok' in entered) return notRun(deps, action, 'refused', entered);
  const before = steps.findLast(({ step }) => step < action.step);
  const waits = before && (await effectOf(deps, before, signal));
  if (waits) return waits.kind === 'later' ? waits : notRun(deps, action, 'refused', waits.refusal);
  await recordIntent(deps, action);
  const { tool, call } = entered;
  const approved = { action, tool, input: call.input, steps };
  // Not within the tool's own time: Slack is asked here, and may be slow.
  const authorised =
    (await objectionTo(deps, approved)) ??
    (await withTimeout(tool.timeoutMs, signal, (inner) =>
      authorise(deps, approved, contextOf(deps, entered, inner)),
    ));
  if ('void' in authorised) return notRun(deps, action, 'void', authorised.void);
  if ('refused' in authorised) {
    // A No that voided it while it was being judged shows as an approval that was taken back.
    const isVoid = (await deps.records.action(action.id))?.state === 'void';
    return notRun(deps, action, isVoid ? 'void' : 'refused', authorised.refused);
  }
  if ('later' in authorised) return { kind: 'later', inMs: UNKNOWN_MS, reason: authorised.later.reason };
  return claimAndRun(deps, { action, steps, entered, authorised }, hooks);
}

async function recordIntent({ audit }: ExecutionDeps, action: Action): Promise<void> {
  const { id, incidentId, tool, target, command, planHash, decidedBy } = action;
  await audit.append({
    kind: 'gate.intent',
    actor: decidedBy ?? 'system',
    incidentId,
    details: { action: id, tool, target, command, planHash },
  });
}

/** Check 9 for an approved call, as far as it is about the approval: the target is asked nothing. */
async function objectionTo(deps: ExecutionDeps, approved: Approved): Promise<Objection> {
  const { mayChange, inTime, samePlan, decided } = deps.checks;
  for (const check of [mayChange, inTime, samePlan, decided]) {
    const objection = await check(deps, approved);
    if (objection) return objection;
  }
  return undefined;
}

/** The rest of check 9, up to the claim: what only the target can tell. */
async function authorise(
  deps: ExecutionDeps,
  approved: Approved,
  context: ToolContext,
): Promise<Authorised | NonNullable<Objection>> {
  const { checks } = deps;
  const { action, tool, input } = approved;
  const other = await checks.sameServer(deps, approved);
  if (other) return other;
  const over = await stillRed(deps, action, context.signal);
  if (over) return { void: over };
  try {
    const now = await tool.preflight(context, input);
    const readAt = performance.now();
    // What speaks against it now was not weighed by whoever approved it.
    const risk = now.objection ? 'high' : riskOf(now.risk);
    const objection = now.objection && objectionLine(deps, now.objection);
    const moved = checks.sameState(approved, boundBy(now), risk, objection);
    if (moved) return moved;
    const objects = touchedBy(tool, input, now.guard, now, action.identity ?? '');
    const others = touchesTheSame(action, objects);
    return others ? { void: others } : { clock: now.clock, readAt, objects, risk };
  } catch (error) {
    if (isGone(error))
      return {
        void: refuse('STATE_MOVED', `The state has moved since this was proposed: ${messageOf(error)}`),
      };
    throw error;
  }
}

/** A repair runs only while the problem is there: undefined, else why it does not. */
async function stillRed(
  deps: ExecutionDeps,
  action: Action,
  signal: AbortSignal,
): Promise<Refusal | undefined> {
  // A later step goes on with what the first began: that one may have turned the symptom already.
  if (action.step > 1 || action.purpose !== 'repair' || !isCriterion(action.verify)) return undefined;
  const { incidentId, target, verify: plan } = action;
  const purpose = 'Is the problem still there?';
  const reading = await deps.criterion({ incidentId, target, plan, purpose, signal });
  await storeReading(deps.sql, { incidentId, actionId: action.id }, 'claim', reading);
  return notRed(reading);
}

/** From the claim on. What the policy and the limits demand is asked once more right before it. */
async function claimAndRun(
  deps: ExecutionDeps,
  plan: {
    readonly action: Action;
    readonly steps: readonly Action[];
    readonly entered: Entered;
    readonly authorised: Authorised;
  },
  hooks: LedgerHooks,
): Promise<ExecutionResult> {
  const { action, steps, entered, authorised } = plan;
  const { tool, call } = entered;
  const demands = await deps.rules?.demands({ ...action, risk: authorised.risk });
  if (demands && 'ok' in demands) return notRun(deps, action, 'void', demands);
  const later = await laterSteps(
    deps,
    steps.filter(({ step }) => step > action.step),
  );
  if ('ok' in later) return notRun(deps, action, 'void', later);
  const claimId = randomUUID();
  const claimed = await deps.ledger.claim(deps, {
    // As they are now, also for one that was proposed before they were kept.
    action: { ...action, objects: authorised.objects },
    claimId,
    timeoutMs: tool.timeoutMs,
    scopes: switchScopes(action.target, call.target.domain),
    limit: tool.limit?.(call.input, action.guard, authorised.objects),
    onClaimed: (tx) => hooks.claimed(tx, claimId),
    later,
    ...(demands ? { caps: demands } : {}),
  });
  if (claimed.kind !== 'claimed') return notClaimed(deps, action, claimed);

  // From here on it counts as possibly run. What is too late must not begin (monotonic clock: it also runs while the process is paused).
  const tooLate = performance.now() - claimed.begunAt > WINDOW_MS;
  const stopped = deps.killSwitch.local();
  if (tooLate && !stopped && (await giveBack(deps, action, claimId, hooks))) return { kind: 'given_back' };
  if (tooLate || stopped) {
    const why = stopped?.reason ?? 'the claim came back too late.';
    return endClaim(deps, action, claimId, { kind: 'failed', text: `Not run: ${why}` }, hooks, null);
  }
  const startedAt = new Date();
  // From moments before the claim only, never from now: a process paused right here would otherwise give itself a later
  // deadline than the ledger's (`done_by`, a margin after this one).
  const deadline = {
    clock: authorised.clock,
    withinMs: Math.floor(claimed.begunAt - authorised.readAt) + WINDOW_MS + tool.timeoutMs,
    risk: action.risk,
  };
  const inContext = (signal: AbortSignal): ToolContext => contextOf(deps, entered, signal);
  const outcome = await runOnce(tool, inContext, call.input, action.guard, deadline);
  return endClaim(deps, action, claimId, outcome, hooks, startedAt);
}

/** A busy machine is no reason to lose an approval: it is tried again until it expires. */
async function giveBack(
  deps: ExecutionDeps,
  action: Action,
  claimId: string,
  hooks: LedgerHooks,
): Promise<boolean> {
  const onReleased = (tx: Tx): Promise<'lost' | undefined> => hooks.released(tx, claimId);
  const isReleased = await deps.ledger.release(deps, { action, claimId, onReleased });
  if (isReleased)
    deps.log.warn(
      { action: action.id },
      'the claim of an approved action came back too late: it is tried again',
    );
  return isReleased;
}

/** Nothing ran: what the ledger said instead. */
function notClaimed(
  deps: ExecutionDeps,
  action: Action,
  refused: Exclude<Claim, { readonly kind: 'claimed' }>,
): Promise<ExecutionResult> | ExecutionResult {
  switch (refused.kind) {
    case 'stopped':
    case 'capped':
      return notRun(deps, action, 'refused', refused.refusal);
    case 'denied':
      return notRun(deps, action, 'void', refused.refusal);
    case 'expired':
      return notRun(deps, action, 'refused', refuse('EXPIRED', 'The approval had expired.'));
    case 'lost':
      return { kind: 'later', inMs: LOOK_AGAIN_MS, reason: 'The incident was stopped or has ended.' };
    case 'busy':
      return { kind: 'later', inMs: 2_000, reason: 'Another action on this target has not ended.' };
    case 'taken':
      return { kind: 'later', inMs: refused.inMs, reason: 'Another process has taken it.' };
  }
}
