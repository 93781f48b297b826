import type { Flag } from '../grammar.ts';

/** Flags without values: one name each, e.g. `switches('-a', '-n')`. */
export function switches(...names: readonly string[]): readonly Flag[] {
  return names.map((name) => ({ names: [name] }));
}
