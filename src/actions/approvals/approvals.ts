import type { Action } from '../../core/action.ts';
import type { DenialReach } from '../../core/denial.ts';
import type { Refusal } from '../../core/errors.ts';
import type { ActionId } from '../../core/ids.ts';
import type { Sql, Tx } from '../../core/sql.ts';
import type { IncidentRecords } from '../../record/record.ts';
import type { AuditLog } from '../../safety/audit/audit-chain.ts';
import type { ApprovalSeal } from '../../safety/vault/approval-seal.ts';
import type { ApprovalPolicy } from '../policy/policy.ts';
import { approveEarned } from './approve-earned.ts';
import { decide } from './decide.ts';
import { expire, voidAction } from './end-approval.ts';

/** A person's click, as it came: the user id from the signed payload, never from the button. */
export interface Decision {
  readonly actionId: ActionId;
  /** From the button: the plan that person saw. */
  readonly planHash: string;
  readonly by: string;
  readonly decision: 'approve' | 'deny';
  readonly reason: string;
  /** With *deny*: look for another way (back to planning) rather than leave it at the report. */
  readonly anotherWay: boolean;
  /** With *deny*: how far the No reaches and for how long; this very act, in every incident, when left out. */
  readonly reach?: DenialReach;
}

export type Decided = { readonly ok: true; readonly action: Action } | Refusal;

export interface Approvals {
  /** One atomic transition from `proposed`; the second click, the wrong person, the expired or void card each get their refusal. */
  decide(decision: Decision): Promise<Decided>;
  /**
   * By earned autonomy: approves what has stood for its veto time and still may run without asking; returns whether it was
   * this call that did. When it may not any more, it is asked for like anything else.
   */
  approveEarned(actionId: ActionId): Promise<boolean>;
  /** Marks what nobody decided in time; returns whether it was this call that did. */
  expire(actionId: ActionId): Promise<boolean>;
  /** Takes an undecided or approved action back, e.g. when the source says it is over or the state moved. */
  void(tx: Tx, action: Pick<Action, 'id' | 'incidentId'>, reason: string): Promise<boolean>;
}

export interface ApprovalDeps {
  readonly sql: Sql;
  readonly records: IncidentRecords;
  readonly policy: ApprovalPolicy;
  readonly audit: AuditLog;
  readonly seal: ApprovalSeal;
}

export function createApprovals(deps: ApprovalDeps): Approvals {
  return {
    decide: (decision) => decide(deps, decision),
    async approveEarned(actionId) {
      const action = await deps.records.action(actionId);
      return action?.autonomousAt ? approveEarned(deps, action) : false;
    },
    expire: (actionId) => expire(deps, actionId),
    void: (tx, action, reason) => voidAction(tx, deps, action, reason),
  };
}
