/** What a target runs, by name: `os`, `postgresql`, `service orders`; each a version or a name as the system gives it. */
export type SystemFacts = Readonly<Record<string, string>>;

/** One line for people: `os Debian 12 · postgresql 17.2`. */
export function systemLine(facts: SystemFacts): string {
  return Object.entries(facts)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name} ${value}`)
    .join(' · ');
}

/**
 * How different two systems are, 0 to 1: the share of the facts both have that differ. A major version that differs
 * counts whole, a minor one a quarter. 0 when nothing can be compared: what is not known is not held against a memory.
 */
export function systemMismatch(now: SystemFacts | null, then: SystemFacts | null): number {
  if (now === null || then === null) return 0;
  const both = Object.keys(now).filter((name) => then[name] !== undefined);
  if (both.length === 0) return 0;
  const differing = both.map((name) => difference(now[name] ?? '', then[name] ?? ''));
  return differing.reduce((sum, one) => sum + one, 0) / both.length;
}

const MINOR = 0.25;

function difference(a: string, b: string): number {
  if (a === b) return 0;
  return majorOf(a) === majorOf(b) ? MINOR : 1;
}

/** What stands before the first dot of its version: `17` of `17.2`, `debian 12` of `Debian 12.5`. */
function majorOf(fact: string): string {
  return fact.toLowerCase().replace(/(\d+)[.\d].*$/s, '$1');
}

/** From a row; anything that is no text is left out. */
export function readFacts(value: unknown): SystemFacts | null {
  if (typeof value !== 'object' || value === null) return null;
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
