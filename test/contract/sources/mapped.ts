import type { SourceFixtures } from './fixtures.ts';

/** Values by their path in a payload (`monitor.tags.0.value`). */
type Changes = Readonly<Record<string, unknown>>;

/** The fixtures of a source that a mapping declares, by what its deliveries have otherwise than the first. */
export function mappedFixtures(given: {
  readonly firing: object;
  readonly alert: SourceFixtures['alert'];
  /** Null: the source never tells of an end. */
  readonly resolved: Changes | null;
  readonly otherThing: Changes;
  /** Names of the fields in which no free text may stand: its words for a status, what each delivery is of. */
  readonly words: readonly string[];
  readonly bad?: SourceFixtures['bad'];
}): SourceFixtures {
  const { firing, alert, resolved, otherThing, words } = given;
  return {
    firing,
    alert,
    resolved: resolved && changed(firing, resolved),
    otherThing: changed(firing, otherThing),
    carrying: (text) => withTexts(firing, text, new Set(words)),
    bad: given.bad ?? [
      { payload: null, field: '', says: 'expected a JSON object' },
      { payload: 'down', field: '', says: 'expected a JSON object' },
    ],
  };
}

export function changed(payload: object, changes: Changes): object {
  const copy = structuredClone(payload);
  for (const [path, value] of Object.entries(changes)) {
    const steps = path.split('.');
    const last = steps.pop() as string;
    const parent = steps.reduce(
      (at, step) => at[step] as Record<string, unknown>,
      copy as Record<string, unknown>,
    );
    parent[last] = value;
  }
  return copy;
}

function withTexts(value: unknown, text: string, words: ReadonlySet<string>): unknown {
  if (typeof value === 'string') return text;
  if (Array.isArray(value)) return value.map((item) => withTexts(item, text, words));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, words.has(key) ? item : withTexts(item, text, words)]),
  );
}
