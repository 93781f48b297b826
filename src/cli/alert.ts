import { Command } from 'commander';
import { configuredTargets } from '../app/targets.ts';
import { createAccept } from '../ingest/accept.ts';
import { domainOfLabels } from '../targets/domains.ts';
import { kinds } from '../targets/kinds.ts';
import { readAlerts, sourceOption } from './read-alerts.ts';
import { withStore } from './with-store.ts';

export const alertCommand = new Command('alert')
  .description('Hand in a payload as its source would send it.')
  .argument('<file>', 'a JSON file, or - for standard input')
  .addOption(sourceOption)
  .action(async (file: string, { source }: { readonly source: string }) => {
    const alerts = await readAlerts(file, source);
    await withStore(
      async ({ sql }, config) => {
        const accept = createAccept(sql, configuredTargets(config), domainOfLabels(kinds), {
          reopenWindowMs: config.reopenMinutes * 60_000,
        });
        for (const alert of alerts) {
          const { kind, incidentId } = await accept(alert);
          process.stdout.write(`${incidentId ?? '-'}  ${kind.replace('_', ' ')}  ${alert.title}\n`);
        }
      },
      { writes: 'alert' },
    );
  });
