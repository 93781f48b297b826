import { changesAround, isToldOfChanges } from '../changes/read-changes.ts';
import type { Change } from '../core/change.ts';
import { toldBy } from '../core/change-source.ts';
import { closestName } from '../core/closest-name.ts';
import { describeChange } from '../core/describe-changes.ts';
import { withoutMarks } from '../core/model-words.ts';
import { minute, told } from '../incidents/reports/report-lines.ts';
import type { Services } from './services.ts';

const SHOWN = 20;
const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const DAY = '24h';
/** Longer ago nothing is kept by default. */
const LONGEST_MS = 90 * 86_400_000;

/** `/sentry changes [system or service] [2h]`: what was changed, newest first, whoever told of it. */
export async function changesCommand(
  { sql, eachTarget }: Pick<Services, 'sql' | 'eachTarget'>,
  text: string,
  now = new Date(),
): Promise<string> {
  const { name, span } = readAsked(text);
  const ms = spanOf(span);
  if (ms === null) return `“${told(span, 20)}” is no time. Say it like this: /sentry changes shop-db 2h`;
  const targets = [...eachTarget];
  const target = targets.find((each) =>
    [each.name, ...each.aliases].some((one) => one.toLowerCase() === name),
  );
  const where = name === '' ? null : target ? [target.name, ...target.aliases] : [name];
  const from = new Date(now.getTime() - ms).toISOString();
  const changes = await changesAround(sql, { where, from, to: now.toISOString(), limit: SHOWN + 1 });
  if (changes.length > 0)
    return [
      ...changes.slice(0, SHOWN).map(line),
      ...(changes.length > SHOWN ? [`and more: /sentry changes ${told(name || 'shop-db', 60)} 2h`] : []),
    ].join('\n');
  const of = name === '' ? '' : ` of ${told(name, 60)}`;
  if (!(await isToldOfChanges(sql)))
    return 'Nobody has told me of any change yet: docs/changes.md says who can.';
  const near =
    target || name === ''
      ? null
      : closestName(
          name,
          targets.map((each) => each.name),
        );
  return `No change${of} is known in the last ${span}.${near === null ? '' : ` Did you mean ${near}?`}`;
}

/** “shop-api since 2h”, “2h”, “of shop-api”: a system or service, and how far back. */
function readAsked(text: string): { readonly name: string; readonly span: string } {
  const [, rest = '', span] =
    /^(.*?)(?:(?:^|\s)(?:(?:since|for|in|within)\s+)?(?:the\s+)?(?:last\s+)?(\d\S*))?$/i.exec(text.trim()) ??
    [];
  const name = rest
    .trim()
    .replace(/^(?:of|on|for|in|at)\s+/i, '')
    .toLowerCase();
  return { name, span: span ?? DAY };
}

function spanOf(text: string): number | null {
  const [, number = '', unit = ''] = /^([1-9]\d{0,4})([mhd])$/i.exec(text) ?? [];
  const ms = Number(number) * (UNIT_MS[unit.toLowerCase()] ?? 0);
  return ms > 0 && ms <= LONGEST_MS ? ms : null;
}

/** When, what, and who told of it. */
function line(change: Change): string {
  const state = change.state === 'started' ? ', under way' : '';
  const [first, second, ...more] = change.where.map((name) => told(name, 40));
  const of = [
    ...(first === undefined ? [] : [second === undefined ? first : `${first} and ${second}`]),
    ...(more.length > 0 ? [`${more.length} more`] : []),
    told(toldBy(change.source), 60),
  ].join(', ');
  return `• ${minute(change.at)}: ${told(withoutMarks(describeChange(change)), 200)}${state} (${of})`;
}
