import { Command } from 'commander';
import { OpsError } from '../core/errors.ts';
import { parseIncidentId } from '../core/ids.ts';
import { createLog } from '../infra/log/log.ts';
import { costLines, costReport } from '../record/cost.ts';
import { createAuditLog } from '../safety/audit/audit-chain.ts';
import { createCostBreaker } from '../safety/limits/cost-breaker.ts';
import { formatBreaker } from '../safety/limits/format-breaker.ts';
import { withStore } from './with-store.ts';

export const costCommand = new Command('cost')
  .description('What the model cost: an incident, today, 30 days, by model and role; and the cost breaker.')
  .argument('[id]', 'INC-7, or just 7')
  .option('--json', 'tokens and dollars as JSON')
  .action(async (named: string | undefined, { json }: { readonly json?: boolean }) => {
    const id = named === undefined ? null : parseIncidentId(named);
    if (id === undefined)
      throw new OpsError('NOT_FOUND', `"${named ?? ''}" is no incident's id.`, {
        hint: 'sentry incidents lists them.',
      });
    await withStore(async ({ sql }, config) => {
      const report = await costReport(sql, id);
      const breaker = createCostBreaker({
        sql,
        audit: createAuditLog(sql),
        limits: config.cost,
        log: createLog('error'),
      });
      const view = await breaker.view();
      process.stdout.write(
        json
          ? `${JSON.stringify({ ...report, breaker: view })}\n`
          : `${[...costLines(report), formatBreaker(view)].join('\n')}\n`,
      );
    });
  });
