import { Command } from 'commander';
import { readAlerts, sourceOption } from './read-alerts.ts';

export const normalizeCommand = new Command('normalize')
  .description('Print the alerts that Sentry reads in a payload, as JSON. Nothing is stored.')
  .argument('[file]', 'a JSON file, or - for standard input', '-')
  .addOption(sourceOption)
  .action((file: string, { source }: { readonly source: string }) => {
    process.stdout.write(`${JSON.stringify(readAlerts(file, source), null, 2)}\n`);
  });
