import { Command, InvalidArgumentError, Option } from 'commander';
import { loadConfig } from '../../src/config/config.ts';
import { OpsError } from '../../src/core/errors.ts';
import { createLog } from '../../src/infra/log/log.ts';
import { allTools } from '../../src/targets/all-tools.ts';
import { readSuite } from '../opensre/read-suite.ts';
import { runSuite, type SuiteRun, suiteMeasure } from '../opensre/run-suite.ts';
import { suiteTable } from '../opensre/suite-table.ts';
import { openRecoveryStage } from '../recovery/recovery-stage.ts';
import { type RecoveryRun, runRecovery } from '../recovery/run-recovery.ts';
import { type Estimate, estimateTable } from '../score/estimate.ts';
import { type MeasuredRun, measuredTables, measureRuns } from '../score/measured-run.ts';
import { type EvalOptions, type EvalResult, type EvalRun, runEvals } from '../score/run-evals.ts';
import { recoveryTable, runTable } from '../score/tables.ts';
import { checkPrompts, loadCases, loadInvestigator, loadPlanners, loadScenarios } from './evals-inputs.ts';

/** What is run beside the first. */
interface Second {
  readonly name: string;
  readonly model?: string;
  readonly prompt?: string;
}

interface RunOptions {
  readonly investigator: 'playbook' | 'claude';
  readonly model?: string;
  readonly prompt?: string;
  readonly scenarios?: string;
  readonly cases?: string;
  readonly suite?: 'opensre';
  readonly from?: string;
  readonly repeat: number;
  readonly compare?: Second;
  readonly sceptic: boolean;
  readonly json: boolean;
}

export const evalsRunCommand = new Command('run')
  .description(
    'Investigate recorded incidents with nothing but their recorded outputs, mend recorded systems, and score what is said.',
  )
  .addOption(
    new Option('--investigator <name>', 'who investigates; claude calls the configured model and costs money')
      .choices(['playbook', 'claude'])
      .default('playbook'),
  )
  .option('--model <id>', 'another model than the configured one')
  .option('--prompt <folder>', 'a folder with other prompts than the shipped ones')
  .option('--scenarios <file>', 'only these incidents: JSON lines')
  .option('--cases <folder>', 'only these recovery cases: YAML files')
  .addOption(
    new Option('--suite <name>', 'only a suite of others that you have, by its rules and ours').choices([
      'opensre',
    ]),
  )
  .option('--from <folder>', "where that suite's scenarios lie, such as tests/synthetic/eks")
  .option(
    '--repeat <n>',
    'investigate each incident n times; recovery cases only when you name them',
    timesOf,
    1,
  )
  .option(
    '--compare <what>',
    'run all again with model=<id> or prompt=<folder>, and say whether that differs',
    secondOf,
  )
  .option(
    '--sceptic',
    'with the second look at each diagnosis of claude, and how many right ones it downgraded',
    false,
  )
  .option('--json', 'one JSON document {summary, estimate, incidents, recovery}', false)
  .action(async (options: RunOptions) => {
    checkOptions(options);
    const stop = new AbortController();
    process.once('SIGINT', () => stop.abort(new Error('Interrupted.')));
    const { from, scenarios, cases, json } = options;
    if (from !== undefined) {
      const run = await suiteRuns(from, options, stop.signal);
      process.stdout.write(json ? `${JSON.stringify(run, null, 2)}\n` : measuredTables(run, suiteTable));
      return;
    }
    const isMany = options.repeat > 1 || options.compare !== undefined;
    const diagnosed =
      cases !== undefined && scenarios === undefined ? null : await diagnoses(options, stop.signal);
    const recovery =
      (scenarios !== undefined || isMany) && cases === undefined
        ? null
        : await recoveries(options, stop.signal);
    const diagnosedTable = (run: EvalRun & { readonly estimate: Estimate }): string =>
      isMany ? `${runTable(run)}\n${estimateTable(run.estimate)}\n` : runTable(run);
    const tables = [
      diagnosed && measuredTables(diagnosed, diagnosedTable),
      recovery && recoveryTable(recovery),
    ];
    process.stdout.write(
      json
        ? `${JSON.stringify({ ...diagnosed, recovery }, null, 2)}\n`
        : tables.filter((text) => text !== null).join('\n'),
    );
    // Nothing may be called fixed that is not, whoever planned.
    if (recovery !== null && recovery.summary.falseFixed > 0) process.exitCode = 1;
  });

function checkOptions(options: RunOptions): void {
  const { suite, from, scenarios, cases, compare, investigator } = options;
  const isSuite = suite !== undefined || from !== undefined;
  if (
    isSuite &&
    (suite === undefined || from === undefined || scenarios !== undefined || cases !== undefined)
  )
    throw new OpsError('USAGE', 'A suite is run by itself, from its folder.', {
      hint: 'sentry evals run --suite opensre --from tests/synthetic/eks',
    });
  if (compare !== undefined && investigator !== 'claude')
    throw new OpsError('USAGE', 'The playbook has no model and no prompts to compare.', {
      hint: 'Add --investigator claude.',
    });
  // Before the first run has cost anything.
  for (const folder of [options.prompt, compare?.prompt]) if (folder !== undefined) checkPrompts(folder);
}

function timesOf(text: string): number {
  const times = Number(text);
  if (!Number.isInteger(times) || times < 1 || times > 100)
    throw new InvalidArgumentError('Give a whole number from 1 to 100.');
  return times;
}

function secondOf(text: string): Second {
  const [, what, value] = /^(model|prompt)=(.+)$/.exec(text) ?? [];
  if (what === undefined || value === undefined)
    throw new InvalidArgumentError('Give model=<id> or prompt=<folder>.');
  return { name: text, [what]: value };
}

/** The run that was asked for, and the one it is compared with. */
const variants = <Run>(options: RunOptions, run: (options: RunOptions) => Promise<Run>) =>
  [
    () => run(options),
    options.compare && {
      name: options.compare.name,
      run: () => run({ ...options, ...options.compare }),
    },
  ] as const;

async function suiteRuns(
  from: string,
  options: RunOptions,
  signal: AbortSignal,
): Promise<MeasuredRun<SuiteRun>> {
  const suite = await readSuite(from);
  return measureRuns(
    suiteMeasure,
    ...variants(options, async (each) => runSuite(suite, await evalOptions(each, signal))),
  );
}

async function diagnoses(options: RunOptions, signal: AbortSignal): Promise<MeasuredRun<EvalRun>> {
  const scenarios = await loadScenarios(options.scenarios);
  return measureRuns(
    (one: EvalResult) => ({ ...one, passed: one.outcome === 'correct' }),
    ...variants(options, async (each) => runEvals({ scenarios, ...(await evalOptions(each, signal)) })),
  );
}

async function evalOptions(
  options: RunOptions,
  signal: AbortSignal,
): Promise<Omit<EvalOptions, 'scenarios'>> {
  const { investigator, repeat } = options;
  return {
    make: await loadInvestigator(investigator, loadConfig(), wanted(options)),
    tools: allTools,
    mapped: investigator === 'playbook',
    repeat,
    signal,
  };
}

async function recoveries(options: RunOptions, signal: AbortSignal): Promise<RecoveryRun> {
  const cases = await loadCases(options.cases);
  const planners = await loadPlanners(options.investigator, loadConfig(), wanted(options));
  const stage = await openRecoveryStage(await loadScenarios(undefined), createLog('error'));
  try {
    return await runRecovery(stage, cases, planners, signal);
  } finally {
    await stage.close();
  }
}

const wanted = ({ model, prompt, sceptic }: RunOptions) => ({
  sceptic,
  ...(model === undefined ? {} : { model }),
  ...(prompt === undefined ? {} : { prompts: prompt }),
});
