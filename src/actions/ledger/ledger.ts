import { performance } from 'node:perf_hooks';
import type { Action, ActionOutcome } from '../../core/action.ts';
import type { Refusal } from '../../core/errors.ts';
import type { ToolCallId } from '../../core/ids.ts';
import type { Sql, Tx } from '../../core/sql.ts';
import type { ActionRow } from '../../record/rows.ts';
import type { KillSwitch } from '../../safety/kill-switch/kill-switch.ts';
import { type RateLimit, returnRate, takeRate } from '../../safety/limits/rate-limit.ts';
import { deniedMeanwhile, lockSystem } from '../approvals/denials.ts';
import { BY_POLICY } from '../policy/autonomy.ts';
import { type Caps, overCap } from '../policy/caps.ts';

/**
 * The ledger of design.md §5: a mutation takes effect only inside the claim of the process that runs it, and a claim is
 * judged only after the last moment at which it could still take effect.
 */

/** A claim whose commit came back later than this is not used. Long enough for a slow disk, short enough to wait for after a crash. */
export const WINDOW_MS = 3_000;
/** For a look at the effect of a step and for turns that come late, a step; a plan does not go on for ever. */
const BETWEEN_STEPS_MS = 120_000;
/** Between the last moment of a run and the first look at it. */
const MARGIN_MS = 1_500;

interface LedgerDeps {
  readonly sql: Sql;
  readonly killSwitch: KillSwitch;
}

export type Claim =
  /** `begunAt` (performance.now()): from then on the window runs, also while the process is paused. */
  | { readonly kind: 'claimed'; readonly begunAt: number }
  /** By the switch, or because it has been done too lately. */
  | { readonly kind: 'stopped'; readonly refusal: Refusal }
  /** The incident went elsewhere meanwhile (a person stopped it, its source ended it): nothing was claimed. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'expired' }
  /** As many as the policy lets have run lately. */
  | { readonly kind: 'capped'; readonly refusal: Refusal }
  /** Somebody has said no to what it touches, and its card does not show that: nobody has approved it although they did. */
  | { readonly kind: 'denied'; readonly refusal: Refusal }
  /** Another action on its system is running, or nobody knows how it ended. */
  | { readonly kind: 'busy' }
  /** This very action has been claimed by somebody else. */
  | { readonly kind: 'taken'; readonly inMs: number };

/** A step that is to follow the claimed one. */
export interface LaterStep {
  readonly action: Action;
  readonly timeoutMs: number;
  readonly limit?: RateLimit | undefined;
  readonly caps?: Caps;
}

/** One transaction: the switch, the lock of the system behind the target, what was denied, and the row from `approved` to `started`; of a later step, from `queued`. The first claim of a plan reserves what its later steps may do only so often. */
export async function claim(
  { sql, killSwitch }: LedgerDeps,
  options: {
    readonly action: Action;
    readonly claimId: string;
    readonly timeoutMs: number;
    readonly scopes: readonly string[];
    readonly limit?: RateLimit | undefined;
    readonly onClaimed: (tx: Tx) => Promise<'lost' | undefined>;
    /** Of the policy: counted here, where nothing else on the target can begin. */
    readonly caps?: Caps;
    /** What is left of its plan after it, in order. */
    readonly later?: readonly LaterStep[];
  },
): Promise<Claim> {
  const { action, claimId, timeoutMs, later = [] } = options;
  const begunAt = performance.now();
  const calledOff = new Error('called off');
  const transaction = sql.begin(async (tx): Promise<Claim> => {
    await tx`SET LOCAL synchronous_commit = on`;
    const refusal = await killSwitch.lockRows(tx, options.scopes);
    if (refusal) return { kind: 'stopped', refusal };
    if ([options, ...later].some(({ caps }) => caps?.everywhere))
      await tx`SELECT pg_advisory_xact_lock(hashtextextended('sentry everywhere', 0))`;
    await lockSystem(tx, action);
    for (const { caps } of [options, ...later]) {
      const capped = await overCap(tx, action, caps, later.length + 1);
      if (capped) return { kind: 'capped', refusal: capped };
    }
    for (const each of [action, ...later.map((step) => step.action)]) {
      const denied = await deniedMeanwhile(tx, each, BY_POLICY);
      if (denied) return { kind: 'denied', refusal: denied };
    }
    const [row] = await tx`
      UPDATE action a SET state = 'started', claim_id = ${claimId}, started_at = clock_timestamp(),
             done_by = clock_timestamp() + ${claimMs(timeoutMs)} * interval '1 millisecond',
             decided_by = h.decided_by, decided_at = h.decided_at, approved_by = h.approved_by
        FROM action h
       WHERE a.id = ${action.id} AND h.id = a.plan_id AND a.plan_hash = ${action.planHash}
         AND a.expires_at > clock_timestamp() AND NOT a.audit_only AND h.decided_by IS NOT NULL
         AND (a.step = 1 AND a.state = 'approved'
              -- Never ahead of the step before it.
              OR a.state = 'queued' AND EXISTS (SELECT FROM action b WHERE b.plan_id = a.plan_id AND b.step = a.step - 1
                                                   AND b.state = 'succeeded'))
         AND NOT EXISTS (SELECT FROM action o WHERE (o.target = a.target OR o.identity = a.identity) AND o.id <> a.id
                           AND o.state IN ('started', 'unknown'))
         AND NOT EXISTS (SELECT FROM action o JOIN action f ON f.id = o.plan_id
                          WHERE (o.target = a.target OR o.identity = a.identity) AND o.plan_id <> a.plan_id
                            AND o.state = 'queued' AND f.state = 'succeeded' AND o.expires_at > clock_timestamp())
      RETURNING a.done_by`;
    if (!row) return why(tx, action);
    for (const { limit, action: of } of [options, ...later]) {
      const limited = limit && (await takeRate(tx, limit, of.id));
      if (limited) throw new Limited(limited);
    }
    if (action.step === 1 && later.length > 0)
      await tx`
        UPDATE action SET expires_at = clock_timestamp() + ${planMs([options, ...later])} * interval '1 millisecond'
         WHERE plan_id = ${action.planId} AND state = 'queued'`;
    if ((await options.onClaimed(tx)) === 'lost') throw calledOff;
    return { kind: 'claimed', begunAt };
  });
  return transaction.catch((error: unknown): Claim => {
    if (error instanceof Limited) return { kind: 'stopped', refusal: error.refusal };
    if (error !== calledOff) throw error;
    return { kind: 'lost' };
  });
}

const claimMs = (timeoutMs: number): number => WINDOW_MS + timeoutMs + MARGIN_MS;

/** How long a plan may take from its first claim on: what was approved together is not run hours apart. */
export function planMs(steps: readonly { readonly timeoutMs: number }[]): number {
  return steps.reduce((sum, { timeoutMs }) => sum + claimMs(timeoutMs) + BETWEEN_STEPS_MS, 0);
}

/** Rolls the claim back. */
class Limited extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.reason);
    this.refusal = refusal;
  }
}

async function why(tx: Tx, action: Action): Promise<Claim> {
  const [row] = await tx<Pick<ActionRow, 'state'> & { expired: boolean; left_ms: number }>`
    SELECT state, expires_at <= clock_timestamp() AS expired,
           (extract(epoch FROM done_by - clock_timestamp()) * 1000)::float8 AS left_ms
    FROM action WHERE id = ${action.id}`;
  if (row?.state === 'started' || row?.state === 'unknown')
    return { kind: 'taken', inMs: Math.max(50, row.left_ms) };
  if (row?.state !== 'approved' && row?.state !== 'queued') return { kind: 'taken', inMs: 0 };
  return row.expired ? { kind: 'expired' } : { kind: 'busy' };
}

/**
 * Gives back a claim under which nothing ran: it stands approved again, as before. False when it is not ours to give back
 * any more: it has been judged, a person has called off what follows it, or its incident is not where the claim had led it.
 */
export async function release(
  { sql }: Pick<LedgerDeps, 'sql'>,
  options: {
    readonly action: Action;
    readonly claimId: string;
    readonly onReleased: (tx: Tx) => Promise<'lost' | undefined>;
  },
): Promise<boolean> {
  const { action, claimId } = options;
  const calledOff = new Error('called off');
  const transaction = sql.begin(async (tx) => {
    await tx`SET LOCAL synchronous_commit = on`;
    const rows = await tx`
      UPDATE action a SET state = CASE WHEN step = 1 THEN 'approved' ELSE 'queued' END,
             claim_id = NULL, started_at = NULL, done_by = NULL
       WHERE id = ${action.id} AND claim_id = ${claimId} AND state = 'started'
         AND NOT EXISTS (SELECT FROM action l WHERE l.plan_id = a.plan_id AND l.step > a.step AND l.state <> 'queued')
      RETURNING id`;
    if (rows.length === 0) return false;
    await returnRate(tx, action.id);
    if ((await options.onReleased(tx)) === 'lost') throw calledOff;
    return true;
  });
  return transaction.catch((error: unknown) => {
    if (error !== calledOff) throw error;
    return false;
  });
}

/** Writes how it ended, if this claim still holds it; false when it has been judged already. A late outcome replaces *unknown*. */
export async function finish(
  { sql }: Pick<LedgerDeps, 'sql'>,
  options: {
    readonly action: Action;
    readonly claimId: string;
    readonly outcome: ActionOutcome;
    readonly toolCallId: ToolCallId | null;
    readonly onEnded: (tx: Tx, outcome: ActionOutcome) => Promise<void>;
  },
): Promise<boolean> {
  const { action, claimId, outcome } = options;
  return sql.begin(async (tx) => {
    await tx`SET LOCAL synchronous_commit = on`;
    const rows = await tx`
      UPDATE action SET state = ${outcome.kind}, outcome = ${outcome.text}, finished_at = clock_timestamp(),
             tool_call_id = ${options.toolCallId}
      WHERE id = ${action.id} AND claim_id = ${claimId} AND state IN ('started', 'unknown') RETURNING id`;
    if (rows.length > 0 && options.toolCallId === null) await returnRate(tx, action.id);
    if (rows.length > 0) await options.onEnded(tx, outcome);
    return rows.length > 0;
  });
}
