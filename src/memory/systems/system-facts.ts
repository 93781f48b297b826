/** What a target runs, by name: `os`, `postgresql`, `service orders`; each a version or a name as the system gives it. */
export type SystemFacts = Readonly<Record<string, string>>;

/** One line for people: `os Debian 12 · postgresql 17.2`. `brief`: without its extensions. */
export function systemLine(facts: SystemFacts, brief = false): string {
  return Object.entries(facts)
    .filter(([name]) => !(brief && isExtension(name)))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name} ${value}`)
    .join(' · ');
}

/**
 * How different two systems are, 0 to 1: the share of the facts both have that differ. A major version that differs
 * counts whole, a minor one a quarter; all extensions together count as one fact. 0 when nothing can be compared: what is not known is not held against a memory.
 */
export function systemMismatch(now: SystemFacts | null, then: SystemFacts | null): number {
  if (now === null || then === null) return 0;
  const both = Object.keys(now).filter((name) => then[name] !== undefined);
  if (both.length === 0) return 0;
  const differing = (names: readonly string[]): number =>
    names.reduce((sum, name) => sum + difference(now[name] ?? '', then[name] ?? ''), 0);
  const extensions = both.filter(isExtension);
  const others = both.filter((name) => !isExtension(name));
  const facts = others.length + Math.min(1, extensions.length);
  return (differing(others) + differing(extensions) / Math.max(1, extensions.length)) / facts;
}

/** A server may have dozens: they must not drown its own version. */
function isExtension(name: string): boolean {
  return name.startsWith('extension ');
}

const MINOR = 0.25;

function difference(a: string, b: string): number {
  if (a === b) return 0;
  return majorOf(a) === majorOf(b) ? MINOR : 1;
}

/** To the end of its first number: `17` of `17.2`, `debian 12` of `Debian 12.5`. */
function majorOf(fact: string): string {
  return /^\D*\d*/.exec(fact.toLowerCase())?.[0] ?? '';
}

/** Whether two are known to be the same, or equally unknown. */
export function sameSystem(a: SystemFacts | null, b: SystemFacts | null): boolean {
  return a === null || b === null ? a === b : systemLine(a) === systemLine(b);
}

/** The facts that all of them have in common; null when there are none. */
export function sharedFacts(systems: readonly SystemFacts[]): SystemFacts | null {
  const [first, ...others] = systems;
  const shared = Object.entries(first ?? {}).filter(([name, value]) =>
    others.every((one) => one[name] === value),
  );
  return shared.length === 0 ? null : Object.fromEntries(shared);
}

/** From a row; anything that is no text is left out. */
export function readFacts(value: unknown): SystemFacts | null {
  if (typeof value !== 'object' || value === null) return null;
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
