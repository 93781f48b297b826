import { Command, Option } from 'commander';
import { loadConfig } from '../config.ts';
import { runEvals } from '../evaluation/run-evals.ts';
import { runTable } from '../evaluation/tables.ts';
import { allTools } from '../tools/all.ts';
import { loadInvestigator, loadScenarios } from './evals-inputs.ts';

interface RunOptions {
  readonly investigator: 'playbook' | 'claude';
  readonly model?: string;
  readonly prompt?: string;
  readonly scenarios?: string;
  readonly sceptic: boolean;
  readonly json: boolean;
}

export const evalsRunCommand = new Command('run')
  .description(
    'Investigate recorded incidents with nothing but their recorded outputs, and score what is said.',
  )
  .addOption(
    new Option('--investigator <name>', 'who investigates; claude calls the configured model and costs money')
      .choices(['playbook', 'claude'])
      .default('playbook'),
  )
  .option('--model <id>', 'another model than the configured one')
  .option('--prompt <folder>', 'a folder with other prompts than the shipped ones')
  .option('--scenarios <file>', 'JSON lines; the incidents in evals/ when left out')
  .option(
    '--sceptic',
    'with the second look at each diagnosis of claude, and how many right ones it downgraded',
    false,
  )
  .option('--json', 'one JSON document {summary, incidents}', false)
  .action(async ({ investigator, model, prompt, scenarios, sceptic, json }: RunOptions) => {
    const stop = new AbortController();
    process.once('SIGINT', () => stop.abort(new Error('Interrupted.')));
    const make = await loadInvestigator(investigator, loadConfig(), {
      sceptic,
      ...(model === undefined ? {} : { model }),
      ...(prompt === undefined ? {} : { prompts: prompt }),
    });
    const run = await runEvals({
      scenarios: await loadScenarios(scenarios),
      make,
      tools: allTools,
      mapped: investigator === 'playbook',
      signal: stop.signal,
    });
    process.stdout.write(json ? `${JSON.stringify(run, null, 2)}\n` : runTable(run));
  });
