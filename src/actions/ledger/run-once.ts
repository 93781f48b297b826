import type { ActionOutcome } from '../../core/action.ts';
import { messageOf, OpsError } from '../../core/errors.ts';
import type { Json } from '../../core/tool-call.ts';
import type { ActiveTool, Deadline, ToolContext } from '../../tools/define.ts';
import { withTimeout } from '../with-timeout.ts';

/** The one place where an active tool's `run` is called: under a claim, once. Never throws. */
export async function runOnce(
  tool: ActiveTool<unknown, Json>,
  context: (signal: AbortSignal) => ToolContext,
  input: Json,
  guard: Json,
  deadline: Deadline,
): Promise<ActionOutcome> {
  // Not stopped half-way: it ends within its own timeout, and an aborted one would have to count as unknown.
  const signal = new AbortController().signal;
  try {
    const outcome: unknown = await withTimeout(tool.timeoutMs, signal, (inner) =>
      tool.run(context(inner), input, guard, deadline),
    );
    return isOutcome(outcome)
      ? outcome
      : { kind: 'unknown', text: 'The tool did not say how it ended; look at the target.' };
  } catch (error) {
    // The tool throws only when nothing took effect; our own timeout and stop cannot know.
    const certain = error instanceof OpsError && error.code !== 'TIMEOUT' && error.code !== 'STOPPED';
    return { kind: certain ? 'failed' : 'unknown', text: messageOf(error) };
  }
}

/** A tool's word for how it ended is written into the ledger's state: only these three may ever get there. */
function isOutcome(given: unknown): given is ActionOutcome {
  if (typeof given !== 'object' || given === null) return false;
  const { kind, text } = given as Record<string, unknown>;
  return (kind === 'succeeded' || kind === 'failed' || kind === 'unknown') && typeof text === 'string';
}
