import type { Action } from '../../core/action.ts';
import { canonicalJson } from '../../core/canonical-json.ts';
import type { Json } from '../../core/tool-call.ts';
import { sha256 } from '../../safety/sha256.ts';

/** A step of what a person approves, exactly: all that the card says of it. Anything else is another plan. */
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
  | 'autonomyKey'
  | 'verify'
  | 'objects'
  | 'denialsAcknowledged'
  | 'purpose'
>;

/** SHA-256 (hex) over the steps in their order, as canonical JSON; a plan of one step is hashed as that step alone. */
export function planHash(first: Plan, then: readonly Plan[] = []): string {
  const hashed = then.length === 0 ? content(first) : [first, ...then].map(content);
  return sha256(canonicalJson(hashed));
}

function content(plan: Plan): Json {
  const { tool, target, input, command, guard, why, blastRadius, preflight, undo, risk, runbookId, purpose } =
    plan;
  const verify = plan.verify as unknown as Json;
  const shown = { why, blastRadius, preflight, undo, risk, runbookId, verify, purpose };
  return { tool, target, input, command, guard, ...shown, ...touched(plan) };
}

/** What it touches, what was said against it, what it may earn; left out where there is nothing, as in plans of before they were kept. */
function touched({ objects, denialsAcknowledged, autonomyKey }: Plan): Readonly<Record<string, Json>> {
  return {
    ...(objects.length > 0 ? { objects: objects as unknown as Json } : {}),
    ...(denialsAcknowledged.length > 0 ? { denialsAcknowledged: [...denialsAcknowledged] } : {}),
    ...(autonomyKey === null ? {} : { autonomyKey }),
  };
}
