import { OpsError } from '../core/errors.ts';
import type { Target } from '../core/target.ts';
import type { ToolContext } from '../tools/define.ts';
import type { GateDeps } from './gate-deps.ts';

type ReachDeps = Pick<GateDeps, 'ports' | 'targets'>;

/** A target with what a tool reaches on it. Throws as `mustBeCurrent`. */
export function reach(deps: ReachDeps, target: Target): Pick<ToolContext, 'target' | 'system' | 'docs'> {
  mustBeCurrent(deps, target);
  return { target, system: deps.ports.system(target.name), docs: deps.ports.docs };
}

/**
 * Throws OpsError TARGET_CHANGED when the configuration has been changed since the checks found the target: its name may
 * stand for another system now, of which nothing of what was checked and read is true.
 */
export function mustBeCurrent({ targets }: Pick<GateDeps, 'targets'>, target: Target): void {
  if (targets.get(target.name) === target) return;
  throw new OpsError('TARGET_CHANGED', `The configuration of ${target.name} was changed meanwhile.`, {
    hint: 'Ask again: it is looked at as it is configured now.',
    retryable: true,
  });
}
