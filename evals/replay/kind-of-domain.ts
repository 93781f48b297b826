import type { Domain } from '../../src/core/incident.ts';
import type { TargetKind } from '../../src/targets/kind.ts';
import { kinds } from '../../src/targets/kinds.ts';

/** Recorded incidents tell the domain of their system and not its kind: those of no database are of a host. */
export function kindOfDomain(domain: Domain | null | undefined): TargetKind {
  const name = domain === 'postgres' ? 'postgres' : 'host';
  const found = kinds.find((kind) => kind.name === name);
  if (!found) throw new Error(`no kind ${name}`);
  return found;
}
