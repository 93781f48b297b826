import { bootstrapMean, chanceOf, type Interval, meanOf, wilson } from './intervals.ts';
import { dollars, seconds, table } from './tables.ts';

/** One investigation, as far as it is counted. */
export interface Measured {
  readonly id: string;
  readonly passed: boolean;
  readonly score: number;
  readonly costUsd: number;
  readonly wallMs: number;
}

const MEASURES = ['passed', 'score', 'costUsd', 'wallMs'] as const;
type Measure = (typeof MEASURES)[number];

/** What was measured, with 95 % intervals. All but the numbers of scenarios and runs are per scenario. */
export interface Estimate extends Readonly<Record<Measure, Interval>> {
  readonly scenarios: number;
  readonly runs: number;
}

/** What a second run has more than a first, by scenario; `differs`: whether the runs can tell it from chance. */
export interface Difference extends Interval {
  readonly differs: boolean;
}

export interface Comparison extends Readonly<Record<Measure, Difference>> {
  /** That both have run. */
  readonly scenarios: number;
}

/** Below this, intervals of means are too narrow to lean on. */
const FEW = 10;
/** Two-sided: differences that chance makes more often are none. */
const CHANCE = 0.05;

/** A scenario that is run again is no new one: each counts once, with the mean of its runs. */
export function estimateOf(runs: readonly Measured[]): Estimate {
  const each = [...byScenario(runs).values()];
  return {
    scenarios: each.length,
    runs: runs.length,
    passed: wilson(meanOf(each.map(({ passed }) => passed)), each.length),
    score: bootstrapMean(each.map(({ score }) => score)),
    costUsd: bootstrapMean(each.map(({ costUsd }) => costUsd)),
    wallMs: bootstrapMean(each.map(({ wallMs }) => wallMs)),
  };
}

/** Paired by scenario: what is difficult for one is so for the other. */
export function compareRuns(first: readonly Measured[], second: readonly Measured[]): Comparison {
  const [one, other] = [byScenario(first), byScenario(second)];
  const pairs = [...one].flatMap(([id, a]) => {
    const b = other.get(id);
    return b === undefined ? [] : [{ a, b }];
  });
  const difference = (measure: Measure): Difference => {
    const differences = pairs.map(({ a, b }) => b[measure] - a[measure]);
    const interval = bootstrapMean(differences);
    const isBesideNothing = interval.low > 0 || interval.high < 0;
    return { ...interval, differs: isBesideNothing && chanceOf(differences) <= CHANCE };
  };
  return {
    scenarios: pairs.length,
    passed: difference('passed'),
    score: difference('score'),
    costUsd: difference('costUsd'),
    wallMs: difference('wallMs'),
  };
}

function byScenario(runs: readonly Measured[]): ReadonlyMap<string, Readonly<Record<Measure, number>>> {
  const groups = new Map<string, Measured[]>();
  for (const run of runs) groups.set(run.id, [...(groups.get(run.id) ?? []), run]);
  const mean = (group: readonly Measured[], measure: Measure) =>
    meanOf(group.map((run) => Number(run[measure])));
  return new Map(
    [...groups].map(([id, group]) => [
      id,
      {
        passed: mean(group, 'passed'),
        score: mean(group, 'score'),
        costUsd: mean(group, 'costUsd'),
        wallMs: mean(group, 'wallMs'),
      },
    ]),
  );
}

const NAMES: Readonly<Record<Measure, readonly [name: string, show: (value: number) => string]>> = {
  passed: ['pass', (value) => `${Math.round(100 * value)} %`],
  score: ['score', (value) => value.toFixed(2)],
  costUsd: ['cost', dollars],
  wallMs: ['time', seconds],
};

/** One line a measure, and how many scenarios it stands on, for people. */
export function estimateTable(estimate: Estimate): string {
  const rows = MEASURES.map((measure) => {
    const [name, show] = NAMES[measure];
    const { value, low, high } = estimate[measure];
    return [
      name,
      show(value),
      `${show(low)} to ${show(high)}`,
      measure === 'passed' ? 'Wilson' : 'bootstrap',
    ];
  });
  const { scenarios, runs } = estimate;
  return [
    table([['a scenario', 'mean', '95 % interval', 'by'], ...rows]),
    `${scenarios} scenarios, ${runs} runs.${scenarios < FEW ? ' So few that the intervals are too narrow.' : ''}`,
  ].join('\n');
}

/** The same of a difference, and whether it is one. */
export function comparisonTable(comparison: Comparison, second: string): string {
  const rows = MEASURES.map((measure) => {
    const [name, show] = NAMES[measure];
    const signed = (value: number) => `${value < 0 ? '−' : '+'}${show(Math.abs(value))}`;
    const { value, low, high, differs } = comparison[measure];
    return [name, signed(value), `${signed(low)} to ${signed(high)}`, saysOf(value, differs)];
  });
  return [
    `${second} beside the first, paired by scenario (${comparison.scenarios}):`,
    table([['a scenario', 'difference', '95 % interval', ''], ...rows]),
  ].join('\n');
}

function saysOf(value: number, differs: boolean): string {
  if (!differs) return 'these runs cannot tell a difference';
  return value > 0 ? 'more' : 'less';
}
