import { type Alert, severityLabels } from '../core/alert.ts';
import { clip } from '../core/clip.ts';
import { isIdentifying } from '../sources/fingerprint.ts';
import { isSeverityWord, namingWords, splitHeadline, wordsIn } from '../sources/headline-words.ts';

const NAME = 300;

/** Words inside a value, where values are set apart by spaces. */
const INNER_SPACE = '\u00a0';

/** What one alert tells of its problem, as another source's alert is compared with it. `sentry_accept_alert` gets the same. */
export interface Told {
  /** The alert rule's name where it is known rather than guessed. */
  readonly name: string | null;
  /** The rule's name, the labels that say which thing is ill, and the sender's own id; lower-case. */
  readonly labels: Readonly<Record<string, string>>;
  /** The values that say which thing is ill: lower-case, sorted, without repetition; each is one word. */
  readonly identity: readonly string[];
  /** All labels that there are: an alert with more of them is another one. */
  readonly whole: boolean;
  readonly head: Head | null;
  /** The values of all labels in the order of Alertmanager's templates; null where the labels do not hold the name. */
  readonly values: readonly Value[] | null;
  /** The telling words of all values: a headline of which they do not hold all is another alert's. */
  readonly words: readonly string[] | null;
}

/** A headline whose label values have no names. Its words end with a space each. */
export interface Head {
  readonly alerts: number;
  readonly certain: boolean;
  readonly splits: ReadonlyArray<{ readonly group: string; readonly others: string }>;
  /** The words without those of a sentence. */
  readonly telling: string;
  /** The same without severities, each once. */
  readonly words: readonly string[];
}

/** The value of one label: its words, those among them that tell, and whether it says how bad it is. */
export interface Value {
  readonly words: string;
  readonly telling: string;
  readonly severity: boolean;
}

export function toldBy(
  alert: Pick<Alert, 'name' | 'labels' | 'headline' | 'apart' | 'fingerprint' | 'idOf'>,
  partialLabels: boolean,
): Told {
  const { headline, labels } = alert;
  const named = labels['alertname'];
  const values = named && wordsIn(named).length > 0 ? valuesOf(labels) : null;
  const telling = namingWords(headline?.text ?? '');
  return {
    // A column of it is indexed, and no index takes a name of any length.
    name: clip((headline ? named : alert.name)?.toLowerCase() ?? '', NAME) || null,
    labels: {
      ...Object.fromEntries(
        Object.entries(labels)
          .filter(([label]) => isIdentifying(label))
          .map(([label, value]) => [label, plain(value)]),
      ),
      // No label is called like this. Where both tell it, nothing else joins them.
      ...(alert.idOf === undefined ? {} : { [`id of ${alert.idOf}`]: alert.fingerprint }),
    },
    identity: identityOf(alert),
    whole: headline ? headline.whole : !partialLabels,
    head: headline
      ? {
          alerts: headline.alerts,
          certain: headline.certain,
          splits: splitHeadline(headline.text).map(([group, others]) => ({
            group: spaced(wordsIn(group)),
            others: spaced(wordsIn(others)),
          })),
          telling: spaced(telling),
          words: [...new Set(telling.filter((word) => !isSeverityWord(word)))],
        }
      : null,
    values,
    words: values && [...new Set(values.flatMap((value) => value.telling.split(' ')))],
  };
}

/**
 * The values that say which thing is ill: lower-case, sorted, without repetition. Values, not labels, because two sources
 * call the same thing by different names; whole values, because “idle” is not “idle in transaction”.
 */
export function identityOf(alert: Pick<Alert, 'labels' | 'apart'>): readonly string[] {
  const values = Object.entries(alert.labels)
    .filter(([label]) => label !== 'alertname' && isIdentifying(label))
    .map(([, value]) => value);
  const words = [...values, ...(alert.apart ?? [])]
    .map((value) => value.toLowerCase().trim().replace(/\s+/g, INNER_SPACE))
    .filter((value) => value !== '');
  return [...new Set(words)].sort();
}

/** Whether two alerts of one name are about the same thing as far as both tell: one's values are among the other's. */
export function sameThing(a: readonly string[], b: readonly string[]): boolean {
  const [small, large] = a.length <= b.length ? [a, b] : [b, a];
  return small.every((word) => large.includes(word));
}

/**
 * How surely two alerts of different sources are one problem: 2 the headline is exactly the other's labels; 1 they tell
 * the same as far as both tell; -1 only if the headline is that of a group, so if it fits several; 0 they are not. A rule's
 * name alone joins nothing that tells another resource. `sentry_same_problem` applies this rule in the database.
 */
export function sameProblem(a: Told, b: Told): 2 | 1 | 0 | -1 {
  if (contradicts(a.labels, b.labels)) return 0;
  const byHeadline = Math.max(headlineSays(a.head, b.values), headlineSays(b.head, a.values));
  const byName =
    a.name !== null &&
    a.name === b.name &&
    sameThing(a.identity, b.identity) &&
    (!a.whole || !b.whole || a.identity.length === b.identity.length);
  const ofOneGroup =
    a.head !== null &&
    b.head !== null &&
    Math.max(a.head.alerts, b.head.alerts) > 1 &&
    sameThing(a.head.words, b.head.words);
  if (byHeadline === 2) return 2;
  if (byHeadline === 1 || byName || ofOneGroup) return 1;
  return byHeadline === -1 ? -1 : 0;
}

function headlineSays(head: Head | null, values: readonly Value[] | null): 2 | 1 | 0 | -1 | -2 {
  if (head === null || values === null) return -2;
  if (isHeadlineOf(head, values)) return 2;
  if (!isAmong(head, values)) return -2;
  return head.certain && head.alerts <= 1 ? -1 : 1;
}

/** The headline is made of all these values: each in one of its two parts, in their order. */
export function isHeadlineOf(head: Head, values: readonly Value[]): boolean {
  return head.splits.some(({ group, others }) => {
    let ways: ReadonlyArray<readonly [number, number]> = [[0, 0]];
    for (const value of values) {
      ways = ways.flatMap(
        ([g, o]): ReadonlyArray<readonly [number, number]> => [
          ...endsOf(group, g, value).map((end) => [end, o] as const),
          ...endsOf(others, o, value).map((end) => [g, end] as const),
        ],
      );
      const seen = new Map(ways.map((way) => [way.join(), way]));
      ways = [...seen.values()];
    }
    return ways.some(([g, o]) => g === group.length && o === others.length);
  });
}

/** Where a value ends that begins at this place of a text; nowhere, where it does not begin there. */
function endsOf(text: string, at: number, value: Value): readonly number[] {
  if (value.words !== '' && text.startsWith(value.words, at)) return [at + value.words.length];
  const next = text.slice(at, text.indexOf(' ', at) + 1);
  return value.severity && isSeverityWord(next.trimEnd()) ? [at + next.length] : [];
}

/** Every word of the headline is of one of these values, and the name is among them. */
export function isAmong({ telling }: Head, values: readonly Value[]): boolean {
  const seen = new Set<string>();
  const open: Array<readonly [number, boolean]> = [[0, false]];
  for (let way = open.pop(); way !== undefined; way = open.pop()) {
    const [at, named] = way;
    if (at === telling.length && named) return true;
    if (seen.has(way.join())) continue;
    seen.add(way.join());
    for (const [n, value] of values.entries())
      if (value.telling !== '' && telling.startsWith(value.telling, at))
        open.push([at + value.telling.length, named || n === 0]);
    const next = telling.slice(at, telling.indexOf(' ', at) + 1);
    if (next !== '' && isSeverityWord(next.trimEnd())) open.push([at + next.length, named]);
  }
  return false;
}

/**
 * The words of which two alerts that could be one share at least one: taken by lock, so that a message and a webhook that
 * come at one moment see each other. A message may begin with the name anywhere, so all of its words are taken.
 */
export function lockWordsOf({ name, head, values }: Told): readonly string[] {
  const first = (text: string | undefined): string => text?.slice(0, text.indexOf(' ')) ?? '';
  const all = head ? [head.telling, ...head.splits.flatMap(({ group, others }) => [group, others])] : [];
  const words = [
    ...all.flatMap((text) => text.split(' ')),
    ...(values?.[0] ? [first(values[0].words), first(values[0].telling)] : []),
    ...(name === null ? [] : [first(spaced(wordsIn(name))), first(spaced(namingWords(name)))]),
  ];
  return [...new Set(words)].filter((word) => word !== '').sort();
}

/** Both tell one label, and tell it differently. */
function contradicts(a: Told['labels'], b: Told['labels']): boolean {
  return Object.entries(a).some(([label, value]) => {
    const other = b[label];
    return other !== undefined && other !== value;
  });
}

const plain = (value: string): string => value.toLowerCase().trim().replace(/\s+/g, ' ');

const spaced = (words: readonly string[]): string => words.map((word) => `${word} `).join('');

/** As Alertmanager sorts them: the name first, then by label. */
function valuesOf(labels: Readonly<Record<string, string>>): readonly Value[] {
  return Object.entries(labels)
    .toSorted(
      ([a], [b]) => Number(b === 'alertname') - Number(a === 'alertname') || (a < b ? -1 : a > b ? 1 : 0),
    )
    .map(([label, value]) => ({
      words: spaced(wordsIn(value)),
      telling: spaced(namingWords(value)),
      severity: severityLabels.includes(label),
    }))
    .filter(({ words }) => words !== '');
}
