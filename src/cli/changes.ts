import { Command } from 'commander';
import { changesAround, isToldOfChanges } from '../changes/read-changes.ts';
import type { Change } from '../core/change.ts';
import { OpsError } from '../core/errors.ts';
import { toldChanges } from '../core/told-changes.ts';
import { type ChangePiece, changeLines } from '../incidents/questions/format-changes.ts';
import { told } from '../incidents/reports/report-lines.ts';
import { loadIncident } from './load-incident.ts';
import { printList } from './print-list.ts';
import { withStore } from './with-store.ts';

/** Characters of a piece of a line. */
const MOST = 1_000;
const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

export const changesCommand = new Command('changes')
  .description('List what was changed, newest first.')
  .option('--since <time>', 'so long back, as 30m, 24h or 7d', '24h')
  .option('--where <name>', 'only what touched this system or service, by its whole name')
  .option('--incident <id>', 'what was found around an incident, and what part its diagnosis gives each')
  .option('--json', 'one JSON line a change', false)
  .action(async (options: Options) => {
    if (options.incident !== undefined) return tellOf(options.incident, options.json);
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

interface Options {
  readonly since: string;
  readonly where?: string;
  readonly incident?: string;
  readonly json: boolean;
}

/** By its record: the newest look, with what the newest diagnosis says of each change. */
async function tellOf(id: string, isJson: boolean): Promise<void> {
  const { record } = await loadIncident(id);
  const changes = toldChanges(record.events);
  if (isJson) {
    const found = changes === null ? [] : [...changes.causes, ...changes.suspects, ...changes.unrelated];
    return printList(found, true, ({ title }) => title);
  }
  const lines =
    changes === null ? [['Nobody has looked yet for what was changed around it.']] : changeLines(changes);
  process.stdout.write(lines.map((each) => `${each.map(plain).join('')}\n`).join(''));
}

/** A terminal is told times in UTC, and carries out nothing that stands in a name. The spaces between two pieces stay. */
function plain(piece: ChangePiece): string {
  if (typeof piece === 'string') {
    const [, before = '', text = '', after = ''] = /^( *)(.*?)( *)$/s.exec(piece) ?? [];
    return `${before}${told(text, MOST)}${after}`;
  }
  if ('at' in piece) return `${piece.at.slice(0, 16).replace('T', ' ')} UTC`;
  if ('url' in piece) return told(`${piece.text} (${piece.url})`, MOST);
  return 'person' in piece ? piece.person : told(piece.code, MOST);
}

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
