import type { Domain } from '../../src/core/incident.ts';
import type { TargetKind } from '../../src/targets/kind.ts';
import { kinds } from '../../src/targets/kinds.ts';

/**
 * Recorded incidents tell the domain of their system and not its kind. Kinds may share a domain, or their tools: the one that most of
 * the recorded tools are of, and of several the first that brings the domain.
 */
export function kindOfDomain(
  domain: Domain | null | undefined,
  recorded: readonly string[] = [],
): TargetKind {
  const own = ({ tools }: TargetKind) => tools.filter(({ name }) => recorded.includes(name)).length;
  const brings = ({ domains }: TargetKind) => Number(domains.some(({ name }) => name === domain));
  const [best] = kinds.toSorted((a, b) => own(b) - own(a) || brings(b) - brings(a));
  const found = best && own(best) + brings(best) > 0 ? best : undefined;
  if (!found) throw new Error(`no kind for the domain ${domain}`);
  return found;
}
