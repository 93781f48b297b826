import { refuse } from '../../core/errors.ts';
import type { Target } from '../../core/target.ts';
import { hasNoTarget } from '../../tools/define.ts';
import type { Check } from './check.ts';

/** Whether a target is the incident's own, or one that its own declare as a neighbour; null: neither. */
export function reachOf(
  targets: ReadonlyMap<string, Target>,
  own: readonly string[],
  name: string,
): 'own' | 'neighbour' | null {
  if (own.includes(name)) return 'own';
  return neighboursOf(targets, own).includes(name) ? 'neighbour' : null;
}

/** One step and no further: what a neighbour declares is for its own incidents. */
function neighboursOf(targets: ReadonlyMap<string, Target>, own: readonly string[]): readonly string[] {
  return own.flatMap((name) => targets.get(name)?.neighbours ?? []);
}

/**
 * Check 5: the named target is configured, the credential covers it or a target of the credential has it as a neighbour, which
 * is then only read, and the tool is for its kind. A tool that has no target gets none, whatever the call names.
 */
export function targetInScope(targets: ReadonlyMap<string, Target>): Check {
  return (call) => {
    if (call.tool && hasNoTarget(call.tool)) return undefined;
    const name = call.request.target;
    const own = call.credential.targets;
    const instead = allowed(own, neighboursOf(targets, own));
    if (!name) return refuse('NO_TARGET', `Name the target. ${instead}`);
    const target = targets.get(name);
    if (!target && call.credential.targets.includes(name))
      return refuse(
        'UNKNOWN_TARGET',
        `${name} is not configured any more; an operator can add it to sentry.yaml.`,
      );
    if (!target)
      return refuse('UNKNOWN_TARGET', `"${name.slice(0, 80)}" is not a configured target. ${instead}`);
    const reach = reachOf(targets, own, name);
    if (reach === null)
      return refuse('TARGET_OUT_OF_SCOPE', `"${name}" is not part of this incident. ${instead}`);
    if (reach === 'neighbour' && call.tool?.kind !== 'read')
      return refuse('NEIGHBOUR_READ_ONLY', `"${name}" is only a neighbour, to be read. ${instead}`);
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
    const why = target.refuses?.[call.tool?.name ?? ''];
    if (why !== undefined) return refuse('WRONG_TARGET', `${call.tool?.name} is not for ${name}. ${why}`);
    call.target = target;
    return undefined;
  };
}

/** Whoever is refused is told what he may name; of what is configured beside it he learns nothing. */
function allowed(targets: readonly string[], neighbours: readonly string[]): string {
  if (targets.length === 0) return 'This incident has no configured target, so there is no system to read.';
  const beside = neighbours.length === 0 ? '' : ` Its neighbours may be read: ${neighbours.join(', ')}.`;
  return targets.length === 1
    ? `This incident's target is ${targets[0]}.${beside}`
    : `This incident's targets are ${targets.join(', ')}.${beside}`;
}
