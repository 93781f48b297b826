import { onSystem } from '../faults.ts';
import type { GateDeps } from '../gate-deps.ts';
import { reach } from '../reach.ts';
import type { Check } from './check.ts';

/** Check 6, its other half: the path, command, URL and diff rules of the tool itself. */
export function toolRules(deps: Pick<GateDeps, 'ports' | 'targets'>): Check {
  return ({ tool, target, input }) =>
    tool && target && 'rules' in tool ? onSystem(() => tool.rules?.(reach(deps, target), input)) : undefined;
}
