import type { Target } from '../core/target.ts';
import type { ToolContext } from '../tools/define.ts';
import type { ToolPorts } from '../tools/ports.ts';

/** A target with what a tool reaches on it. */
export function reach(ports: ToolPorts, target: Target): Pick<ToolContext, 'target' | 'system' | 'docs'> {
  return { target, system: ports.system(target.name), docs: ports.docs };
}
