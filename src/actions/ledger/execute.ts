import { randomBytes, randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { Action, ActionOutcome, Risk } from '../../core/action.ts';
import type { TouchedObject } from '../../core/denial.ts';
import { type LimitedUntil, messageOf, type Refusal, refuse } from '../../core/errors.ts';
import { asToolCallId } from '../../core/ids.ts';
import { newId } from '../../core/new-id.ts';
import type { Tx } from '../../core/sql.ts';
import { isCriterion, type Json } from '../../core/tool-call.ts';
import { storeToolCallIn } from '../../record/evidence.ts';
import { switchScopes } from '../../safety/kill-switch/kill-switch.ts';
import type { ActiveTool, ToolContext } from '../../tools/define.ts';
import { type ApprovalChecks, type Approved, approvalChecks } from '../checks/approval-checks.ts';
import type { Passage, Station } from '../checks/station.ts';
import type { GateDeps } from '../gate-deps.ts';
import { notRed, type ReadsCriterion, storeReading } from '../proposals/aim.ts';
import { isGone, riskOf } from '../proposals/draft-step.ts';
import { touchedBy, touchesTheSame } from '../proposals/touched.ts';
import { createScreened } from '../screened.ts';
import { withTimeout } from '../with-timeout.ts';
import { claim, finish, WINDOW_MS } from './ledger.ts';
import { effectOf, LOOK_AGAIN_MS, laterSteps, planOf } from './run-of-plan.ts';
import { runOnce } from './run-once.ts';

/** What became of an approved action. */
export type ExecutionResult =
  /** Nothing ran. `void`: the state moved, so the approval no longer fits. `refused`: the switch, the mode, the expiry. */
  | {
      readonly kind: 'not_run';
      readonly why: 'void' | 'refused';
      readonly code: string;
      readonly reason: string;
      readonly wait?: LimitedUntil;
    }
  | { readonly kind: 'ran'; readonly outcome: ActionOutcome }
  /** Something else runs on the target, or the claim of a dead process has not run out: ask again then. */
  | { readonly kind: 'later'; readonly inMs: number; readonly reason: string };

/** What the incident does in the same transactions as the ledger, so that the two never disagree. */
export interface LedgerHooks {
  /** `lost`: the incident is not where it was (a person stopped it, its source ended it); the claim is called off. */
  claimed(tx: Tx): Promise<'lost' | undefined>;
  ended(tx: Tx, outcome: ActionOutcome): Promise<void>;
}

export interface Execution {
  /** Runs an approved action, at most once whatever happens around it. No model is asked anything here. */
  execute(action: Action, hooks: LedgerHooks, signal: AbortSignal): Promise<ExecutionResult>;
  /** For an action found `started` or `unknown`: waits for the claim to run out, then looks; never runs it again. */
  settle(action: Action, hooks: LedgerHooks, signal: AbortSignal): Promise<ExecutionResult>;
}

/** What stands between an approved action and its run, beside the stations at the entrance. */
export interface ExecutionParts {
  readonly checks: ApprovalChecks;
  readonly ledger: { readonly claim: typeof claim; readonly finish: typeof finish };
}

export const executionParts: ExecutionParts = { checks: approvalChecks, ledger: { claim, finish } };

export function createExecution(
  deps: GateDeps & { readonly criterion: ReadsCriterion },
  { stations, checks, ledger }: ExecutionParts & { readonly stations: readonly Station[] },
): Execution {
  const { audit } = deps;
  const screened = createScreened(deps);

  /** The stations and the tool, as for any call; the surgeon's credential is minted for this action alone. */
  async function enter(
    action: Action,
  ): Promise<Refusal | { readonly tool: ActiveTool<unknown, Json>; readonly passage: Required<Passage> }> {
    const credential = deps.vault.mint({
      role: 'surgeon',
      incidentId: action.incidentId,
      targets: [action.target],
      tools: [action.tool],
      singleUse: true,
    });
    const passage: Passage = {
      credential,
      request: { tool: action.tool, target: action.target, input: action.input },
      ended: [],
    };
    try {
      for (const station of stations) {
        const refusal = await station(passage);
        if (refusal) return refusal;
      }
    } finally {
      for (const end of passage.ended) end();
      // It has let this action through to station 9, and is good for nothing else.
      deps.vault.revoke(credential);
    }
    if (passage.tool?.kind !== 'active') return refuse('NOT_ACTIVE', `${action.tool} changes nothing.`);
    return { tool: passage.tool as ActiveTool<unknown, Json>, passage: passage as Required<Passage> };
  }

  /** Station 9 for an approved call, up to the claim: all that can be checked before it. Returns the tool's context. */
  async function authorise(
    approved: Approved,
    context: ToolContext,
  ): Promise<
    | {
        readonly clock: string | null;
        readonly readAt: number;
        readonly objects: readonly TouchedObject[];
        readonly risk: Risk;
      }
    | { readonly void: Refusal }
    | { readonly refused: Refusal }
  > {
    const { action, tool, input } = approved;
    for (const check of [
      checks.mayChange,
      checks.inTime,
      checks.samePlan,
      checks.decided,
      checks.sameServer,
    ]) {
      const objection = await check(deps, approved);
      if (objection) return objection;
    }
    const over = await stillRed(action, context.signal);
    if (over) return { void: over };
    try {
      const now = await tool.preflight(context, input);
      const readAt = performance.now();
      // What speaks against it now was not weighed by whoever approved it.
      const risk = now.objection ? 'high' : riskOf(now.risk);
      const moved = checks.sameState(approved, now.guard, risk);
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
  async function stillRed(action: Action, signal: AbortSignal): Promise<Refusal | undefined> {
    // A later step goes on with what the first began: that one may have turned the symptom already.
    if (action.step > 1 || action.purpose !== 'repair' || !isCriterion(action.verify)) return undefined;
    const { incidentId, target, verify: plan } = action;
    const purpose = 'Is the problem still there?';
    const reading = await deps.criterion({ incidentId, target, plan, purpose, signal });
    await storeReading(deps.sql, { incidentId, actionId: action.id }, 'claim', reading);
    return notRed(reading);
  }

  async function execute(given: Action, hooks: LedgerHooks, signal: AbortSignal): Promise<ExecutionResult> {
    // As it stands now, not as it stood when the turn began: a step that runs again after a crash finds what it did then.
    const steps = await planOf(deps, given);
    const action = steps.find(({ id }) => id === given.id);
    if (!action) return notRun(given, 'refused', refuse('UNKNOWN_ACTION', 'It is not on record.'));
    if (action.state === 'started' || action.state === 'unknown') return settle(action, hooks, signal);
    if (action.state === 'succeeded' || action.state === 'failed')
      return { kind: 'ran', outcome: { kind: action.state, text: action.outcome ?? '' } };
    if (action.state !== (action.step === 1 ? 'approved' : 'queued'))
      return notRun(action, 'refused', refuse('NOT_APPROVED', `It is ${action.state}.`));
    if (action.incidentId !== given.incidentId || action.planHash !== given.planHash)
      return notRun(action, 'void', refuse('PLAN_CHANGED', 'What is on record is not what was to be run.'));

    const entered = await enter(action);
    if (!('tool' in entered)) return notRun(action, 'refused', entered);
    const { tool, passage } = entered;
    const before = steps.findLast(({ step }) => step < action.step);
    const waits = before && (await effectOf(deps, before, signal));
    if (waits) return waits.kind === 'later' ? waits : notRun(action, 'refused', waits.refusal);
    await audit.append({
      kind: 'gate.intent',
      actor: action.decidedBy ?? 'system',
      incidentId: action.incidentId,
      details: {
        action: action.id,
        tool: action.tool,
        target: action.target,
        command: action.command,
        planHash: action.planHash,
      },
    });
    const context = (inner: AbortSignal): ToolContext => ({
      target: passage.target,
      ports: deps.ports,
      timeoutMs: tool.timeoutMs,
      signal: inner,
    });
    const authorised = await withTimeout(tool.timeoutMs, signal, (inner) =>
      authorise({ action, tool, input: passage.input, steps }, context(inner)),
    );
    if ('void' in authorised) return notRun(action, 'void', authorised.void);
    if ('refused' in authorised) return notRun(action, 'refused', authorised.refused);

    const demands = await deps.rules?.demands({ ...action, risk: authorised.risk });
    if (demands && 'ok' in demands) return notRun(action, 'void', demands);
    const later = await laterSteps(
      deps,
      steps.filter(({ step }) => step > action.step),
    );
    if ('ok' in later) return notRun(action, 'void', later);
    const claimId = randomUUID();
    const scopes = switchScopes(action.target, passage.target.domain);
    const claimed = await ledger.claim(deps, {
      // As they are now, also for one that was proposed before they were kept.
      action: { ...action, objects: authorised.objects },
      claimId,
      timeoutMs: tool.timeoutMs,
      scopes,
      limit: tool.limit?.(passage.input, action.guard, authorised.objects),
      onClaimed: hooks.claimed,
      later,
      ...(demands ? { caps: demands } : {}),
    });
    if (claimed.kind === 'stopped') return notRun(action, 'refused', claimed.refusal);
    if (claimed.kind === 'capped') return notRun(action, 'refused', claimed.refusal);
    if (claimed.kind === 'denied') return notRun(action, 'void', claimed.refusal);
    if (claimed.kind === 'expired')
      return notRun(action, 'refused', refuse('EXPIRED', 'The approval had expired.'));
    if (claimed.kind === 'lost')
      return { kind: 'later', inMs: LOOK_AGAIN_MS, reason: 'The incident was stopped or has ended.' };
    if (claimed.kind === 'busy')
      return { kind: 'later', inMs: 2_000, reason: 'Another action on this target has not ended.' };
    if (claimed.kind === 'taken')
      return { kind: 'later', inMs: claimed.inMs, reason: 'Another process has taken it.' };

    // From here on it counts as possibly run. What is too late must not begin (monotonic clock: it also runs while the process is paused).
    const tooLate = performance.now() - claimed.begunAt > WINDOW_MS;
    const stopped = deps.killSwitch.local();
    if (tooLate || stopped) {
      const why = stopped?.reason ?? 'the claim came back too late.';
      return end(action, claimId, { kind: 'failed', text: `Not run: ${why}` }, hooks, null);
    }
    const startedAt = new Date();
    // From moments before the claim only, never from now: a process paused right here would otherwise give itself a later
    // deadline than the ledger's (`done_by`, a margin after this one).
    const deadline = {
      clock: authorised.clock,
      withinMs: Math.floor(claimed.begunAt - authorised.readAt) + WINDOW_MS + tool.timeoutMs,
    };
    const outcome = await runOnce(tool, context, passage.input, action.guard, deadline);
    return end(action, claimId, outcome, hooks, startedAt);
  }

  /**
   * Writes how a claim ended. `startedAt` null: nothing ran under it for certain, so there is no tool call, and the same
   * plan may be proposed again.
   */
  async function end(
    action: Action,
    claimId: string,
    raw: ActionOutcome,
    hooks: LedgerHooks,
    startedAt: Date | null,
  ): Promise<ExecutionResult> {
    const toolCallId = startedAt && asToolCallId(newId('tc', randomBytes));
    const outcome: ActionOutcome = { kind: raw.kind, text: screened.line(raw.text) };
    const said = raw.kind === 'succeeded' ? screened.input(raw.data ?? null) : null;
    const entry = {
      kind: 'gate.outcome',
      actor: action.decidedBy ?? 'system',
      incidentId: action.incidentId,
      details: {
        action: action.id,
        toolCall: toolCallId,
        outcome: outcome.kind,
        text: outcome.text.slice(0, 500),
      },
    };
    // Outcome, evidence and audit entry in one transaction: a kill after it loses none of them, one before it all.
    const onEnded = async (tx: Tx): Promise<void> => {
      await hooks.ended(tx, outcome);
      if (toolCallId && startedAt)
        await storeToolCallIn(tx, deps.records, {
          id: toolCallId,
          incidentId: action.incidentId,
          role: 'surgeon',
          tool: action.tool,
          target: action.target,
          input: screened.input(action.input),
          state: outcome.kind === 'succeeded' ? 'ok' : 'failed',
          output: outcome.text,
          result: said,
          truncated: false,
          code: outcome.kind === 'succeeded' ? null : outcome.kind.toUpperCase(),
          actionId: action.id,
          startedAt,
          purpose: 'the approved action',
        });
      await audit.appendIn(tx, entry);
    };
    const first = await ledger.finish(deps, { action, claimId, outcome, toolCallId, onEnded });
    // Judged by another process while this one was away: what it saw is for the audit, the judgement stands.
    if (!first) await audit.append({ ...entry, details: { ...entry.details, toolCall: null, late: true } });
    return { kind: 'ran', outcome };
  }

  async function settle(action: Action, hooks: LedgerHooks, signal: AbortSignal): Promise<ExecutionResult> {
    const [row] = await deps.sql`
      UPDATE action SET state = CASE WHEN done_by < clock_timestamp() THEN 'unknown' ELSE state END
      WHERE id = ${action.id} AND state IN ('started', 'unknown')
      RETURNING state, claim_id, (extract(epoch FROM done_by - clock_timestamp()) * 1000)::float8 AS left_ms`;
    if (!row) return { kind: 'later', inMs: 0, reason: 'It has just ended.' };
    // Also when a run that took too long is *unknown* already: until then it may still take effect.
    const leftMs = Number(row['left_ms']);
    if (row['state'] === 'started' || leftMs > 0)
      return {
        kind: 'later',
        inMs: Math.max(50, leftMs + 50),
        reason: 'It was started by a process that may still be running it.',
      };
    const entered = await enter(action);
    const startedAt = new Date();
    let outcome: ActionOutcome = {
      kind: 'unknown',
      text: 'It cannot be told whether it ran; look at the target and settle it by hand.',
    };
    if ('tool' in entered) {
      const seen = await look(action, entered.tool, entered.passage, signal);
      if (seen === 'done')
        outcome = {
          kind: 'succeeded',
          text: 'Sentry stopped while it ran; looking at the target shows that it took effect.',
        };
      if (seen === 'not_done')
        outcome = {
          kind: 'failed',
          text: 'Sentry stopped before it took effect; looking at the target shows that it did not run.',
        };
    }
    return end(action, String(row['claim_id']), outcome, hooks, outcome.kind === 'failed' ? null : startedAt);
  }

  /** Whether it took effect. What another server shows (failover, restore) says nothing about the one it may have run on. */
  async function look(
    action: Action,
    tool: ActiveTool<unknown, Json>,
    passage: Required<Passage>,
    signal: AbortSignal,
  ): Promise<'done' | 'not_done' | 'cannot_tell'> {
    try {
      return await withTimeout(tool.timeoutMs, signal, async (inner) => {
        const { target, input } = passage;
        const moved = await checks.sameServer(deps, { action, tool, input, steps: [action] });
        if (moved) return 'cannot_tell';
        const context = { target, ports: deps.ports, timeoutMs: tool.timeoutMs, signal: inner };
        return tool.look(context, input, action.guard);
      });
    } catch (error) {
      deps.log.warn(
        { action: action.id, error: screened.line(messageOf(error)) },
        'could not look whether the action took effect',
      );
      return 'cannot_tell';
    }
  }

  async function notRun(
    action: Action,
    why: 'void' | 'refused',
    { code, reason, wait }: Refusal,
  ): Promise<ExecutionResult> {
    const said = screened.line(reason);
    // Marked, so that the incident goes on when the switch is taken back.
    if (code === 'STOPPED') await deps.sql`UPDATE action SET held_by = ${said} WHERE id = ${action.id}`;
    await audit.append({
      kind: 'gate.refused',
      actor: action.decidedBy ?? 'system',
      incidentId: action.incidentId,
      details: { action: action.id, code, reason: said },
    });
    return { kind: 'not_run', why, code, reason: said, ...(wait ? { wait } : {}) };
  }

  return { execute, settle };
}
