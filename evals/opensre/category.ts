import type { Answer } from '../score/answer.ts';

/**
 * The oldest suites' kinds of causes, each by how the words in ours begin that mean it; the first that fits counts. Ours are free,
 * such as `kubernetes_quota`; theirs must be exact.
 */
const CATEGORIES: readonly (readonly [category: string, ours: RegExp])[] = [
  [
    'configuration_error',
    /_(?:config|image|tag|manifest|env|secret|setting|limit_too_low|cannot_start|health_check|probe|selector|port)/,
  ],
  ['dependency_failure', /_(?:depend|upstream|third_party|dns)/],
  ['infrastructure', /_(?:infra|failover|node|hardware|zone|network|evict)/],
  [
    'resource_exhaustion',
    /_(?:resource|exhaust|full|memory|oom|cpu|disk|storage|space|quota|insufficient|surge|pool|connection|lag|saturat|blocked|lock|deadlock|bloat|vacuum|slow|index|wal|pressure)/,
  ],
  ['code_defect', /_(?:code|bug|defect|crash|exception)/],
  ['data_quality', /_data(?:_|$)/],
];

/** The kinds of causes that no key has to name for an answer to mean them. */
export const SUITE_CATEGORIES: readonly string[] = CATEGORIES.map(([category]) => category);

/** Words are alike that begin alike: `exhausted` and `exhaustion`. */
const STEM = 5;

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
  if (verdict === 'cannot_tell' || category === null) return 'unknown';
  if (known.has(category) || SUITE_CATEGORIES.includes(category)) return category;
  const words = category.split('_');
  const isSaid = (name: string): boolean =>
    name.split('_').every((word) => words.some((own) => own.startsWith(word.slice(0, STEM))));
  const [longest] = [...known].filter(isSaid).toSorted((a, b) => b.length - a.length);
  return longest ?? CATEGORIES.find(([, ours]) => ours.test(`_${category}`))?.[0] ?? category;
}
