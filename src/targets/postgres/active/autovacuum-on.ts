import { z } from 'zod';
import { OpsError } from '../../../core/errors.ts';
import { foreignCode, noForeignTrigger } from '../read/foreign-code.ts';
import { exactTime } from '../read/session-columns.ts';
import type { PostgresSession, Row } from '../system.ts';
import { postgresTool } from '../tool.ts';
import { clockOf, lookAgain, outcomeOfThrow } from './action-outcome.ts';
import { armDeadline, disarmDeadline } from './deadline-guard.ts';
import { identifier, quoteIdentifier } from './identifier.ts';

const input = z.strictObject({ schema: identifier.default('public'), table: identifier });
type TableInput = z.infer<typeof input>;

/** The table itself, whatever bears its name by then, and all its storage parameters as they were. */
type TableGuard = { readonly oid: number; readonly options: string };

export const postgresAutovacuumOn = postgresTool.active<TableInput, TableGuard>({
  name: 'postgres_autovacuum_on',
  description:
    'Takes back that autovacuum is switched off for one table (its storage parameter autovacuum_enabled): autovacuum comes to it again as to any other. It vacuums nothing by itself and locks out neither reads nor writes.',
  kind: 'active',
  input,
  timeoutMs: 20_000,
  verbs: {
    does: 'Switch autovacuum on for',
    did: 'Switched autovacuum on for',
    button: 'Switch autovacuum on',
    frees: 'The space of dead rows, from now on.',
    costs: 'Disk I/O whenever it works.',
  },
  command: resetSql,
  async preflight(context, { schema, table }) {
    const row = await context.system.act(async (session) => {
      const found = await readTable(session, schema, table);
      await refuseTriggers(session);
      return found;
    }, context);
    if (row['enabled'] === true)
      throw new OpsError('GONE', `Autovacuum is not switched off for ${schema}.${table}.`, {
        hint: 'If autovacuum does not come, look at the server: postgres_settings, autovacuum.',
      });
    return {
      guard: { oid: Number(row['oid']), options: String(row['options']) },
      clock: String(row['clock']),
      lines: [
        `${schema}.${table}: ${row['options']}`,
        `last autovacuum ${row['last_autovacuum'] ?? 'never'}, last vacuum ${row['last_vacuum'] ?? 'never'}`,
        row['server_wide'] === true
          ? 'autovacuum is on for the server'
          : 'autovacuum is OFF for the whole server: it does not come to this table before that is changed as well',
      ],
      blastRadius: `One table: autovacuum works on it again, which costs disk I/O when it does. Reads and writes go on.`,
      undo: `ALTER TABLE ${nameOf({ schema, table })} SET (autovacuum_enabled = false)`,
      risk: 'low',
      about: { database: Number(row['database_oid']) },
    };
  },
  objects: ({ schema, table }, { oid }, { about }) => [
    {
      kind: 'table',
      key: `${(about as { readonly database?: number } | undefined)?.database}/${oid}`,
      label: `table ${schema}.${table}`,
    },
  ],
  async run(context, parsed, guard, deadline) {
    const clock = clockOf(deadline);
    return context.system.act(async (session) => {
      const params = [nameOf(parsed), guard.oid, guard.options];
      if (!(await armDeadline(session, clock, deadline.withinMs, unchanged, params)))
        return {
          kind: 'failed',
          text: 'Nothing was done: the table or its storage parameters were changed meanwhile, somebody’s event trigger would run, or the deadline had passed.',
        };
      try {
        await session.query(resetSql(parsed));
      } catch (error) {
        return outcomeOfThrow(error);
      }
      // It is done; that the connection is lost right after it changes nothing.
      await disarmDeadline(session).catch(() => undefined);
      return {
        kind: 'succeeded',
        text: `Autovacuum is no longer switched off for ${parsed.schema}.${parsed.table}.`,
      };
    }, context);
  },
  look: (context, { schema, table }, guard) =>
    lookAgain(context, async (session) => {
      const row = await readTable(session, schema, table);
      if (Number(row['oid']) !== guard.oid) return 'cannot_tell';
      if (row['enabled'] === true) return 'done';
      return row['options'] === guard.options ? 'not_done' : 'cannot_tell';
    }),
  subject: ({ schema, table }) => ({ kind: 'table', schema, table }),
  effect: ({ schema, table }) => ({
    steps: [
      {
        tool: 'postgres_table_health',
        input: { schema, table },
        holds: 'result.worst.autovacuum_enabled',
        says: `autovacuum is on for ${schema}.${table}`,
      },
    ],
    holdMs: 1_000,
    timeoutMs: 20_000,
  }),
});

/** ALTER TABLE calls event triggers, as whoever alters: as Sentry. */
async function refuseTriggers(session: PostgresSession): Promise<void> {
  const [first] = await foreignCode.eventTriggers(session);
  if (first === undefined) return;
  throw new OpsError(
    'POSTGRES_FOREIGN_CODE',
    `Altering a table would run ${first}, which could be anybody's code running as Sentry.`,
    { hint: 'A person has to do it by hand, or the function needs an owner who is a superuser.' },
  );
}

const nameOf = ({ schema, table }: TableInput): string =>
  `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`;

function resetSql(parsed: TableInput): string {
  return `ALTER TABLE ${nameOf(parsed)} RESET (autovacuum_enabled)`;
}

const optionsSql = `coalesce(array_to_string(c.reloptions, ', '), '')`;

const unchanged = `EXISTS (SELECT FROM pg_class c
  WHERE c.oid = to_regclass($3::text) AND c.oid = $4::oid AND ${optionsSql} = $5::text) AND ${noForeignTrigger}`;

async function readTable(session: PostgresSession, schema: string, table: string): Promise<Row> {
  const [row] = await session.query(tableSql, [schema, table]);
  if (row === undefined)
    throw new OpsError('GONE', `There is no table ${schema}.${table} in this database.`, {
      hint: 'Take schema and table from postgres_table_health. A partitioned table has none of its own: its partitions do.',
    });
  if (row['may'] !== true)
    throw new OpsError(
      'POSTGRES_42501',
      `Sentry's acting role may not change storage parameters of ${schema}.${table}.`,
      {
        hint: `Only its owner may: GRANT ${quoteIdentifier(String(row['owner']))} TO <acting role>.`,
      },
    );
  return row;
}

const tableSql = `
  SELECT c.oid::bigint AS oid, (SELECT oid::bigint FROM pg_database WHERE datname = current_database()) AS database_oid,
         ${optionsSql} AS options,
         coalesce((SELECT o.option_value::boolean FROM pg_options_to_table(c.reloptions) o
                    WHERE o.option_name = 'autovacuum_enabled'), true) AS enabled,
         current_setting('autovacuum')::boolean AND current_setting('track_counts')::boolean AS server_wide,
         ${exactTime('s.last_vacuum')} AS last_vacuum, ${exactTime('s.last_autovacuum')} AS last_autovacuum,
         pg_has_role(c.relowner, 'USAGE') AS may, pg_get_userbyid(c.relowner) AS owner,
         ${exactTime('clock_timestamp()')} AS clock
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_stat_all_tables s ON s.relid = c.oid
   WHERE n.nspname = $1::text AND c.relname = $2::text AND c.relkind IN ('r', 'm')`;
