import { Command } from 'commander';
import { groupTitle } from '../core/group.ts';
import type { Incident } from '../core/incident.ts';
import { formatStanding } from '../incidents/questions/format-state.ts';
import { createRecords } from '../record/record.ts';
import { printList } from './print-list.ts';
import { wholeNumber } from './whole-number.ts';
import { withStore } from './with-store.ts';

export const incidentsCommand = new Command('incidents')
  .description('List incidents, newest first.')
  .option('--open', 'only those that have not ended', false)
  .option('--limit <n>', 'at most this many', wholeNumber(1000), 20)
  .option('--json', 'one JSON line an incident', false)
  .action(async (options: { readonly open: boolean; readonly limit: number; readonly json: boolean }) => {
    const incidents = await withStore(({ sql }) => createRecords(sql).list(options));
    printList(incidents, options.json, line, 'No incidents.\n');
  });

function line(incident: Incident): string {
  const { id, severity, target, openedAt } = incident;
  return [
    id.padEnd(8),
    openedAt.slice(0, 19).replace('T', ' '),
    severity.padEnd(8),
    formatStanding(incident).padEnd(24),
    (target ?? '-').padEnd(12),
    groupTitle(incident),
  ].join('  ');
}
