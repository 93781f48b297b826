import type { Action, ActionOutcome } from '../../core/action.ts';
import { messageOf } from '../../core/errors.ts';
import type { ActionRow } from '../../record/rows.ts';
import { withTimeout } from '../with-timeout.ts';
import { contextOf, type Entered, enter } from './enter.ts';
import type { ExecutionDeps, ExecutionResult, LedgerHooks } from './execution.ts';
import { endClaim } from './outcome.ts';

/** `Execution.settle`. */
export async function settle(
  deps: ExecutionDeps,
  action: Action,
  hooks: LedgerHooks,
  signal: AbortSignal,
): Promise<ExecutionResult> {
  const [row] = await deps.sql<Pick<ActionRow, 'state'> & { claim_id: string; left_ms: number }>`
    UPDATE action SET state = CASE WHEN done_by < clock_timestamp() THEN 'unknown' ELSE state END
    WHERE id = ${action.id} AND state IN ('started', 'unknown')
    RETURNING state, claim_id, (extract(epoch FROM done_by - clock_timestamp()) * 1000)::float8 AS left_ms`;
  if (!row) return { kind: 'later', inMs: 0, reason: 'It has just ended.' };
  // Also when a run that took too long is *unknown* already: until then it may still take effect.
  const leftMs = row.left_ms;
  if (row.state === 'started' || leftMs > 0)
    return {
      kind: 'later',
      inMs: Math.max(50, leftMs + 50),
      reason: 'It was started by a process that may still be running it.',
    };
  const entered = await enter(deps, action);
  const startedAt = new Date();
  let outcome: ActionOutcome = {
    kind: 'unknown',
    text: 'It cannot be told whether it ran; look at the target and settle it by hand.',
  };
  if ('tool' in entered) {
    const seen = await look(deps, action, entered, signal);
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
  return endClaim(deps, action, row.claim_id, outcome, hooks, outcome.kind === 'failed' ? null : startedAt);
}

/** Whether it took effect. What another server shows (failover, restore) says nothing about the one it may have run on. */
async function look(
  deps: ExecutionDeps,
  action: Action,
  entered: Entered,
  signal: AbortSignal,
): Promise<'done' | 'not_done' | 'cannot_tell'> {
  const { tool, call } = entered;
  try {
    return await withTimeout(tool.timeoutMs, signal, async (inner) => {
      const moved = await deps.checks.sameServer(deps, { action, tool, input: call.input, steps: [action] });
      return moved ? 'cannot_tell' : tool.look(contextOf(deps, entered, inner), call.input, action.guard);
    });
  } catch (error) {
    deps.log.warn(
      { action: action.id, error: deps.screened.line(messageOf(error)) },
      'could not look whether the action took effect',
    );
    return 'cannot_tell';
  }
}
