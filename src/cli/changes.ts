import { Command } from 'commander';
import { changesAround, isToldOfChanges } from '../changes/read-changes.ts';
import type { Change } from '../core/change.ts';
import { OpsError } from '../core/errors.ts';
import { printList } from './print-list.ts';
import { withStore } from './with-store.ts';

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

export const changesCommand = new Command('changes')
  .description('List what was changed, newest first.')
  .option('--since <time>', 'so long back, as 30m, 24h or 7d', '24h')
  .option('--where <name>', 'only what touched this system or service, by its whole name')
  .option('--json', 'one JSON line a change', false)
  .action(async (options: { readonly since: string; readonly where?: string; readonly json: boolean }) => {
    const now = Date.now();
    const from = new Date(now - spanOf(options.since)).toISOString();
    const where = options.where === undefined ? null : [options.where];
    const { changes, isTold } = await withStore(async ({ sql }) => ({
      changes: await changesAround(sql, { where, from, to: new Date(now).toISOString() }),
      isTold: await isToldOfChanges(sql),
    }));
    printList(
      changes,
      options.json,
      line,
      isTold ? 'No changes.\n' : 'Nobody has told of any change yet: docs/changes.md says who can.\n',
    );
  });

function spanOf(text: string): number {
  const [, number = '', unit = ''] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? [];
  const ms = Number(number) * (UNIT_MS[unit] ?? 0);
  if (ms > 0) return ms;
  throw new OpsError('USAGE', `--since ${JSON.stringify(text)} is no time span.`, {
    hint: 'Say 30m, 24h or 7d.',
  });
}

function line({ at, state, where, title, by }: Change): string {
  return [
    at.slice(0, 19).replace('T', ' '),
    state.padEnd(9),
    (where[0] ?? '-').padEnd(16),
    `${title}${by === null ? '' : ` · ${by}`}`,
  ].join('  ');
}
