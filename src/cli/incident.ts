import { Command } from 'commander';
import { moment } from '../incidents/questions/own-marks.ts';
import { loadIncident } from './load-incident.ts';
import { tellStory, terminalStory } from './terminal-story.ts';

export const incidentCommand = new Command('incident')
  .description('Show the whole record of one incident.')
  .argument('<id>', 'INC-7, or just 7')
  .option('--json', 'the record as one JSON document', false)
  .action(async (id: string, { json }: { readonly json: boolean }) => {
    const { record, config } = await loadIncident(id);
    if (json) {
      process.stdout.write(`${JSON.stringify(record, null, 2)}\n`);
      return;
    }
    const outputs = record.toolCalls.map(
      (call) =>
        `${terminalStory(`--- ${call.tool}${call.target === null ? '' : ` on ${call.target}`}, ${moment(call.finishedAt)}${call.state === 'ok' ? '' : ` (${call.state})`}`)}\n${call.output}\n`,
    );
    process.stdout.write(`${await tellStory(record, config)}\n\n${outputs.join('\n')}`);
  });
