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
  | 'objects'
  | 'denialsAcknowledged'
  | 'purpose'
>;

/** SHA-256 (hex) over the plan as canonical JSON. */
export function planHash(plan: Plan): string {
  const { tool, target, input, command, guard, why, blastRadius, preflight, undo, risk, runbookId, purpose } =
    plan;
  const verify = plan.verify as unknown as Json;
  const shown = { why, blastRadius, preflight, undo, risk, runbookId, verify, purpose };
  return createHash('sha256')
    .update(canonicalJson({ tool, target, input, command, guard, ...shown, ...touched(plan) }))
    .digest('hex');
}

/** What it touches, and what was said against it; left out where there is nothing, as in plans of before they were kept. */
function touched({ objects, denialsAcknowledged }: Plan): Readonly<Record<string, Json>> {
  return {
    ...(objects.length > 0 ? { objects: objects as unknown as Json } : {}),
    ...(denialsAcknowledged.length > 0 ? { denialsAcknowledged: [...denialsAcknowledged] } : {}),
  };
}
