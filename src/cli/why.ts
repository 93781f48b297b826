import { Command } from 'commander';
import { createRecords } from '../record/record.ts';
import { loadIncident } from './load-incident.ts';
import { tellStory } from './terminal-story.ts';
import { withStore } from './with-store.ts';

export const whyCommand = new Command('why')
  .description(
    'Tell from the record what happened, on what evidence, what was run, who approved and what it cost.',
  )
  .argument('<id>', 'INC-7, or just 7')
  .action(async (id: string) => {
    const story = await withStore(async ({ sql }, config) =>
      tellStory(await loadIncident(createRecords(sql), id), config),
    );
    process.stdout.write(`${story}\n`);
  });
