import { type Change, namesOf } from '../core/change.ts';
import { COUNT_LIMIT } from '../core/count.ts';
import { environmentNames, isSameEnvironment } from '../core/environment.ts';
import type { Sql, Tx } from '../core/sql.ts';
import { OWN_LOOK } from '../core/what-changed.ts';
import { type ChangeRow, toChange } from './rows.ts';

/** More than a person or a model reads. */
export const AT_MOST = 200;
/** A change of more than so many things is of everything, and says nothing of two of them. */
export const WIDEST = 20;
/** So long before a problem a change may have caused it. */
const SUSPECT_MS = 30 * 60_000;

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

export interface ChangesAround {
  readonly where: readonly string[] | null;
  readonly from: string;
  readonly to: string;
  readonly limit?: number;
  /** Also what began in the day before, and of whose end nobody has told. */
  readonly underWay?: boolean;
  /** The first of them where there are more than are read; newest first when left out. */
  readonly oldestFirst?: boolean;
  /** Only those that may have to do with one of these: of their environments and sources, not failed, and not of everything. */
  readonly mayBeOf?: readonly {
    readonly environment: string | null;
    readonly changesFrom: readonly string[] | null;
  }[];
}

/** What began so long ago and never ended was forgotten by its sender. */
const UNDER_WAY_MS = 24 * 60 * 60_000;

/**
 * The changes of any of these names that took effect, or were under way, between two times (ISO 8601); newest first. Names are compared
 * whole and without regard to case. No names: of everything.
 */
export async function changesAround(db: Sql | Tx, asked: ChangesAround): Promise<readonly Change[]> {
  const { where, from, to, limit = AT_MOST, underWay = false, oldestFirst = false, mayBeOf } = asked;
  const names = where && db.array(namesOf(where));
  const begunFrom = underWay ? new Date(Date.parse(from) - UNDER_WAY_MS).toISOString() : from;
  const most = Math.min(limit, AT_MOST);
  const each = mayBeOf ?? [];
  const isOfAny = mayBeOf === undefined || each.some(({ environment }) => environment === null);
  const isByAny = mayBeOf === undefined || each.some(({ changesFrom }) => changesFrom === null);
  const environments = isOfAny
    ? null
    : db.array(each.flatMap(({ environment }) => environmentNames(environment ?? '')));
  const sources = isByAny ? null : db.array([OWN_LOOK, ...each.flatMap((one) => one.changesFrom ?? [])]);
  const widest = mayBeOf === undefined ? null : WIDEST;
  const rows = oldestFirst
    ? await db<ChangeRow>`
        SELECT * FROM change
         WHERE at >= ${from} AND coalesce(started_at, at) <= ${to} AND (${names}::text[] IS NULL OR names && ${names}::text[])
           AND (${environments}::text[] IS NULL OR environment IS NULL OR environment = ANY (${environments}::text[]))
           AND (${sources}::text[] IS NULL OR source = ANY (${sources}::text[]))
           AND (${widest}::int IS NULL OR (state <> 'failed' AND cardinality(names) <= ${widest}::int))
         ORDER BY at, source, id LIMIT ${most}`
    : await db<ChangeRow>`
        SELECT * FROM change
         WHERE at >= ${begunFrom} AND (at >= ${from} OR state = 'started') AND coalesce(started_at, at) <= ${to}
           AND (${names}::text[] IS NULL OR names && ${names}::text[])
           AND (${environments}::text[] IS NULL OR environment IS NULL OR environment = ANY (${environments}::text[]))
           AND (${sources}::text[] IS NULL OR source = ANY (${sources}::text[]))
           AND (${widest}::int IS NULL OR (state <> 'failed' AND cardinality(names) <= ${widest}::int))
         ORDER BY at DESC, source, id LIMIT ${most}`;
  return rows.map(toChange);
}

/** How many changes took effect between two times, of whatever; more than a thousand are not counted. */
export async function countChanges(db: Sql | Tx, from: string, to: string): Promise<number> {
  const [row] = await db<{ n: number }>`
    SELECT count(*)::int AS n FROM (
      SELECT FROM change WHERE at >= ${from} AND at <= ${to} AND state <> 'failed' ORDER BY at LIMIT ${COUNT_LIMIT}) AS counted`;
  return row?.n ?? 0;
}

/** A source that has told of a name, in an environment, and when it first did. */
export interface SourceTold {
  readonly source: string;
  readonly name: string;
  readonly environment: string | null;
  readonly first: string;
}

/** Enough to know who tells of a name: a busy one has many more. */
const TOLD_AT_MOST = 5_000;

/** Who has told of a change of these names: whoever has may be believed to tell of the next one. The first on record are looked through. */
export async function sourcesThatTold(
  db: Sql | Tx,
  where: readonly string[],
): Promise<readonly SourceTold[]> {
  const names = db.array(namesOf(where));
  return db<SourceTold>`
    WITH told AS MATERIALIZED (
      SELECT source, names, environment, coalesce(started_at, at) AS since
        FROM change WHERE names && ${names}::text[] LIMIT ${TOLD_AT_MOST})
    SELECT source, name, environment, min(since) AS first
      FROM told, unnest(names) AS name
     WHERE name = ANY (${names}::text[]) AND source <> ${OWN_LOOK}
     GROUP BY source, name, environment ORDER BY source, name, environment`;
}

/** Whether any sender has told of a change: only then does it say something that none was found. */
export async function isToldOfChanges(db: Sql | Tx): Promise<boolean> {
  return (await db`SELECT FROM change LIMIT 1`).length > 0;
}

/**
 * One of the suspects of the later (`suspectsOf`) that touched both, and took effect in the 30 minutes before the earlier one began; of
 * several the latest. One that is of another environment does not count; nor does the word of a source that is not one of either's.
 */
export function sharedChange(
  suspects: readonly Change[],
  one: ChangeSubject,
  other: ChangeSubject,
): (Pick<Change, 'id' | 'title' | 'url'> & { readonly isTrusted: boolean }) | null {
  const began = Math.min(Date.parse(one.beganAt), Date.parse(other.beganAt));
  const found = suspects.find(
    (change) =>
      Date.parse(change.at) >= began - SUSPECT_MS &&
      Date.parse(change.startedAt ?? change.at) <= began &&
      touches(change, one) &&
      touches(change, other) &&
      isOfOneEnvironment(change, one, other),
  );
  if (!found) return null;
  const isTrusted = [one, other].every(({ changesFrom }) => changesFrom?.includes(found.source));
  return { isTrusted, id: found.id, title: found.title, url: found.url };
}

/**
 * The changes that may have to do with a problem, for they touched it shortly before it began; newest first. Never its cause by that. One
 * that failed, or that is of so much that it is of everything, is none. `earlierMs`: also of others that began so long before it.
 */
export async function suspectsOf(
  db: Sql | Tx,
  subject: ChangeSubject,
  earlierMs = 0,
): Promise<readonly Change[]> {
  const where = namesOfSubject(subject);
  if (where.length === 0) return [];
  const began = Date.parse(subject.beganAt);
  const changes = await changesAround(db, {
    where,
    from: new Date(began - SUSPECT_MS - earlierMs).toISOString(),
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
    isSameEnvironment(change.environment, subject.environment)
  );
}

/** One that does not say its environment is of one of theirs, not of both. */
const isOfOneEnvironment = (change: Change, one: ChangeSubject, other: ChangeSubject): boolean =>
  change.environment !== null ||
  ((one.environment === null) === (other.environment === null) &&
    isSameEnvironment(one.environment, other.environment));

const namesOfSubject = ({ target, names }: ChangeSubject): readonly string[] => namesOf([target, ...names]);
