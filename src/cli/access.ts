import { Command } from 'commander';
import { accessTable } from '../actions/access.ts';
import { allTools } from '../targets/all-tools.ts';
import { changesTools } from '../tools/changes/changes-tools.ts';
import { memoryToolset } from '../tools/memory/memory-tools.ts';
import { usualValues } from '../tools/usual/usual-values.ts';

export const accessCommand = new Command('access')
  .description('Print which role may use which tool; what is not listed is refused.')
  .action(() => {
    process.stdout.write(`${accessTable([...allTools, ...changesTools, usualValues, ...memoryToolset])}\n`);
  });
