import { Command, Option } from 'commander';
import { loadConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/infra/log/log.ts';
import { allTools } from '../../src/targets/all-tools.ts';
import { openRecoveryStage } from '../recovery/recovery-stage.ts';
import { type RecoveryRun, runRecovery } from '../recovery/run-recovery.ts';
import { type EvalRun, runEvals } from '../score/run-evals.ts';
import { recoveryTable, runTable } from '../score/tables.ts';
import { loadCases, loadInvestigator, loadPlanners, loadScenarios } from './evals-inputs.ts';

interface RunOptions {
  readonly investigator: 'playbook' | 'claude';
  readonly model?: string;
  readonly prompt?: string;
  readonly scenarios?: string;
  readonly cases?: string;
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
  .option(
    '--sceptic',
    'with the second look at each diagnosis of claude, and how many right ones it downgraded',
    false,
  )
  .option('--json', 'one JSON document {summary, incidents, recovery}', false)
  .action(async (options: RunOptions) => {
    const stop = new AbortController();
    process.once('SIGINT', () => stop.abort(new Error('Interrupted.')));
    const { scenarios, cases, json } = options;
    const diagnosed =
      cases !== undefined && scenarios === undefined ? null : await diagnoses(options, stop.signal);
    const recovery =
      scenarios !== undefined && cases === undefined ? null : await recoveries(options, stop.signal);
    const tables = [diagnosed && runTable(diagnosed), recovery && recoveryTable(recovery)];
    process.stdout.write(
      json
        ? `${JSON.stringify({ ...diagnosed, recovery }, null, 2)}\n`
        : tables.filter((text) => text !== null).join('\n'),
    );
    // Nothing may be called fixed that is not, whoever planned.
    if (recovery !== null && recovery.summary.falseFixed > 0) process.exitCode = 1;
  });

async function diagnoses(options: RunOptions, signal: AbortSignal): Promise<EvalRun> {
  const { investigator, scenarios } = options;
  return runEvals({
    scenarios: await loadScenarios(scenarios),
    make: await loadInvestigator(investigator, loadConfig(), wanted(options)),
    tools: allTools,
    mapped: investigator === 'playbook',
    signal,
  });
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
