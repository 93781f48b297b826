import { type Change, namesOf } from '../core/change.ts';
import type { Sql, Tx } from '../core/sql.ts';
import { type ChangeRow, toChange } from './rows.ts';

/** More than a person or a model reads. */
const AT_MOST = 200;
/** A change of more than so many things is of everything, and says nothing of two of them. */
const WIDEST = 20;
/** So long before a problem a change may have caused it. */
export const SUSPECT_MS = 30 * 60_000;

/** Whom a change may have touched: an incident, by what it is called. */
export interface ChangeSubject {
  /** The configured system's name. */
  readonly target: string | null;
  /** What else it is called: aliases, its service, the thing its alert is about. */
  readonly names: readonly string[];
  readonly environment: string | null;
  /** The sources whose word counts; null: every one. */
  readonly changesFrom: readonly string[] | null;
  /** ISO 8601. */
  readonly beganAt: string;
}

/**
 * The changes of any of these names that took effect, or were under way, between two times (ISO 8601); newest first. Names are compared
 * whole and without regard to case. No names: of everything.
 */
export async function changesAround(
  db: Sql | Tx,
  asked: {
    readonly where: readonly string[] | null;
    readonly from: string;
    readonly to: string;
    readonly limit?: number;
  },
): Promise<readonly Change[]> {
  const { where, from, to, limit = AT_MOST } = asked;
  const names = where && db.array(namesOf(where));
  const rows = await db<ChangeRow>`
    SELECT * FROM change
     WHERE at >= ${from} AND coalesce(started_at, at) <= ${to} AND (${names}::text[] IS NULL OR names && ${names}::text[])
     ORDER BY at DESC, source, id LIMIT ${Math.min(limit, AT_MOST)}`;
  return rows.map(toChange);
}

/** Whether any sender has told of a change: only then does it say something that none was found. */
export async function isToldOfChanges(db: Sql | Tx): Promise<boolean> {
  return (await db`SELECT FROM change LIMIT 1`).length > 0;
}

/**
 * One recorded change that touched both, and took effect in the 30 minutes before the earlier one began; of several the latest. One that
 * failed, that is of another environment, or of so much that it is of everything, does not count; nor does the word of a source that is
 * not one of either's.
 */
export async function sharedChange(
  db: Sql | Tx,
  one: ChangeSubject,
  other: ChangeSubject,
): Promise<(Pick<Change, 'id' | 'title' | 'url'> & { readonly isTrusted: boolean }) | null> {
  const earlier = one.beganAt < other.beganAt ? one : other;
  const suspects = await suspectsOf(db, { ...one, beganAt: earlier.beganAt });
  const found = suspects.find((change) => touches(change, other) && isOfOneEnvironment(change, one, other));
  if (!found) return null;
  const isTrusted = [one, other].every(({ changesFrom }) => changesFrom?.includes(found.source));
  return { isTrusted, id: found.id, title: found.title, url: found.url };
}

/** The changes that may have to do with a problem, for they touched it shortly before it began; newest first. Never its cause by that. */
export async function suspectsOf(db: Sql | Tx, subject: ChangeSubject): Promise<readonly Change[]> {
  const where = namesOfSubject(subject);
  if (where.length === 0) return [];
  const began = Date.parse(subject.beganAt);
  const changes = await changesAround(db, {
    where,
    from: new Date(began - SUSPECT_MS).toISOString(),
    to: new Date(began).toISOString(),
  });
  return changes.filter(
    (change) => change.state !== 'failed' && change.where.length <= WIDEST && touches(change, subject),
  );
}

function touches(change: Change, subject: ChangeSubject): boolean {
  const names = new Set(namesOfSubject(subject));
  return (
    (subject.changesFrom?.includes(change.source) ?? true) &&
    change.where.some((name) => names.has(name)) &&
    isSameEnvironment(change, subject)
  );
}

/** One that does not say its environment is of one of theirs, not of both. */
const isOfOneEnvironment = (change: Change, one: ChangeSubject, other: ChangeSubject): boolean =>
  change.environment !== null || plainOf(one.environment) === plainOf(other.environment);

const namesOfSubject = ({ target, names }: ChangeSubject): readonly string[] => namesOf([target, ...names]);

const shortOf: ReadonlyMap<string, string> = new Map([
  ['prod', 'production'],
  ['prd', 'production'],
  ['live', 'production'],
  ['stage', 'staging'],
  ['stg', 'staging'],
  ['dev', 'development'],
]);

/** One that is not said may be the same. */
function isSameEnvironment(
  { environment: one }: Pick<Change, 'environment'>,
  { environment: other }: Pick<ChangeSubject, 'environment'>,
): boolean {
  return one === null || other === null || plainOf(one) === plainOf(other);
}

function plainOf(environment: string | null): string | null {
  const name = environment?.toLowerCase() ?? null;
  return name && (shortOf.get(name) ?? name);
}
