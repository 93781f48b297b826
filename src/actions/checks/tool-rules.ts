import type { ToolPorts } from '../../tools/ports.ts';
import type { Station } from './station.ts';

/** Station 6, its other half: the path, command, URL and diff rules of the tool itself. */
export function toolRules(ports: ToolPorts): Station {
  return ({ tool, target, input }) =>
    tool && target && 'rules' in tool ? tool.rules?.({ target, ports }, input) : undefined;
}
