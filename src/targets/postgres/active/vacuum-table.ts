import { z } from 'zod';
import type { TouchedObject } from '../../../core/denial.ts';
import { messageOf, OpsError } from '../../../core/errors.ts';
import type { Preflight } from '../../../tools/define.ts';
import { age, bytes } from '../../format.ts';
import { exclusivelyLocked, sizeWithoutWaiting } from '../read/relation-size.ts';
import { exactTime } from '../read/session-columns.ts';
import type { PostgresSession, Row } from '../system.ts';
import { postgresTool } from '../tool.ts';
import { clockOf, lookAgain, outcomeOfThrow } from './action-outcome.ts';
import { armDeadline, disarmDeadline } from './deadline-guard.ts';
import { identifier, quoteIdentifier } from './identifier.ts';

const input = z.strictObject({
  schema: identifier.default('public'),
  table: identifier,
  /** Also collect the planner's statistics. */
  analyze: z.boolean().default(true),
});
type VacuumInput = z.infer<typeof input>;

/** A vacuum by hand in between makes the plan void; autovacuum's do not. */
type VacuumGuard = { readonly oid: number; readonly last_vacuum: string | null };

export const postgresVacuumTable = postgresTool.active<VacuumInput, VacuumGuard>({
  name: 'postgres_vacuum_table',
  description:
    'Runs VACUUM (by default with ANALYZE) on one table: dead rows become reusable space and the planner gets new statistics. It does not lock out reads or writes and does not give space back to the disk (no FULL). For bloat and autovacuum that is behind.',
  kind: 'active',
  input,
  timeoutMs: 600_000,
  // It removes nothing that an open transaction may still see; once that has ended, it does.
  isRepeatable: true,
  editable: ['analyze'],
  verbs: {
    does: 'Vacuum',
    did: 'Vacuumed',
    button: 'Vacuum the table',
    frees: 'The space of dead rows, for new ones.',
    costs: 'Disk I/O while it reads the table.',
  },
  command: vacuumSql,
  async preflight(context, { schema, table }) {
    const row = await context.system.act((session) => readTable(session, schema, table), context);
    const holder =
      row['holder'] === null
        ? 'no transaction of more than 5 s holds back the removal of dead rows'
        : `rows newer than ${row['holder']} cannot be removed yet`;
    return {
      guard: { oid: Number(row['oid']), last_vacuum: (row['last_vacuum'] ?? null) as string | null },
      clock: String(row['clock']),
      lines: [
        `${schema}.${table}: ${row['dead_rows']} dead rows, ${row['live_rows']} live, ${bytes(row['table_bytes'])}`,
        `last vacuum ${row['last_vacuum'] ?? 'never'}, last autovacuum ${row['last_autovacuum'] ?? 'never'}`,
        row['vacuuming'] === true
          ? 'a vacuum of it runs already: this one would wait 5 s, then give up'
          : 'no vacuum of it runs now',
        holder,
      ],
      blastRadius: `One table, ${bytes(row['table_bytes'])}: reads it once, which costs disk I/O. Reads and writes go on; only changes of its structure wait.`,
      undo: 'Nothing to undo: no row that anybody can see is changed.',
      losesNothing: true,
      risk: 'low',
      about: { database: Number(row['database_oid']), parts: row['parts'] as readonly number[] },
    };
  },
  objects: tableObjects,
  async run(context, parsed, guard, deadline) {
    const clock = clockOf(deadline);
    return context.system.act(async (session) => {
      const relation = `${quoteIdentifier(parsed.schema)}.${quoteIdentifier(parsed.table)}`;
      if (
        !(await armDeadline(session, clock, deadline.withinMs, sameTable, [
          relation,
          guard.oid,
          guard.last_vacuum,
        ]))
      )
        return {
          kind: 'failed',
          text: 'Nothing was done: the table was replaced or vacuumed by hand meanwhile, or the deadline had passed.',
        };
      const from = performance.now();
      try {
        await session.query(vacuumSql(parsed));
      } catch (error) {
        if (error instanceof OpsError && error.code === 'POSTGRES_57014')
          return {
            kind: 'failed',
            text: `VACUUM was stopped after ${age((performance.now() - from) / 1_000)}; what it had cleaned stays clean.`,
          };
        return outcomeOfThrow(error);
      }
      return {
        kind: 'succeeded',
        text: `${vacuumSql(parsed)} took ${age((performance.now() - from) / 1_000)}. ${await after(session, guard.oid)}`,
      };
    }, context);
  },
  look: (context, { schema, table }, guard) =>
    lookAgain(context, async (session) => {
      const row = await readTable(session, schema, table);
      if (Number(row['oid']) !== guard.oid || row['vacuuming'] === true) return 'cannot_tell';
      return (row['last_vacuum'] ?? null) === guard.last_vacuum ? 'not_done' : 'done';
    }),
  subject: ({ schema, table }) => ({ kind: 'table', schema, table }),
  shownBy: ({ schema, table }) => ({
    tool: 'postgres_table_health',
    input: { schema, table },
    measures: ['dead_rows_percent'],
  }),
  effect: ({ schema, table }) => ({
    steps: [
      {
        tool: 'postgres_table_health',
        input: { schema, table },
        holds: 'result.worst.over_threshold == false',
        says: `${schema}.${table} is below its autovacuum threshold`,
      },
    ],
    holdMs: 2_000,
    timeoutMs: 60_000,
  }),
});

const sameTable = `to_regclass($3::text)::oid = $4::oid
  AND (SELECT ${exactTime('pg_stat_get_last_vacuum_time($4::oid)')}) IS NOT DISTINCT FROM $5::text`;

/** The table in its database, and with a partitioned one its partitions: VACUUM goes through them all. */
function tableObjects(
  { schema, table }: VacuumInput,
  { oid }: VacuumGuard,
  { about }: Preflight,
): readonly TouchedObject[] {
  const { database, parts = [] } = (about ?? {}) as {
    readonly database?: number;
    readonly parts?: readonly number[];
  };
  return [oid, ...parts].map((each) => ({
    kind: 'table',
    key: `${database}/${each}`,
    label: `table ${schema}.${table}`,
  }));
}

function vacuumSql({ schema, table, analyze }: VacuumInput): string {
  return `VACUUM ${analyze ? '(ANALYZE) ' : ''}${quoteIdentifier(schema)}.${quoteIdentifier(table)}`;
}

async function readTable(session: PostgresSession, schema: string, table: string): Promise<Row> {
  const [row] = await session.query(tableSql, [schema, table]);
  if (row === undefined)
    throw new OpsError('GONE', `There is no table ${schema}.${table} in this database.`, {
      hint: 'Take schema and table from postgres_table_health.',
    });
  // Without the right VACUUM only warns and does nothing, which would look like success.
  if (row['may'] !== true)
    throw new OpsError('POSTGRES_42501', `Sentry's acting role may not vacuum ${schema}.${table}.`, {
      hint: String(row['grant_that_helps']),
    });
  return row;
}

const tableSql = `
  WITH ${exclusivelyLocked}
  SELECT c.oid::bigint AS oid, (SELECT oid::bigint FROM pg_database WHERE datname = current_database()) AS database_oid,
         to_json(CASE WHEN c.relkind = 'p' THEN ARRAY(SELECT relid::oid::bigint FROM pg_partition_tree(c.oid) WHERE relid <> c.oid)
                      ELSE '{}' END) AS parts,
         ${sizeWithoutWaiting('pg_relation_size')} AS table_bytes,
         s.n_dead_tup AS dead_rows, s.n_live_tup AS live_rows,
         ${exactTime('s.last_vacuum')} AS last_vacuum, ${exactTime('s.last_autovacuum')} AS last_autovacuum,
         EXISTS (SELECT FROM pg_stat_progress_vacuum p WHERE p.relid = c.oid AND p.datid = (SELECT oid FROM pg_database WHERE datname = current_database())) AS vacuuming,
         CASE WHEN current_setting('server_version_num')::int >= 170000 THEN has_table_privilege(c.oid, 'MAINTAIN')
              ELSE pg_has_role(c.relowner, 'USAGE') END AS may,
         ${maintainGrant('c')} AS grant_that_helps,
         (SELECT 'the transaction of pid ' || a.pid || ' (' || coalesce(nullif(a.application_name, ''), a.usename::text) || '), ' ||
                 round(extract(epoch FROM clock_timestamp() - a.xact_start)) || ' s old'
            FROM pg_stat_activity a
           WHERE a.backend_xmin IS NOT NULL AND a.datname = current_database() AND a.pid <> pg_backend_pid()
             AND a.xact_start < clock_timestamp() - interval '5 seconds'
           ORDER BY age(a.backend_xmin) DESC LIMIT 1) AS holder,
         ${exactTime('clock_timestamp()')} AS clock
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_stat_all_tables s ON s.relid = c.oid
   WHERE n.nspname = $1::text AND c.relname = $2::text AND c.relkind IN ('r', 'm', 'p')`;

/**
 * SQL: what lets the acting role vacuum `alias`, a row of pg_class, on this version of the server. Before PostgreSQL 17 only
 * the owner may, and nobody is advised to make the acting role a superuser.
 */
export function maintainGrant(alias: string, version = `current_setting('server_version_num')::int`): string {
  return `CASE WHEN ${version} >= 170000 THEN format('GRANT MAINTAIN ON %s TO %I;', ${alias}.oid::regclass, current_user)
               WHEN (SELECT rolsuper FROM pg_roles WHERE oid = ${alias}.relowner)
                 THEN 'Its owner is a superuser: a person has to vacuum it, or to give it an owner that is none.'
               ELSE format('GRANT %I TO %I;', pg_get_userbyid(${alias}.relowner), current_user) END`;
}

/** The vacuum has been done; not being able to read what it achieved does not change that. */
async function after(session: PostgresSession, oid: number): Promise<string> {
  try {
    await disarmDeadline(session);
    const [row] = await session.query(
      'SELECT n_dead_tup AS dead FROM pg_stat_all_tables WHERE relid = $1::oid',
      [oid],
    );
    return `${row?.['dead'] ?? 'unknown'} dead rows are left.`;
  } catch (error) {
    return `How many dead rows are left could not be read: ${messageOf(error)}`;
  }
}
