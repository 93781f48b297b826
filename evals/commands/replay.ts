import { Command, Option } from 'commander';
import { loadIncident } from '../../src/cli/load-incident.ts';
import { loadRunbooks } from '../../src/runbooks/load-runbooks.ts';
import { allTools } from '../../src/targets/all-tools.ts';
import { createRegistry } from '../../src/tools/registry.ts';
import { replayIncident } from '../replay/replay.ts';
import { replayTable } from '../replay/replay-table.ts';
import { loadInvestigator } from './evals-inputs.ts';

interface ReplayCommandOptions {
  readonly investigator?: 'playbook' | 'claude';
  readonly model?: string;
  readonly prompt?: string;
  readonly json: boolean;
}

export const replayCommand = new Command('replay')
  .description(
    'Investigate an incident again with nothing but its recorded tool outputs, and compare diagnosis, tool use and cost. Nothing live is read, nothing is changed or written.',
  )
  .argument('<incident>', 'INC-7, or just 7')
  .addOption(
    new Option('--investigator <name>', 'playbook, or claude; with --model or --prompt it is claude').choices(
      ['playbook', 'claude'],
    ),
  )
  .option('--model <id>', 'another model than the configured one')
  .option('--prompt <folder>', 'a folder with other prompts (policy.md, triage.md, detective.md)')
  .option('--json', 'one JSON document', false)
  .action(async (id: string, { investigator, model, prompt, json }: ReplayCommandOptions) => {
    const stop = new AbortController();
    process.once('SIGINT', () => stop.abort(new Error('Interrupted.')));
    const { record, config } = await loadIncident(id);
    const wanted = model || prompt ? 'claude' : (investigator ?? record.incident.investigator ?? 'playbook');
    const make = await loadInvestigator(wanted, config, {
      ...(model === undefined ? {} : { model }),
      ...(prompt === undefined ? {} : { prompts: prompt }),
    });
    const { runbooks } = await loadRunbooks(config.runbooksDir, {
      tools: createRegistry(allTools),
    });
    const report = await replayIncident({
      record,
      make,
      name: wanted === 'claude' ? (model ?? config.model) : wanted,
      tools: allTools,
      runbooks,
      signal: stop.signal,
    });
    process.stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : replayTable(report));
  });
