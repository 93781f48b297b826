import { Command, InvalidArgumentError } from 'commander';
import type { Incident } from '../core/incident.ts';
import { formatState } from '../incidents/questions/format-state.ts';
import { createRecords } from '../record/record.ts';
import { withStore } from './with-store.ts';

function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 1000)
    throw new InvalidArgumentError('expected a whole number from 1 to 1000');
  return value;
}

export const incidentsCommand = new Command('incidents')
  .description('List incidents, newest first.')
  .option('--open', 'only those that have not ended', false)
  .option('--limit <n>', 'at most this many', count, 20)
  .option('--json', 'one JSON line an incident', false)
  .action(async (options: { readonly open: boolean; readonly limit: number; readonly json: boolean }) => {
    const incidents = await withStore(({ sql }) => createRecords(sql).list(options));
    if (options.json) {
      for (const incident of incidents) process.stdout.write(`${JSON.stringify(incident)}\n`);
      return;
    }
    process.stdout.write(incidents.length === 0 ? 'No incidents.\n' : `${incidents.map(line).join('\n')}\n`);
  });

function line({ id, state, severity, target, title, openedAt }: Incident): string {
  return [
    id.padEnd(8),
    openedAt.slice(0, 19).replace('T', ' '),
    severity.padEnd(8),
    formatState(state).padEnd(22),
    (target ?? '-').padEnd(12),
    title,
  ].join('  ');
}
