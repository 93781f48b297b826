import type { Demands } from './rule.ts';

/** What a plan takes as a whole. Who may approve it, and when, is asked of each step's own rule. */
export type PlanDemands = Pick<Demands, 'rule' | 'approvals' | 'selfApproval' | 'expiresMinutes'>;

/** All that any step asks for, so that no step is approved more easily within a plan than alone. */
export function strictest(steps: readonly PlanDemands[]): PlanDemands {
  const rules = new Set(steps.flatMap(({ rule }) => rule ?? []));
  return {
    rule: rules.size === 0 ? null : [...rules].join(', '),
    approvals: Math.max(...steps.map(({ approvals }) => approvals)),
    selfApproval: steps.every(({ selfApproval }) => selfApproval),
    expiresMinutes: Math.min(...steps.map(({ expiresMinutes }) => expiresMinutes)),
  };
}
