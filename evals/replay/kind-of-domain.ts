import type { Domain } from '../../src/core/incident.ts';
import type { TargetKind } from '../../src/targets/kind.ts';
import { kinds } from '../../src/targets/kinds.ts';

/** Recorded incidents tell the domain of their system and not its kind: the kind whose own domain it is, else one that is in every domain. */
export function kindOfDomain(domain: Domain | null | undefined): TargetKind {
  const offeredIn = (wanted: string | null | undefined): TargetKind | undefined =>
    kinds.find(({ tools }) => tools.some((tool) => tool.domain === wanted));
  const found = offeredIn(domain) ?? offeredIn('any');
  if (!found) throw new Error(`no kind for the domain ${domain}`);
  return found;
}
