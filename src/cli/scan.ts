import { Command, Option } from 'commander';
import { type ScanScope, scan, scanScopes } from '../safety/screen/scan.ts';
import { mapJsonLines, NamedText } from './json-lines.ts';

export const scanCommand = new Command('scan')
  .description(
    'Scan texts as before a write to memory: JSON lines {id,text} in, {id,blocked,findings} out. Findings say what kind and where, never what.',
  )
  .addOption(
    new Option('--scope <scope>', 'whose store the text is for').choices(scanScopes).makeOptionMandatory(),
  )
  .action(({ scope }: { readonly scope: ScanScope }) =>
    mapJsonLines(NamedText, ({ id, text }) => ({ id, ...scan(text, { scope }) })),
  );
