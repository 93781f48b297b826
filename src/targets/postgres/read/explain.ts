import { z } from 'zod';
import { OpsError } from '../../../core/errors.ts';
import type { ToolOutput } from '../../../tools/define.ts';
import { oneLine } from '../../format.ts';
import type { OwnPostgresSession, PostgresSession } from '../system.ts';
import { postgresTool } from '../tool.ts';
import { explainable, withoutLeadingComments } from './explainable.ts';
import { cannotExplain, planSafely, type SafePlan } from './plan-safely.ts';
import { output } from './postgres-read-tool.ts';
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
export const postgresExplain = postgresTool.read({
  name: 'postgres_explain',
  description:
    "The plan (plain EXPLAIN) of a reading statement by queryid from postgres_slow_statements, or of a session's current statement by pid and backend_start. Nothing is run but what planning runs, so what reaches code of anybody but a superuser is refused. Needs a free connection slot.",
  kind: 'diagnostic',
  input,
  timeoutMs: 15_000,
  async run(context, { queryid, pid, backend_start }) {
    const { system } = context;
    const { query, maxBytes } = await system.read(
      async (session) =>
        queryid === undefined
          ? {
              query: await queryOfSession(session, pid ?? 0, backend_start ?? ''),
              maxBytes: await cutAt(session),
            }
          : { query: await queryById(session, queryid), maxBytes: Number.MAX_SAFE_INTEGER },
      context,
    );
    const checked = explainable(query, maxBytes);
    if ('why' in checked) throw cannotExplain(checked.why);
    return present(query, await system.readAlone((session) => plan(session, checked.sql), context));
  },
});

/** Bytes of a statement that the server keeps for pg_stat_activity. */
async function cutAt(session: PostgresSession): Promise<number> {
  const [limit] = await session.query(
    `SELECT setting::int AS bytes FROM pg_settings WHERE name = 'track_activity_query_size'`,
  );
  return Number(limit?.['bytes']);
}

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

async function plan(session: OwnPostgresSession, sql: string): Promise<SafePlan> {
  if (/^(insert|update|delete|merge)\b/i.test(withoutLeadingComments(sql)))
    throw cannotExplain('it writes, and only reading statements can be analysed before they are planned');
  try {
    return await planSafely(session, sql);
  } catch (error) {
    if (!(error instanceof OpsError) || error.code !== 'POSTGRES_42501') throw error;
    throw new OpsError(error.code, error.message, {
      hint: 'EXPLAIN needs the rights of the statement itself: GRANT pg_read_all_data TO <reading role>;',
      cause: error,
    });
  }
}

function present(query: string, { generic, lines: plan }: SafePlan): ToolOutput {
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
