import { Command } from 'commander';
import { loadIncident } from './load-incident.ts';
import { tellStory } from './terminal-story.ts';

export const whyCommand = new Command('why')
  .description(
    'Tell from the record what happened, on what evidence, what was run, who approved and what it cost.',
  )
  .argument('<id>', 'INC-7, or just 7')
  .action(async (id: string) => {
    const { record, config } = await loadIncident(id);
    process.stdout.write(`${await tellStory(record, config)}\n`);
  });
