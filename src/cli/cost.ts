import { Command } from 'commander';
import { parseIncidentId } from '../core/ids.ts';
import { createLog } from '../infra/log/log.ts';
import { costLines, costReport } from '../record/cost.ts';
import { createRecords } from '../record/record.ts';
import { createAuditLog } from '../safety/audit/audit-chain.ts';
import { createCostBreaker } from '../safety/limits/cost-breaker.ts';
import { formatBreaker } from '../safety/limits/format-breaker.ts';
import { noIncident } from './load-incident.ts';
import { withStore } from './with-store.ts';

export const costCommand = new Command('cost')
  .description('What the model cost: an incident, today, 30 days, by model and role; and the cost breaker.')
  .argument('[id]', 'INC-7, or just 7')
  .option('--json', 'tokens and dollars as JSON')
  .action(async (named: string | undefined, { json }: { readonly json?: boolean }) => {
    const id = named === undefined ? null : parseIncidentId(named);
    if (id === undefined) throw noIncident(named ?? '');
    await withStore(async ({ sql }, config) => {
      if (id !== null && !(await createRecords(sql).load(id))) throw noIncident(named ?? '');
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
