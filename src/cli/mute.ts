import { Command, InvalidArgumentError } from 'commander';
import { OpsError } from '../core/errors.ts';
import { createMutes, type Mutes } from '../incidents/mutes/mutes.ts';
import type { Steered } from '../incidents/steering.ts';
import { createLog } from '../infra/log/log.ts';
import { createRecords } from '../record/record.ts';
import { createAuditLog } from '../safety/audit/audit-chain.ts';
import { readSpan } from '../safety/kill-switch/parse-kill-switch.ts';
import { isIdentifying } from '../sources/fingerprint.ts';
import { operator, withStore } from './with-store.ts';

export const muteCommand = new Command('mute')
  .description('Let alerts wait: they are kept, and what still fires at the end is opened.')
  .argument('<matcher>', 'alertname="DiskFull", severity=~"warning|info"')
  .argument('<time>', '30m, 2h or 1d', span)
  .argument('[reason...]', 'why, for everybody to read')
  .option('--yes', 'also critical alerts, where the matcher says so', false)
  .action((matcher: string, time: string, reason: readonly string[], { yes }: { readonly yes: boolean }) =>
    withMutes(async (mutes) =>
      say(await mutes.mute(`${yes ? 'confirm ' : ''}${matcher} ${time} ${reason.join(' ')}`, operator())),
    ),
  );

export const unmuteCommand = new Command('unmute')
  .description('End a mute before its time: what still fires is opened.')
  .argument('<id>', 'M3, as `sentry mutes` lists it')
  .action((id: string) => withMutes(async (mutes) => say(await mutes.unmute(id, operator()))));

export const mutesCommand = new Command('mutes')
  .description('List what is muted, until when, and how much waits.')
  .action(() =>
    withMutes(async (mutes) => {
      process.stdout.write(`${(await mutes.lines()).join('\n') || 'Nothing is muted.'}\n`);
    }),
  );

function span(text: string): string {
  if (readSpan(text) === undefined) throw new InvalidArgumentError('expected 30m, 2h or 1d (at most 31d)');
  return text;
}

function say(answer: Steered): void {
  if (!answer.ok)
    throw new OpsError(
      answer.code,
      answer.reason.replace('/sentry mute confirm', 'sentry mute --yes').replaceAll('/sentry ', 'sentry '),
      {
        hint: 'sentry mute --help',
      },
    );
  process.stdout.write(`${answer.text.replaceAll('/sentry ', 'sentry ')}\n`);
}

/** Maintenance is opened by the bot; here it is only listed. */
function withMutes(use: (mutes: Mutes) => Promise<void>): Promise<void> {
  return withStore(({ sql }) =>
    use(
      createMutes({
        sql,
        records: createRecords(sql),
        audit: createAuditLog(sql),
        isAdmin: async () => true,
        isIdentifying,
        isPublic: async () => true,
        windows: () => [],
        log: createLog('error'),
      }),
    ),
  );
}
