import { createHash } from 'node:crypto';
import type { Action } from '../domain/action.ts';
import { canonicalJson } from '../domain/canonical-json.ts';
import type { Json } from '../domain/tool-call.ts';

/** What a person approves, exactly: all that the card says of it. Anything else is another action. */
export type Plan = Pick<
  Action,
  | 'tool'
  | 'target'
  | 'input'
  | 'command'
  | 'guard'
  | 'why'
  | 'blastRadius'
  | 'preflight'
  | 'undo'
  | 'risk'
  | 'runbookId'
  | 'verify'
  | 'purpose'
>;

/** SHA-256 (hex) over the plan as canonical JSON. */
export function planHash(plan: Plan): string {
  const { tool, target, input, command, guard, why, blastRadius, preflight, undo, risk, runbookId, purpose } =
    plan;
  const verify = plan.verify as unknown as Json;
  const shown = { why, blastRadius, preflight, undo, risk, runbookId, verify, purpose };
  return createHash('sha256')
    .update(canonicalJson({ tool, target, input, command, guard, ...shown }))
    .digest('hex');
}
