import type { Action } from '../../core/action.ts';
import { type Refusal, refuse } from '../../core/errors.ts';
import type { Json } from '../../core/tool-call.ts';
import type { ActiveTool, ToolContext } from '../../tools/define.ts';
import { type CallContext, runChecks } from '../checks/check.ts';
import { reach } from '../reach.ts';
import type { ExecutionDeps } from './execution.ts';

/** The tool of an approved action, as the checks let it through. */
export interface Entered {
  readonly tool: ActiveTool<unknown, Json>;
  readonly call: Required<CallContext>;
}

/** The checks and the tool, as for any call; the surgeon's credential is minted for this action alone. */
export async function enter(deps: ExecutionDeps, action: Action): Promise<Refusal | Entered> {
  const credential = deps.vault.mint({
    role: 'surgeon',
    incidentId: action.incidentId,
    targets: [action.target],
    tools: [action.tool],
    singleUse: true,
  });
  const call: CallContext = {
    credential,
    request: { tool: action.tool, target: action.target, input: action.input },
  };
  try {
    const refusal = await runChecks(deps.preChecks, call);
    if (refusal) return refusal;
  } finally {
    // Single use: revoked once the checks have passed.
    deps.vault.revoke(credential);
  }
  if (call.tool?.kind !== 'active') return refuse('NOT_ACTIVE', `${action.tool} changes nothing.`);
  return { tool: call.tool as ActiveTool<unknown, Json>, call: call as Required<CallContext> };
}

export function contextOf(
  deps: ExecutionDeps,
  { tool, call: { target } }: Entered,
  signal: AbortSignal,
): ToolContext {
  return { ...reach(deps, target), timeoutMs: tool.timeoutMs, signal };
}
