import type { Refusal } from '../../core/errors.ts';
import type { Target } from '../../core/target.ts';
import type { Json, ToolCallRequest } from '../../core/tool-call.ts';
import type { Credential } from '../../safety/vault/credentials.ts';
import type { AnyTool } from '../../tools/define.ts';

/** A call on its way through the gate. Checks fill in what they have established. */
export interface CallContext {
  readonly credential: Credential;
  readonly request: ToolCallRequest;
  tool?: AnyTool;
  /** As parsed by the tool's schema: what is hashed, shown and run. */
  input?: Json;
  target?: Target;
}

/**
 * One check of the gate (design.md §5), in order. Returns a refusal to stop the call; throws only on faults, which
 * the gate turns into a failed call.
 */
export type Check = (call: CallContext) => Promise<Refusal | undefined> | Refusal | undefined;

/** The first refusal of the checks, in their order. */
export async function runChecks(
  checks: readonly Check[],
  context: CallContext,
): Promise<Refusal | undefined> {
  for (const check of checks) {
    const refusal = await check(context);
    if (refusal) return refusal;
  }
  return undefined;
}
