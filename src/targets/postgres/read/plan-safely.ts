import { OpsError } from '../../../core/errors.ts';
import type { DescribedStatement, OwnPostgresSession } from '../system.ts';
import { foreignCode } from './foreign-code.ts';
import { filled, type Skeleton, statementSkeleton, stringIn } from './statement-skeleton.ts';

export interface SafePlan {
  readonly lines: readonly string[];
  /** Some values were not known to the planner. */
  readonly generic: boolean;
}

/**
 * The plan of a statement that somebody else wrote. The planner runs functions (to fold constants, to estimate), so the
 * statement is first given to the server as a temporary view, which is analysed and not planned; what the view reaches is
 * read from the catalogue; and only when all of it is a superuser's is the view, not the text, explained: what was looked
 * at is what is planned, whatever the names of the text mean by then. Nothing of it is kept: the session must be one of
 * its own, and its transaction is never committed.
 *
 * @throws OpsError POSTGRES_CANNOT_EXPLAIN, or what the server says
 */
export async function planSafely(session: OwnPostgresSession, sql: string): Promise<SafePlan> {
  await session.query('BEGIN READ WRITE');
  const { skeleton, described } = await describe(session, sql);
  const types = await typesOf(session, described.parameters);
  const values = skeleton.holes.map((hole, index) => {
    const type = types[index];
    if (type === undefined) throw cannotExplain('a type of it is gone');
    const value = hole.kind === 'literal' && hole.value !== null ? stringIn(skeleton, hole.value) : null;
    return type.readable && value !== null
      ? `CAST(${value} AS ${type.name})`
      : // A value that the planner has to guess, like that of a parameter.
        `CAST((SELECT CAST(NULL AS ${type.name})) AS ${type.name})`;
  });
  const generic = values.some((value) => value.startsWith('CAST((SELECT'));
  await refuseForeign(foreignCode.eventTriggers(session));
  await createView(
    session,
    described.columns,
    filled(skeleton, (hole) => values[hole] ?? 'NULL'),
  );
  await session.query('SET TRANSACTION READ ONLY');
  // Nobody replaces a view or changes a policy from here on.
  await session.query('LOCK TABLE pg_temp.sentry_explained IN ACCESS SHARE MODE');
  await refuseForeign(foreignCode.reachedBy(session, 'pg_temp.sentry_explained'));
  const plan = await session.query('EXPLAIN (FORMAT TEXT) SELECT * FROM pg_temp.sentry_explained');
  // An index or a domain can get an expression while we look: then what the planner says is not shown.
  await refuseForeign(foreignCode.reachedBy(session, 'pg_temp.sentry_explained'));
  return { lines: plan.map((row) => String(row['QUERY PLAN'])), generic };
}

/** With its names as the server finds them for this role; ours are the catalogue's before and after. */
async function inItsNames<T>(session: OwnPostgresSession, work: () => Promise<T>): Promise<T> {
  await session.query('SET LOCAL search_path TO DEFAULT');
  const done = await work();
  await session.query('SET LOCAL search_path = pg_catalog, pg_temp');
  return done;
}

/** Equal strings as one value first; where they are of several types, or must not be, each as its own. */
async function describe(
  session: OwnPostgresSession,
  sql: string,
): Promise<{ readonly skeleton: Skeleton; readonly described: DescribedStatement }> {
  const attempt = async (share: boolean) => {
    const skeleton = statementSkeleton(sql, share);
    if (skeleton === undefined) throw cannotExplain('its strings or names are written in an unusual way');
    const text = filled(skeleton, (hole) => `$${hole + 1}`);
    return { skeleton, described: await inItsNames(session, () => session.describe(text)) };
  };
  await session.query('SAVEPOINT before');
  try {
    return await attempt(true);
  } catch (error) {
    if (!(error instanceof OpsError) || !/^POSTGRES_42(P08|P18|804|883)$/.test(error.code)) throw error;
    await session.query('ROLLBACK TO SAVEPOINT before');
    return attempt(false);
  }
}

interface HoleType {
  /** Qualified and quoted. */
  readonly name: string;
  /** PostgreSQL's own base type: reading a string as it runs nobody's code. */
  readonly readable: boolean;
}

async function typesOf(
  session: OwnPostgresSession,
  oids: readonly number[],
): Promise<readonly (HoleType | undefined)[]> {
  const rows = await session.query(
    `SELECT t.oid::bigint AS oid, quote_ident(n.nspname) || '.' || quote_ident(t.typname) AS name,
            t.typtype = 'b' AND n.nspname = 'pg_catalog' AND t.oid < 16384::oid AS readable
       FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
      WHERE t.oid IN (SELECT json_array_elements_text($1::text::json)::oid)`,
    [JSON.stringify(oids)],
  );
  const found = new Map(
    rows.map((row) => [
      Number(row['oid']),
      { name: String(row['name']), readable: row['readable'] === true },
    ]),
  );
  return oids.map((oid) => found.get(oid));
}

async function createView(session: OwnPostgresSession, columns: number, sql: string): Promise<void> {
  // A view's columns have different names, a statement's need not.
  const names = Array.from({ length: columns }, (_, index) => `c${index + 1}`).join(', ');
  try {
    await inItsNames(session, () =>
      session.query(`CREATE TEMPORARY VIEW sentry_explained (${names}) AS ${sql}`),
    );
  } catch (error) {
    if (!(error instanceof OpsError)) throw error;
    if (error.code === 'POSTGRES_42501' && /temporary/i.test(error.message))
      throw new OpsError(
        CANNOT_EXPLAIN,
        `This statement cannot be analysed before it is planned: ${error.message}.`,
        {
          hint: 'GRANT TEMPORARY ON DATABASE <database> TO <reading role>;',
          cause: error,
        },
      );
    if (error.code === 'POSTGRES_25006') throw cannotExplain('this server is a standby; ask its primary');
    if (/^POSTGRES_(0A000|42P16|42601|428C9)$/.test(error.code))
      throw cannotExplain(`it cannot be analysed without planning it (${error.message})`);
    throw error;
  }
}

const CANNOT_EXPLAIN = 'POSTGRES_CANNOT_EXPLAIN';

async function refuseForeign(found: Promise<readonly string[]>): Promise<void> {
  const [first, ...others] = await found;
  if (first === undefined) return;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  throw cannotExplain(
    `planning it may run ${first}${more}, which could be anybody's code running as Sentry; only functions that belong to a superuser are let run`,
  );
}

export function cannotExplain(why: string): OpsError {
  return new OpsError(CANNOT_EXPLAIN, `This statement cannot be explained: ${why}.`, {
    hint: 'Explain it by its queryid from postgres_slow_statements, or by hand as the role that runs it.',
  });
}
