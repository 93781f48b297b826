import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { configuredTargets } from '../app/targets.ts';
import { messageOf, OpsError } from '../core/errors.ts';
import { createAccept } from '../ingest/accept.ts';
import { alertmanager } from '../sources/alertmanager/index.ts';
import { withStore } from './with-store.ts';

export const alertCommand = new Command('alert')
  .description('Hand in an alert as the webhook would: an Alertmanager v4 payload.')
  .argument('<file>', 'a JSON file, or - for standard input')
  .action(async (file: string) => {
    const parsed = alertmanager.read(readJson(file), { receivedAt: new Date() });
    if (!parsed.ok)
      throw new OpsError('BAD_ALERT', `${parsed.field || 'payload'}: ${parsed.reason}`, {
        hint: 'It must be what Alertmanager sends to a webhook (version 4).',
      });
    await withStore(
      async ({ sql }, config) => {
        const accept = createAccept(sql, configuredTargets(config), {
          reopenWindowMs: config.reopenMinutes * 60_000,
        });
        for (const alert of parsed.alerts) {
          const { kind, incidentId } = await accept(alert);
          process.stdout.write(`${incidentId ?? '-'}  ${kind.replace('_', ' ')}  ${alert.title}\n`);
        }
      },
      { writes: 'alert' },
    );
  });

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file === '-' ? 0 : file, 'utf8'));
  } catch (error) {
    throw new OpsError('BAD_ALERT', `${file}: ${messageOf(error)}`, {
      hint: 'Give a readable JSON file, or - for standard input.',
    });
  }
}
