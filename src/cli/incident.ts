import { Command } from 'commander';
import { createRecords } from '../record/record.ts';
import { loadIncident } from './load-incident.ts';
import { tellStory, terminalStory } from './terminal-story.ts';
import { withStore } from './with-store.ts';

export const incidentCommand = new Command('incident')
  .description('Show the whole record of one incident.')
  .argument('<id>', 'INC-7, or just 7')
  .option('--json', 'the record as one JSON document', false)
  .action(async (id: string, { json }: { readonly json: boolean }) => {
    const { record, story } = await withStore(async ({ sql }, config) => {
      const loaded = await loadIncident(createRecords(sql), id);
      return { record: loaded, story: json ? '' : await tellStory(loaded, config) };
    });
    if (json) {
      process.stdout.write(`${JSON.stringify(record, null, 2)}\n`);
      return;
    }
    const outputs = record.toolCalls.map(
      (call) =>
        `${terminalStory(`--- ${call.tool}${call.target === null ? '' : ` on ${call.target}`}, ${call.finishedAt.slice(0, 19)}Z${call.state === 'ok' ? '' : ` (${call.state})`}`)}\n${call.output}\n`,
    );
    process.stdout.write(`${story}\n\n${outputs.join('\n')}`);
  });
