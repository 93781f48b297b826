import { refuse } from '../../core/errors.ts';
import type { Json } from '../../core/tool-call.ts';
import { mayUse } from '../access.ts';
import type { GateDeps } from '../gate-deps.ts';
import type { CallContext, Check } from './check.ts';

/** What is wrong, as far as it helps the caller. */
const MAX_ISSUES = 10;

/** Check 1: the tool is registered and the input parses; unknown fields are refused by the tools' strict schemas. */
export function knownTool(registry: GateDeps['registry']): Check {
  return (call) => {
    const tool = registry.get(call.request.tool);
    if (!tool)
      return refuse(
        'UNKNOWN_TOOL',
        `There is no tool called "${call.request.tool.slice(0, 80)}".${instead(registry, call)}`,
      );
    const parsed = tool.input.safeParse(call.request.input);
    if (!parsed.success) {
      const lines = parsed.error.issues
        .slice(0, MAX_ISSUES)
        .map((issue) => `${issue.path.join('.') || 'input'}: ${issue.message}`.slice(0, 300));
      return refuse('BAD_INPUT', `${tool.name}: ${lines.join('; ')}`);
    }
    call.tool = tool;
    call.input = parsed.data as Json;
    return undefined;
  };
}

/** What the caller's role may use. */
function instead(registry: GateDeps['registry'], { credential: { role } }: CallContext): string {
  const names = (registry.list?.() ?? [])
    .filter(({ kind }) => role !== 'supervisor' && mayUse(role, kind))
    .map(({ name }) => name);
  return names.length === 0 ? '' : ` There are ${names.join(', ')}.`;
}
