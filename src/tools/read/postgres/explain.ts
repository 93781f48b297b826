import { z } from 'zod';
import { OpsError } from '../../../domain/errors.ts';
import type { ToolOutput } from '../../define.ts';
import type { PostgresSession } from '../../ports.ts';
import { explainable, parameterCount } from './explainable.ts';
import { oneLine } from './format.ts';
import { output, postgresReadTool } from './postgres-read-tool.ts';
import { sessionKey } from './session-key.ts';
import { howToEnableStatistics, statementStatistics } from './statement-statistics.ts';

const input = z
  .strictObject({
    /** Digits, as postgres_slow_statements prints it. */
    queryid: z
      .string()
      .regex(/^-?\d{1,20}$/, 'a queryid as postgres_slow_statements prints it')
      .optional(),
    pid: sessionKey.shape.pid.optional(),
    backend_start: sessionKey.shape.backend_start.optional(),
  })
  .refine(
    ({ queryid, pid, backend_start }) =>
      queryid === undefined
        ? pid !== undefined && backend_start !== undefined
        : pid === undefined && backend_start === undefined,
    {
      error: 'give either queryid, or pid with backend_start',
    },
  );

/**
 * The plan of a statement the server knows, never of free SQL, and never run. Data: `{ query, generic, total_cost, rows_estimate, plan_lines, sequential_scans }`;
 * costs in the planner's units, `sequential_scans` names the tables.
 */
export const postgresExplain = postgresReadTool({
  name: 'postgres_explain',
  description:
    "The plan (plain EXPLAIN, nothing is run) of a statement by queryid from postgres_slow_statements, or of a session's current statement by pid and backend_start. Parameters give a generic plan.",
  kind: 'diagnostic',
  input,
  timeoutMs: 15_000,
  async read(session, { queryid, pid, backend_start }) {
    const query =
      queryid === undefined
        ? await queryOfSession(session, pid ?? 0, backend_start ?? '')
        : await queryById(session, queryid);
    const [limit] = await session.query(
      `SELECT setting::int AS bytes FROM pg_settings WHERE name = 'track_activity_query_size'`,
    );
    const checked = explainable(
      query,
      queryid === undefined ? Number(limit?.['bytes']) : Number.MAX_SAFE_INTEGER,
    );
    if ('why' in checked) throw cannotExplain(checked.why);
    return present(query, parameterCount(checked.sql) > 0, await plan(session, checked.sql));
  },
});

async function queryById(session: PostgresSession, queryid: string): Promise<string> {
  const view = await statementStatistics(session);
  if (view === null)
    throw new OpsError('POSTGRES_NO_STATISTICS', 'pg_stat_statements is not available', {
      hint: howToEnableStatistics,
    });
  const [row] = await session.query(
    `SELECT s.query FROM ${view} s WHERE s.queryid = $1::bigint
        AND s.dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1`,
    [queryid],
  );
  if (row === undefined)
    throw gone(`pg_stat_statements has no statement ${queryid} in this database (any more).`);
  return String(row['query']);
}

async function queryOfSession(session: PostgresSession, pid: number, backendStart: string): Promise<string> {
  const [row] = await session.query(
    `SELECT query, datname = current_database() AS here FROM pg_stat_activity WHERE pid = $1::int AND backend_start = $2::timestamptz`,
    [pid, backendStart],
  );
  if (row === undefined) throw gone(`The session pid ${pid} started at ${backendStart} is gone.`);
  if (row['here'] !== true)
    throw cannotExplain('the session is in another database than the one Sentry reads');
  return String(row['query']);
}

/** Options in parentheses: the text cannot add ANALYZE to them. One statement: the extended protocol takes no second. */
async function plan(session: PostgresSession, sql: string): Promise<readonly string[]> {
  try {
    const parameters = parameterCount(sql);
    if (parameters === 0) return await lines(session, `EXPLAIN (FORMAT TEXT) ${sql}`);
    return await planPrepared(session, sql, parameters);
  } catch (error) {
    if (!(error instanceof OpsError) || error.code !== 'POSTGRES_42501') throw error;
    throw new OpsError(error.code, error.message, {
      hint: "EXPLAIN needs the rights of the statement itself: GRANT pg_read_all_data TO <reading role>; for SELECTs. Plans of writes need the write privilege, which Sentry's reading role should not have.",
      cause: error,
    });
  }
}

/** Every version plans it so: EXPLAIN (GENERIC_PLAN) of 16+ does not go through the extended protocol, which takes one statement only. */
async function planPrepared(
  session: PostgresSession,
  sql: string,
  parameters: number,
): Promise<readonly string[]> {
  await session.query('DEALLOCATE ALL');
  await session.query(`SELECT set_config('plan_cache_mode', 'force_generic_plan', false)`);
  await session.query(`PREPARE sentry_explain AS ${sql}`);
  try {
    return await lines(
      session,
      `EXPLAIN (FORMAT TEXT) EXECUTE sentry_explain(${Array(parameters).fill('NULL').join(', ')})`,
    );
  } finally {
    await session.query('DEALLOCATE ALL');
    await session.query('RESET plan_cache_mode');
  }
}

async function lines(session: PostgresSession, sql: string): Promise<readonly string[]> {
  return (await session.query(sql)).map((row) => String(row['QUERY PLAN']));
}

function present(query: string, generic: boolean, plan: readonly string[]): ToolOutput {
  const top = /cost=[\d.]+\.\.([\d.]+) rows=(\d+)/.exec(plan[0] ?? '');
  const scanned = plan.flatMap((line) => /Seq Scan on (\S+)/.exec(line)?.[1] ?? []);
  const data = {
    query: oneLine(query),
    generic,
    total_cost: Number(top?.[1] ?? 0),
    rows_estimate: Number(top?.[2] ?? 0),
    plan_lines: plan.slice(0, 200),
    sequential_scans: [...new Set(scanned)],
  };
  return output(
    [
      `Total cost ${data.total_cost}, ${data.rows_estimate} rows estimated${generic ? '; a generic plan (parameters unknown)' : ''}${scanned.length > 0 ? `; sequential scans of ${data.sequential_scans.join(', ')}` : ''}.`,
      `statement: ${data.query}`,
      ...plan.slice(0, 60),
      ...(plan.length > 60 ? [`… ${plan.length - 60} more plan lines`] : []),
    ],
    data,
  );
}

function gone(message: string): OpsError {
  return new OpsError('GONE', message, {
    hint: 'Look again with postgres_slow_statements or postgres_activity.',
  });
}

function cannotExplain(why: string): OpsError {
  return new OpsError('POSTGRES_CANNOT_EXPLAIN', `This statement cannot be explained: ${why}.`, {
    hint: 'Explain it by its queryid from postgres_slow_statements, or look at postgres_session.',
  });
}
