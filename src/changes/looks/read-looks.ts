import type { Sql, Tx } from '../../core/sql.ts';
import { type ChangeSourceSeen, OWN_LOOK } from '../../core/what-changed.ts';
import { type LookRow, lookRows } from './look-rows.ts';

/**
 * How far Sentry's own looks at these targets reach in a window (ISO 8601): for each what was looked at, and a row with why for what was
 * not, which may be a part of it. Each target has at least one.
 */
export async function readLooks(
  db: Sql | Tx,
  targets: readonly string[],
  from: string,
  to: string,
): Promise<readonly ChangeSourceSeen[]> {
  const rows = new Map((await lookRows(db, targets)).map((row) => [row.target, row]));
  return targets.flatMap((target) => seenOf(target, rows.get(target), from, to));
}

function seenOf(of: string, row: LookRow | undefined, from: string, to: string): readonly ChangeSourceSeen[] {
  const not = (why: string): ChangeSourceSeen => ({ source: OWN_LOOK, of, from: null, to: null, why });
  if (row === undefined) return [not('Sentry has not looked at what it is made of yet')];
  const { first_at: firstAt, looked_at: lookedAt, why, unread } = row;
  const failure = why === null ? [] : [not(`the last look failed: ${why}`)];
  if (firstAt === null || lookedAt === null) return failure;
  if (firstAt > to) return [not('Sentry first looked at it after that'), ...failure];
  if (lookedAt < from) return [not('Sentry has not looked at it since'), ...failure];
  const seen = { source: OWN_LOOK, of, from: later(firstAt, from), to: lookedAt < to ? lookedAt : to };
  return [seen, ...failure, ...unread.map((one) => not(`${one.part} could not be read: ${one.why}`))];
}

const later = (one: string, other: string): string => (one > other ? one : other);
