import type { LedgerHooks } from '../actions/ledger/execution.ts';
import type { Action, ActionOutcome } from '../core/action.ts';
import type { Tx } from '../core/sql.ts';
import { moveIn } from './move.ts';
import type { PhaseRun } from './phases/phase-run.ts';

/** The incident moves in the ledger's own transactions; between the steps of a plan it stays where it is. */
export function ledgerHooks(run: PhaseRun, action: Action): LedgerHooks {
  const { deps, incident } = run;
  return {
    claimed: (tx, claimId) => (action.step === 1 ? begun(tx, claimId) : goneOn(tx)),
    async released(tx, claimId) {
      // A later step is queued again, in an incident that stays where it is.
      if (action.step > 1) return undefined;
      const moved = await moveIn(
        tx,
        deps,
        { ...incident, state: 'remediating' },
        {
          from: 'remediating',
          to: 'awaiting_approval',
          reason: 'Not run: it could not begin in time. It stays approved, and is tried again.',
          key: `released:${claimId}`,
          changes: { nextStep: 'Trying again to run the approved fix.' },
          turnAfterMs: null,
        },
      );
      return moved === 'moved' ? undefined : 'lost';
    },
    async ended(tx, outcome) {
      const finished = {
        type: 'action.finished',
        actionId: action.id,
        outcome: outcome.kind,
        text: outcome.text,
      } as const;
      const plan = await endOfStep(tx, action, outcome);
      if (plan.isGoingOn) {
        await deps.records.append(tx, incident.id, finished, `ended:${action.id}:${outcome.kind}`);
        await tx`SELECT sentry_enqueue_turn(${incident.id}, 'next step', 0)`;
        return;
      }
      const moved = await moveIn(
        tx,
        deps,
        { ...incident, state: 'remediating' },
        {
          from: 'remediating',
          to: 'verifying',
          reason: formatEnd(action, outcome, plan),
          key: `ended:${action.id}`,
          changes: { nextStep: 'Checking on the live system whether it helped.' },
          events: [finished],
        },
      );
      if (moved === 'lost')
        await deps.records.append(tx, incident.id, finished, `late:${action.id}:${outcome.kind}`);
    },
  };

  async function begun(tx: Tx, claimId: string): Promise<'lost' | undefined> {
    const moved = await moveIn(tx, deps, incident, {
      from: 'awaiting_approval',
      to: 'remediating',
      // Who approved it is on record by name just before; an id says nothing to people.
      reason: action.decidedBy === 'policy' ? 'Approved by the policy.' : 'Approved.',
      key: `claimed:${claimId}`,
      changes: { nextStep: 'Running the approved fix.' },
      events: [{ type: 'action.started', actionId: action.id }],
      // Should this process die now, this turn comes after the claim has run out and settles it.
      turnAfterMs: 1_000,
    });
    // Somebody stopped or ended the incident since this turn read it: then nothing may start any more.
    return moved === 'moved' ? undefined : 'lost';
  }

  async function goneOn(tx: Tx): Promise<'lost' | undefined> {
    const rows = await tx`
      UPDATE incident SET updated_at = clock_timestamp()
       WHERE id = ${incident.id} AND state = 'remediating' AND round = ${incident.round} RETURNING id`;
    if (rows.length === 0) return 'lost';
    const event = { type: 'action.started', actionId: action.id } as const;
    await deps.records.append(tx, incident.id, event, `claimed:${action.id}`);
    await tx`SELECT sentry_enqueue_turn(${incident.id}, 'step claimed', 1000)`;
    return undefined;
  }
}

interface EndOfStep {
  readonly isGoingOn: boolean;
  /** How many steps the plan has. */
  readonly of: number;
  readonly skipped: number;
}

/**
 * Whether the plan goes on after a step. A step of which nobody knows yet how it ended is looked at once it can have no more
 * effect; when looking cannot tell either, the rest is skipped.
 */
export async function endOfStep(tx: Tx, { id, planId }: Action, { kind }: ActionOutcome): Promise<EndOfStep> {
  if (kind === 'unknown')
    await tx`
      UPDATE action SET state = 'skipped', finished_at = clock_timestamp(),
             outcome = 'Not run: nobody knows whether the step before it took effect.'
       WHERE plan_id = ${planId} AND state = 'queued'
         AND (SELECT done_by < clock_timestamp() FROM action WHERE id = ${id})`;
  const [row] = await tx<EndOfStep>`
    SELECT count(*)::int AS of, count(*) FILTER (WHERE state = 'queued') > 0 AS "isGoingOn",
           count(*) FILTER (WHERE state = 'skipped')::int AS skipped
      FROM action WHERE plan_id = ${planId}`;
  if (!row) throw new Error('an aggregate always has a row');
  return row;
}

function formatEnd({ step }: Action, { kind }: ActionOutcome, { of, skipped }: EndOfStep): string {
  const rest = skipped > 0 ? ' and the rest of the plan was not run' : '';
  if (kind === 'succeeded') {
    if (skipped > 0) return `Step ${step} of ${of} has run${rest}; the live system decides.`;
    return of === 1 ? 'The fix has run.' : `All ${of} steps have run.`;
  }
  return `${of === 1 ? 'The fix' : `Step ${step} of ${of}`} ended as ${kind}${rest}; the live system decides.`;
}
