import { Argument, Command } from 'commander';
import { resolveUnknownOutcome } from '../actions/approvals/resolve-unknown-outcome.ts';
import { OpsError } from '../core/errors.ts';
import { asActionId } from '../core/ids.ts';
import { createRecords } from '../record/record.ts';
import { createAuditLog } from '../safety/audit/audit-chain.ts';
import { operator, withStore } from './with-store.ts';

export const settleCommand = new Command('settle')
  .description('Say whether an action of unknown outcome ran, after looking at its target; frees the target.')
  .argument('<action>', 'its id, act_…')
  .addArgument(new Argument('<outcome>', 'what you saw').choices(['ran', 'did-not-run']))
  .option('--reason <text>', 'how you know', '')
  .action(async (id: string, outcome: string, { reason }: { readonly reason: string }) => {
    const answer = await withStore(({ sql }) =>
      resolveUnknownOutcome(
        { sql, records: createRecords(sql), audit: createAuditLog(sql) },
        { actionId: asActionId(id), ran: outcome === 'ran', by: operator(), reason },
      ),
    );
    if (!answer.ok)
      throw new OpsError(answer.code === 'UNKNOWN_ACTION' ? 'NOT_FOUND' : answer.code, answer.reason, {
        hint: 'sentry incident <id> shows the actions of an incident and their states.',
      });
    process.stdout.write(`${id}: ${outcome.replaceAll('-', ' ')}, recorded.\n`);
  });
