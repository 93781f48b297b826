import type { Target } from '../../core/target.ts';
import type { TargetKind } from '../../targets/kind.ts';
import type { Neighbour, Topology } from './correlate.ts';

/** The configured systems. A kind that no incident is of (of no domain) only tells of others. */
export function systemsOf(
  kinds: readonly Pick<TargetKind, 'name' | 'domains'>[],
  targets: Iterable<Pick<Target, 'name' | 'kind' | 'environment' | 'aliases' | 'neighbours' | 'changesFrom'>>,
): readonly Neighbour[] {
  const observing = new Set(kinds.filter(({ domains }) => domains.length === 0).map(({ name }) => name));
  return [...targets].map((target) => ({ ...target, observes: observing.has(target.kind) }));
}

/** By name and alias. A name that several have is none's: which of them an alert means is not known. */
export function topologyOf(systems: Iterable<Neighbour>): Topology {
  const all = [...systems];
  const byName = new Map<string, Neighbour | undefined>();
  const add = (name: string, system: Neighbour): void => {
    byName.set(name, byName.has(name) && byName.get(name) !== system ? undefined : system);
  };
  for (const system of all) add(system.name, system);
  for (const system of all)
    for (const alias of system.aliases.map((each) => each.toLowerCase()))
      if (!all.some(({ name }) => name === alias)) add(alias, system);
  return (name) => byName.get(name);
}

/** What it stands on, and what stands on it; one step. */
export function relatedTo(name: string, systems: Iterable<Neighbour>): readonly string[] {
  return [...systems].flatMap((system) => {
    if (system.name === name) return system.neighbours ?? [];
    return system.neighbours?.includes(name) ? [system.name] : [];
  });
}
