import { type Estimate, estimateTable } from '../score/estimate.ts';
import { dollars, seconds, table } from '../score/tables.ts';
import type { SuiteResult, SuiteRun } from './run-suite.ts';

const HEAD = [
  'scenario',
  'theirs',
  'ours',
  'published',
  'category',
  'ruled out',
  'trajectory',
  'queries',
  'cost',
  'time',
  'why',
];

/** One line a run, both scores beside each other, what they come to, and what was not converted below. */
export function suiteTable(run: SuiteRun & { readonly estimate: Estimate }): string {
  const { summary, estimate, incidents, refused, unread } = run;
  const isRepeated = incidents.some(({ repeat }) => repeat > 1);
  const rows = incidents.map((one) => [
    isRepeated ? `${one.id} (${one.repeat})` : one.id,
    one.theirs.score.toFixed(0),
    one.score.toFixed(2),
    one.published.score.toFixed(2),
    one.theirs.category,
    yes(one.theirs.ruledOut),
    yes(one.theirs.trajectory),
    yes(one.theirs.queries),
    dollars(one.costUsd),
    seconds(one.wallMs),
    whyOf(one),
  ]);
  const below = [
    `${summary.passed} of ${incidents.length} runs pass by their rules; ours: score ${summary.score.toFixed(3)}, ${summary.falseCauses} false causes; published: ${summary.published.toFixed(3)}; ${dollars(summary.costUsd)}, ${seconds(summary.wallMs)} in all.`,
    ...(refused.length === 0 ? [] : [`${refused.length} not converted:`]),
    ...refused.map(({ id, why }) => `  ${id}: ${why}`),
    ...(unread.length === 0
      ? []
      : [`${unread.length} files not read, since no scenario names them as evidence:`]),
    ...unread.map((file) => `  ${file}`),
  ];
  return `${table([HEAD, ...rows])}\n\n${estimateTable(estimate)}\n\n${below.join('\n')}\n`;
}

const whyOf = ({ failed, theirs, notes }: SuiteResult): string =>
  [failed, theirs.why, ...notes].filter(Boolean).join('; ');

const yes = (is: boolean | null): string => (is === null ? '-' : is ? 'yes' : 'no');
