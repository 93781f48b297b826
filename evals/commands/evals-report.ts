import { Command } from 'commander';
import { withStore } from '../../src/cli/with-store.ts';
import { incidentResults } from '../../src/record/incident-results.ts';
import { reportRows, reportTable } from '../score/report.ts';

/** More than a year of a busy team. */
const AT_MOST = 10_000;

export const evalsReportCommand = new Command('report')
  .description(
    'What real incidents came to, by runbook or kind: fixed or not, what people said, cost, time to diagnosis.',
  )
  .option('--json', 'one JSON document {rows, incidents}', false)
  .action(async ({ json }: { readonly json: boolean }) => {
    const incidents = await withStore(({ sql }) => incidentResults(sql, AT_MOST));
    process.stdout.write(
      json
        ? `${JSON.stringify({ rows: reportRows(incidents), incidents }, null, 2)}\n`
        : reportTable(incidents),
    );
  });
