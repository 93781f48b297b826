import type { Domain, DomainOfLabels } from '../core/incident.ts';
import type { TargetKind } from './kind.ts';

/** Every domain that systems of these kinds may be in, each once. */
export function domainsOf(kinds: readonly TargetKind[]): readonly Domain[] {
  return [...new Set(kinds.flatMap(({ domains }) => domains.map(({ name }) => name)))];
}

/** The rule of these kinds. */
export function domainOfLabels(kinds: readonly TargetKind[]): DomainOfLabels {
  const all = kinds.flatMap(({ domains }) => domains);
  const other = all.find(({ label }) => label === null);
  if (!other) throw new Error('no domain takes what no label tells');
  return (labels) => (all.find(({ label }) => label !== null && labels[label[0]] === label[1]) ?? other).name;
}
