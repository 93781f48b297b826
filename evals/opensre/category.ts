import type { Answer } from '../score/answer.ts';

/**
 * The oldest suites' kinds of causes, each by how the words in ours begin that mean it; a short word must end there, since a `portal` is
 * no port. The first that fits counts. Ours are free, such as `kubernetes_quota`; theirs must be exact.
 */
const CATEGORIES: readonly (readonly [category: string, ours: RegExp])[] = [
  [
    'configuration_error',
    /_(?:config|image|manifest|secret|setting|limit_too_low|cannot_start|health_check|probe|selector|(?:tag|env|port)s?(?:_|$))/,
  ],
  ['dependency_failure', /_(?:depend|upstream|third_party|dns(?:_|$))/],
  ['infrastructure', /_(?:infra|failover|hardware|network|evict|(?:node|zone)s?(?:_|$))/],
  [
    'resource_exhaustion',
    /_(?:resource|exhaust|memory|storage|space|quota|insufficient|surge|connection|saturat|block(?:ed|ing)|lock(?:ed|ing)|deadlock|bloat|vacuum|index|pressure|slow|(?:full|oom|cpu|disk|pool|lag|lock|wal)s?(?:_|$))/,
  ],
  ['code_defect', /_(?:defect|crash|exception|(?:code|bug)s?(?:_|$))/],
  ['data_quality', /_data(?:_|$)/],
];

/** The kinds of causes that no key has to name for an answer to mean them. */
export const SUITE_CATEGORIES: readonly string[] = CATEGORIES.map(([category]) => category);

/** Longer words are alike that begin alike, `exhausted` and `exhaustion`; shorter ones but for a plural. */
const STEM = 5;
const isAlike = (own: string, word: string): boolean =>
  word.length < STEM ? own === word || own === `${word}s` : own.startsWith(word.slice(0, STEM));

/** What says that there is no cause, or none is known: a verdict, which no words of a cause's kind may mean. */
const NO_CAUSE = ['healthy', 'unknown'];

/**
 * What an answer's kind of cause is called in a suite; ours as it is where nothing of theirs means it, which is then wrong there.
 *
 * @param known the categories that the suite's keys name
 */
export function suiteCategory(
  { verdict, category }: Pick<Answer, 'verdict' | 'category'>,
  known: ReadonlySet<string> = new Set(),
): string {
  if (verdict === 'healthy') return 'healthy';
  if (verdict === 'cannot_tell' || category === null || NO_CAUSE.includes(category)) return 'unknown';
  if (known.has(category) || SUITE_CATEGORIES.includes(category)) return category;
  const words = category.split('_');
  const isSaid = (name: string): boolean =>
    !NO_CAUSE.includes(name) && name.split('_').every((word) => words.some((own) => isAlike(own, word)));
  const [longest] = [...known].filter(isSaid).toSorted((a, b) => b.length - a.length);
  return longest ?? CATEGORIES.find(([, ours]) => ours.test(`_${category}`))?.[0] ?? category;
}
