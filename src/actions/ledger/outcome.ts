import { randomBytes } from 'node:crypto';
import type { Action, ActionOutcome } from '../../core/action.ts';
import type { Refusal } from '../../core/errors.ts';
import { asToolCallId } from '../../core/ids.ts';
import { newId } from '../../core/new-id.ts';
import type { Tx } from '../../core/sql.ts';
import { storeToolCallIn } from '../../record/evidence.ts';
import type { ExecutionDeps, ExecutionResult, LedgerHooks } from './execution.ts';

/**
 * Writes how a claim ended. `startedAt` null: nothing ran under it for certain, so there is no tool call, and the same
 * plan may be proposed again.
 */
export async function endClaim(
  deps: ExecutionDeps,
  action: Action,
  claimId: string,
  raw: ActionOutcome,
  hooks: LedgerHooks,
  startedAt: Date | null,
): Promise<ExecutionResult> {
  const { audit, ledger, screened } = deps;
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

/** Nothing ran, and nothing will under this approval as it stands. */
export async function notRun(
  deps: ExecutionDeps,
  action: Action,
  why: 'void' | 'refused',
  { code, reason, wait }: Refusal,
): Promise<ExecutionResult> {
  const said = deps.screened.line(reason);
  // Marked, so that the incident goes on when the switch is taken back.
  if (code === 'STOPPED') await deps.sql`UPDATE action SET held_by = ${said} WHERE id = ${action.id}`;
  await deps.audit.append({
    kind: 'gate.refused',
    actor: action.decidedBy ?? 'system',
    incidentId: action.incidentId,
    details: { action: action.id, code, reason: said },
  });
  return { kind: 'not_run', why, code, reason: said, ...(wait ? { wait } : {}) };
}
