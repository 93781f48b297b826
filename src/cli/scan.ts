import { Command, Option } from 'commander';
import { z } from 'zod';
import { type ScanScope, scan, scanScopes } from '../safety/screen/scan.ts';
import { mapJsonLines } from './json-lines.ts';

const Input = z.object({ id: z.union([z.string(), z.number()]), text: z.string() });

export const scanCommand = new Command('scan')
  .description(
    'Scan texts as before a write to memory: JSON lines {id,text} in, {id,blocked,findings} out. Findings say what kind and where, never what.',
  )
  .addOption(
    new Option('--scope <scope>', 'whose store the text is for').choices(scanScopes).makeOptionMandatory(),
  )
  .action(({ scope }: { readonly scope: ScanScope }) =>
    mapJsonLines(Input, ({ id, text }) => ({ id, ...scan(text, { scope }) })),
  );
