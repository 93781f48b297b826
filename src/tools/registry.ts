import { OpsError } from '../core/errors.ts';
import type { AnyTool, Tool } from './define.ts';

/** Every tool there is, by name. Who may use which is the gate's business. */
export interface ToolRegistry<T extends AnyTool = Tool> {
  get(name: string): T | undefined;
  /** In the order they were registered, which a model's cached tool list depends on. */
  list(): readonly T[];
}

/** Throws OpsError TOOL_DUPLICATE or TOOL_NAME: both are mistakes of whoever registers. */
export function createRegistry<T extends AnyTool>(tools: readonly T[]): ToolRegistry<T> {
  const byName = new Map<string, T>();
  for (const tool of tools) {
    if (!/^[a-z][a-z0-9_]{2,63}$/.test(tool.name))
      throw new OpsError('TOOL_NAME', `"${tool.name}" cannot be a tool's name`, {
        hint: 'Use 3 to 64 lower-case letters, digits and underscores, beginning with a letter.',
      });
    if (byName.has(tool.name))
      throw new OpsError('TOOL_DUPLICATE', `two tools are called "${tool.name}"`, {
        hint: 'Rename one of them; a tool is named after its family and what it answers.',
      });
    byName.set(tool.name, tool);
  }
  const all = Object.freeze([...byName.values()]);
  return { get: (name) => byName.get(name), list: () => all };
}
