import { refuse } from '../../domain/errors.ts';
import type { Json } from '../../domain/tool-call.ts';
import type { Tool } from '../../tools/define.ts';
import type { Station } from '../station.ts';

/** Station 1: the tool is registered and the input parses; unknown fields are refused by the tools' strict schemas. */
export function knownTool(registry: { get(name: string): Tool | undefined }): Station {
  return (passage) => {
    const tool = registry.get(passage.request.tool);
    if (!tool)
      return refuse('UNKNOWN_TOOL', `There is no tool called "${passage.request.tool.slice(0, 80)}".`);
    const parsed = tool.input.safeParse(passage.request.input);
    if (!parsed.success) {
      const lines = parsed.error.issues.map(
        (issue) => `${issue.path.join('.') || 'input'}: ${issue.message}`,
      );
      return refuse('BAD_INPUT', `${tool.name}: ${lines.join('; ')}`);
    }
    passage.tool = tool;
    passage.input = parsed.data as Json;
    return undefined;
  };
}
