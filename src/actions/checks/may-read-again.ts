import { canonicalJson } from '../../core/canonical-json.ts';
import { type Refusal, refuse } from '../../core/errors.ts';
import type { Json, ToolCall } from '../../core/tool-call.ts';
import type { AnyTool } from '../../tools/define.ts';

/** What stands in a recorded input where redaction hid something: it is not what was asked then. */
const HIDDEN = /\[(?:redacted:[\w.-]+(?:#\d+)?|withheld\b)/;
const READS: ReadonlySet<string> = new Set(['read', 'diagnostic', 'docs'] satisfies AnyTool['kind'][]);

/** Whether a recorded input is all that was asked for: nothing of it was hidden. */
export function isWhole(input: Json): boolean {
  return !HIDDEN.test(canonicalJson(input));
}

/**
 * Whether a recorded call is one that only reads, and can be made again in exactly its words. Asked by the registry as it
 * is now, not by what the record says of itself; the gate's checks judge the call once more when it is made.
 */
export function mayReadAgain(
  registry: { get(name: string): AnyTool | undefined },
  { tool: name, target, input }: Pick<ToolCall, 'tool' | 'target' | 'input'>,
): Refusal | undefined {
  const tool = registry.get(name);
  if (!tool || !READS.has(tool.kind))
    return refuse('NOT_A_READ', 'Only a tool that reads can be used again this way. Nothing was run.');
  const again = 'Exactly this read cannot be made again; ask for it in the thread.';
  if (target === null || !isWhole(input)) return refuse('NOT_REPEATABLE', again);
  const parsed = tool.input.safeParse(input);
  return parsed.success && canonicalJson(parsed.data as Json) === canonicalJson(input)
    ? undefined
    : refuse('NOT_REPEATABLE', again);
}
