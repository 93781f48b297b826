import type { Action, ActionOutcome } from '../../core/action.ts';
import type { LimitedUntil } from '../../core/errors.ts';
import type { Tx } from '../../core/sql.ts';
import { type ApprovalChecks, approvalChecks } from '../checks/approval-checks.ts';
import type { Check } from '../checks/check.ts';
import type { GateDeps } from '../gate-deps.ts';
import type { ReadsCriterion } from '../proposals/aim.ts';
import type { Screened } from '../screened.ts';
import { claim, finish, release } from './ledger.ts';

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
  /** The claim came back too late, so nothing ran: it is approved as before, and the turn that the claim has asked for tries again. */
  | { readonly kind: 'given_back' }
  /** Something else runs on the target, or the claim of a dead process has not run out: ask again then. */
  | { readonly kind: 'later'; readonly inMs: number; readonly reason: string };

/** What the incident does in the same transactions as the ledger, so that the two never disagree. */
export interface LedgerHooks {
  /** `lost`: the incident is not where it was (a person stopped it, its source ended it); the claim is called off. */
  claimed(tx: Tx, claimId: string): Promise<'lost' | undefined>;
  /** The claim is given back. `lost`: the incident is not where the claim had led it; then it ends as *failed*. */
  released(tx: Tx, claimId: string): Promise<'lost' | undefined>;
  ended(tx: Tx, outcome: ActionOutcome): Promise<void>;
}

export interface Execution {
  /** Runs an approved action, at most once whatever happens around it. No model is asked anything here. */
  execute(action: Action, hooks: LedgerHooks, signal: AbortSignal): Promise<ExecutionResult>;
  /** For an action found `started` or `unknown`: waits for the claim to run out, then looks; never runs it again. */
  settle(action: Action, hooks: LedgerHooks, signal: AbortSignal): Promise<ExecutionResult>;
}

/** What stands between an approved action and its run, beside the checks that every call passes. */
export interface ExecutionParts {
  readonly checks: ApprovalChecks;
  readonly ledger: {
    readonly claim: typeof claim;
    readonly release: typeof release;
    readonly finish: typeof finish;
  };
}

export const executionParts: ExecutionParts = { checks: approvalChecks, ledger: { claim, release, finish } };

export interface ExecutionDeps extends GateDeps, ExecutionParts {
  readonly preChecks: readonly Check[];
  readonly screened: Screened;
  readonly criterion: ReadsCriterion;
}
