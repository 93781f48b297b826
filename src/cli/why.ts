import { Command } from 'commander';
import { why } from '../incidents/questions/why.ts';
import { createRecords } from '../record/record.ts';
import { loadIncident } from './load-incident.ts';
import { terminalStory } from './terminal-story.ts';
import { withStore } from './with-store.ts';

export const whyCommand = new Command('why')
  .description(
    'Tell from the record what happened, on what evidence, what was run, who approved and what it cost.',
  )
  .argument('<id>', 'INC-7, or just 7')
  .action(async (id: string) => {
    const record = await withStore(({ sql }) => loadIncident(createRecords(sql), id));
    process.stdout.write(`${terminalStory(why(record))}\n`);
  });
