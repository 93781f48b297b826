import { refuse } from '../../domain/errors.ts';
import type { Json } from '../../domain/tool-call.ts';
import type { AnyTool } from '../../tools/define.ts';
import type { Station } from '../station.ts';

/** What is wrong, as far as it helps the caller. */
const MAX_ISSUES = 10;

/** Station 1: the tool is registered and the input parses; unknown fields are refused by the tools' strict schemas. */
export function knownTool(registry: { get(name: string): AnyTool | undefined }): Station {
  return (passage) => {
    const tool = registry.get(passage.request.tool);
    if (!tool)
      return refuse('UNKNOWN_TOOL', `There is no tool called "${passage.request.tool.slice(0, 80)}".`);
    const parsed = tool.input.safeParse(passage.request.input);
    if (!parsed.success) {
      const lines = parsed.error.issues
        .slice(0, MAX_ISSUES)
        .map((issue) => `${issue.path.join('.') || 'input'}: ${issue.message}`.slice(0, 300));
      return refuse('BAD_INPUT', `${tool.name}: ${lines.join('; ')}`);
    }
    passage.tool = tool;
    passage.input = parsed.data as Json;
    return undefined;
  };
}
