import {
  type Comparison,
  compareRuns,
  comparisonTable,
  type Estimate,
  estimateOf,
  type Measured,
} from './estimate.ts';

/** A run with its intervals, and with the run it is compared with where there is one. */
export type MeasuredRun<Run> = Run & {
  readonly estimate: Estimate;
  readonly compared?: Run & {
    /** What it was run with: `model=…`. */
    readonly with: string;
    readonly estimate: Estimate;
    /** What it has more than the first. */
    readonly difference: Comparison;
  };
};

/** Runs the first, and then the second where there is one, and says how sure the numbers are. */
export async function measureRuns<Result, Run extends { readonly incidents: readonly Result[] }>(
  measure: (result: Result) => Measured,
  first: () => Promise<Run>,
  second?: { readonly name: string; readonly run: () => Promise<Run> },
): Promise<MeasuredRun<Run>> {
  const run = await first();
  const one = run.incidents.map(measure);
  if (second === undefined) return { ...run, estimate: estimateOf(one) };
  const beside = await second.run();
  const other = beside.incidents.map(measure);
  const compared = {
    ...beside,
    with: second.name,
    estimate: estimateOf(other),
    difference: compareRuns(one, other),
  };
  return { ...run, estimate: estimateOf(one), compared };
}

/** Both tables and the difference below them, for people. */
export function measuredTables<Run>(
  run: MeasuredRun<Run>,
  tableOf: (run: Run & { readonly estimate: Estimate }) => string,
): string {
  const { compared } = run;
  if (compared === undefined) return tableOf(run);
  return [
    tableOf(run),
    `With ${compared.with}:\n`,
    tableOf(compared),
    `${comparisonTable(compared.difference, compared.with)}\n`,
  ].join('\n');
}
