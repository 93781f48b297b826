import { refuse } from '../../core/errors.ts';
import type { Target } from '../../core/target.ts';
import { hasNoTarget } from '../../tools/define.ts';
import type { Check } from './check.ts';

/**
 * Check 5: the named target is configured, the credential covers it, and the tool is for its kind. A tool that has no
 * target gets none, whatever the call names.
 */
export function targetInScope(targets: ReadonlyMap<string, Target>): Check {
  return (call) => {
    if (call.tool && hasNoTarget(call.tool)) return undefined;
    const name = call.request.target;
    const instead = allowed(call.credential.targets);
    if (!name) return refuse('NO_TARGET', `Name the target. ${instead}`);
    const target = targets.get(name);
    if (!target && call.credential.targets.includes(name))
      return refuse(
        'UNKNOWN_TARGET',
        `${name} is not configured any more; an operator can add it to sentry.yaml.`,
      );
    if (!target)
      return refuse('UNKNOWN_TARGET', `"${name.slice(0, 80)}" is not a configured target. ${instead}`);
    if (!call.credential.targets.includes(name))
      return refuse('TARGET_OUT_OF_SCOPE', `"${name}" is not part of this incident. ${instead}`);
    const domain = call.tool?.domain;
    if (domain && domain !== 'any' && domain !== target.domain)
      return refuse(
        'WRONG_DOMAIN',
        `${call.tool?.name ?? 'The tool'} is for ${domain}, and "${name}" is ${target.domain}.`,
      );
    const kinds = call.tool?.targetKinds;
    if (kinds && !kinds.includes(target.kind))
      return refuse(
        'WRONG_TARGET',
        `${call.tool?.name ?? 'The tool'} is for targets of kind ${kinds.join(' or ')}, and "${name}" is ${target.kind}.`,
      );
    call.target = target;
    return undefined;
  };
}

/** Whoever is refused is told what he may name; of what is configured beside it he learns nothing. */
function allowed(targets: readonly string[]): string {
  if (targets.length === 0) return 'This incident has no configured target, so there is no system to read.';
  return targets.length === 1
    ? `This incident's target is ${targets[0]}.`
    : `This incident's targets are ${targets.join(', ')}.`;
}
