import { randomBytes, randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { planHash } from '../approvals/plan-hash.ts';
import type { Action, ActionOutcome } from '../domain/action.ts';
import { canonicalJson } from '../domain/canonical-json.ts';
import { messageOf, OpsError, type Refusal, refuse } from '../domain/errors.ts';
import { asToolCallId } from '../domain/ids.ts';
import { newId } from '../domain/new-id.ts';
import type { Tx } from '../domain/sql.ts';
import type { Json } from '../domain/tool-call.ts';
import { storeToolCallIn } from '../record/evidence.ts';
import { switchScopes } from '../security/kill-switch.ts';
import type { ActiveTool, ToolContext } from '../tools/define.ts';
import type { GateDeps } from './gate-deps.ts';
import { claim, finish, releaseUnrun, WINDOW_MS } from './ledger.ts';
import { isGone } from './propose.ts';
import type { Passage, Station } from './station.ts';
import { withTimeout } from './with-timeout.ts';

/** What became of an approved action. */
export type ExecutionResult =
  /** Nothing ran. `void`: the state moved, so the approval no longer fits. `refused`: the switch, the mode, the expiry. */
  | {
      readonly kind: 'not_run';
      readonly why: 'void' | 'refused';
      readonly code: string;
      readonly reason: string;
    }
  | { readonly kind: 'ran'; readonly outcome: ActionOutcome }
  /** Something else runs on the target, or the claim of a dead process has not run out: ask again then. */
  | { readonly kind: 'later'; readonly inMs: number; readonly reason: string };

/** What the incident does in the same transactions as the ledger, so that the two never disagree. */
export interface LedgerHooks {
  claimed(tx: Tx): Promise<void>;
  ended(tx: Tx, outcome: ActionOutcome): Promise<void>;
}

export interface Execution {
  /** Runs an approved action, at most once whatever happens around it. No model is asked anything here. */
  execute(action: Action, hooks: LedgerHooks, signal: AbortSignal): Promise<ExecutionResult>;
  /** For an action found `started` or `unknown`: waits for the claim to run out, then looks; never runs it again. */
  settle(action: Action, hooks: LedgerHooks, signal: AbortSignal): Promise<ExecutionResult>;
}

export function createExecution(deps: GateDeps, stations: readonly Station[]): Execution {
  const { audit } = deps;

  /** The stations and the tool, as for any call; the surgeon's credential is minted for this action alone. */
  async function enter(
    action: Action,
  ): Promise<Refusal | { readonly tool: ActiveTool<unknown, Json>; readonly passage: Required<Passage> }> {
    const credential = deps.vault.mint({
      role: 'surgeon',
      incidentId: action.incidentId,
      targets: [action.target],
    });
    const passage: Passage = {
      credential,
      request: { tool: action.tool, target: action.target, input: action.input },
    };
    for (const station of stations) {
      const refusal = await station(passage);
      if (refusal) return refusal;
    }
    if (passage.tool?.kind !== 'active') return refuse('NOT_ACTIVE', `${action.tool} changes nothing.`);
    return { tool: passage.tool as ActiveTool<unknown, Json>, passage: passage as Required<Passage> };
  }

  /** Station 9 for an approved call, up to the claim: all that can be checked before it. Returns the tool's context. */
  async function authorise(
    action: Action,
    tool: ActiveTool<unknown, Json>,
    context: ToolContext,
    input: Json,
  ): Promise<
    | { readonly clock: string | null; readonly readAt: number }
    | { readonly void: Refusal }
    | { readonly refused: Refusal }
  > {
    const local = deps.killSwitch.local();
    if (local) return { refused: local };
    if (action.auditOnly)
      return {
        refused: refuse('AUDIT_ONLY', 'It was proposed while nothing may be changed, and cannot be run.'),
      };
    const command = tool.command(input);
    const hash = planHash({
      tool: action.tool,
      target: action.target,
      input: action.input,
      command,
      guard: action.guard,
    });
    if (hash !== action.planHash || command !== action.command)
      return { void: refuse('PLAN_CHANGED', 'What would run is not what was approved.') };
    const identity = await deps.identity(action.target);
    const [seen] = await deps.sql`SELECT system_identifier, timeline_id FROM action WHERE id = ${action.id}`;
    if (
      seen?.['system_identifier'] !== identity.systemIdentifier ||
      Number(seen['timeline_id']) !== identity.timelineId
    )
      return {
        void: refuse(
          'FAILED_OVER',
          `${action.target} is not the server it was when this was proposed (failover or restore).`,
        ),
      };
    try {
      const now = await tool.preflight(context, input);
      if (canonicalJson(now.guard) !== canonicalJson(action.guard))
        return { void: refuse('STATE_MOVED', 'The state has moved since this was proposed.') };
      return { clock: now.clock, readAt: performance.now() };
    } catch (error) {
      if (isGone(error))
        return {
          void: refuse('STATE_MOVED', `The state has moved since this was proposed: ${messageOf(error)}`),
        };
      throw error;
    }
  }

  async function execute(given: Action, hooks: LedgerHooks, signal: AbortSignal): Promise<ExecutionResult> {
    // As it stands now, not as it stood when the turn began: a step that runs again after a crash finds what it did then.
    const now = await deps.records.action(given.id);
    const action: Action = { ...given, ...(now ? { state: now.state, outcome: now.outcome } : {}) };
    if (action.state === 'started' || action.state === 'unknown') return settle(action, hooks, signal);
    if (action.state === 'succeeded' || action.state === 'failed')
      return { kind: 'ran', outcome: { kind: action.state, text: action.outcome ?? '' } };
    if (action.state !== 'approved')
      return { kind: 'not_run', why: 'refused', code: 'NOT_APPROVED', reason: `It is ${action.state}.` };

    const entered = await enter(action);
    if (!('tool' in entered)) return notRun(action, 'refused', entered);
    const { tool, passage } = entered;
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
      authorise(action, tool, context(inner), passage.input),
    );
    if ('void' in authorised) return notRun(action, 'void', authorised.void);
    if ('refused' in authorised) return notRun(action, 'refused', authorised.refused);

    const claimId = randomUUID();
    const scopes = switchScopes(action.target, passage.target.domain);
    const claimed = await claim(deps, {
      action,
      claimId,
      timeoutMs: tool.timeoutMs,
      scopes,
      onClaimed: hooks.claimed,
    });
    if (claimed.kind === 'stopped') return notRun(action, 'refused', claimed.refusal);
    if (claimed.kind === 'expired')
      return { kind: 'not_run', why: 'refused', code: 'EXPIRED', reason: 'The approval had expired.' };
    if (claimed.kind === 'busy')
      return { kind: 'later', inMs: 2_000, reason: 'Another action on this target has not ended.' };
    if (claimed.kind === 'taken')
      return { kind: 'later', inMs: claimed.inMs, reason: 'Another process has taken it.' };

    // From here on it counts as possibly run. What is too late must not begin (monotonic clock: it also runs while the process is paused).
    if (performance.now() - claimed.begunAt > WINDOW_MS || deps.killSwitch.local()) {
      const outcome: ActionOutcome = { kind: 'failed', text: 'Not run: the claim came back too late.' };
      await releaseUnrun(deps, { action, claimId, outcome, onEnded: hooks.ended });
      return { kind: 'ran', outcome };
    }
    const startedAt = new Date();
    // From moments before the claim only, never from now: a process paused right here would otherwise give itself a later
    // deadline than the ledger's (`done_by`, a margin after this one).
    const deadline = {
      clock: authorised.clock,
      withinMs: Math.floor(claimed.begunAt - authorised.readAt) + WINDOW_MS + tool.timeoutMs,
    };
    const outcome = await runOnce(tool, context, passage.input, action, deadline);
    await endWith(action, claimId, outcome, startedAt, hooks);
    return { kind: 'ran', outcome };
  }

  /** The one place where an active tool's `run` is called. */
  async function runOnce(
    tool: ActiveTool<unknown, Json>,
    context: (signal: AbortSignal) => ToolContext,
    input: Json,
    action: Action,
    deadline: { readonly clock: string | null; readonly withinMs: number },
  ): Promise<ActionOutcome> {
    // Not stopped half-way: it ends within its own timeout, and an aborted one would have to count as unknown.
    const signal = new AbortController().signal;
    try {
      return await withTimeout(tool.timeoutMs, signal, (inner) =>
        tool.run(context(inner), input, action.guard, deadline),
      );
    } catch (error) {
      // The tool throws only when nothing took effect; our own timeout and stop cannot know.
      const certain = error instanceof OpsError && error.code !== 'TIMEOUT' && error.code !== 'STOPPED';
      return { kind: certain ? 'failed' : 'unknown', text: messageOf(error) };
    }
  }

  async function endWith(
    action: Action,
    claimId: string,
    raw: ActionOutcome,
    startedAt: Date,
    hooks: LedgerHooks,
  ): Promise<void> {
    const id = asToolCallId(newId('tc', randomBytes));
    const outcome: ActionOutcome = { kind: raw.kind, text: deps.redact(raw.text) };
    const entry = {
      kind: 'gate.outcome',
      actor: action.decidedBy ?? 'system',
      incidentId: action.incidentId,
      details: { action: action.id, toolCall: id, outcome: outcome.kind, text: outcome.text.slice(0, 500) },
    };
    // Outcome, evidence and audit entry in one transaction: a kill after it loses none of them, one before it all.
    const onEnded = async (tx: Tx): Promise<void> => {
      await hooks.ended(tx, outcome);
      await storeToolCallIn(tx, deps.records, {
        id,
        incidentId: action.incidentId,
        role: 'surgeon',
        tool: action.tool,
        target: action.target,
        input: action.input,
        state: outcome.kind === 'succeeded' ? 'ok' : 'failed',
        output: outcome.text,
        result: null,
        truncated: false,
        code: outcome.kind === 'succeeded' ? null : outcome.kind.toUpperCase(),
        actionId: action.id,
        startedAt,
        purpose: 'the approved action',
      });
      await audit.appendIn(tx, entry);
    };
    const first = await finish(deps, { action, claimId, outcome, toolCallId: id, onEnded });
    // Judged by another process while this one was away: what it saw is for the audit, the judgement stands.
    if (!first) await audit.append({ ...entry, details: { ...entry.details, toolCall: null, late: true } });
  }

  async function settle(action: Action, hooks: LedgerHooks, signal: AbortSignal): Promise<ExecutionResult> {
    const [row] = await deps.sql`
      UPDATE action SET state = CASE WHEN done_by < clock_timestamp() THEN 'unknown' ELSE state END
      WHERE id = ${action.id} AND state IN ('started', 'unknown')
      RETURNING state, claim_id, (extract(epoch FROM done_by - clock_timestamp()) * 1000)::float8 AS left_ms`;
    if (!row) return { kind: 'later', inMs: 0, reason: 'It has just ended.' };
    if (row['state'] === 'started')
      return {
        kind: 'later',
        inMs: Math.max(50, Number(row['left_ms']) + 50),
        reason: 'It was started by a process that may still be running it.',
      };
    const entered = await enter(action);
    const startedAt = new Date();
    let outcome: ActionOutcome = {
      kind: 'unknown',
      text: 'It cannot be told whether it ran; look at the target and settle it by hand.',
    };
    if ('tool' in entered) {
      const { tool, passage } = entered;
      const seen = await withTimeout(tool.timeoutMs, signal, (inner) =>
        tool.look(
          { target: passage.target, ports: deps.ports, timeoutMs: tool.timeoutMs, signal: inner },
          passage.input,
          action.guard,
        ),
      ).catch((error: unknown) => {
        deps.log.warn(
          { action: action.id, error: messageOf(error) },
          'could not look whether the action took effect',
        );
        return 'cannot_tell' as const;
      });
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
    const claimId = String(row['claim_id']);
    if (outcome.kind === 'failed')
      await releaseUnrun(deps, { action, claimId, outcome, onEnded: hooks.ended });
    else await endWith(action, claimId, outcome, startedAt, hooks);
    return { kind: 'ran', outcome };
  }

  async function notRun(
    action: Action,
    why: 'void' | 'refused',
    { code, reason }: Refusal,
  ): Promise<ExecutionResult> {
    await audit.append({
      kind: 'gate.refused',
      actor: action.decidedBy ?? 'system',
      incidentId: action.incidentId,
      details: { action: action.id, code, reason: deps.redact(reason) },
    });
    return { kind: 'not_run', why, code, reason };
  }

  return { execute, settle };
}
