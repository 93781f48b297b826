import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { ActionOutcome } from '../../../core/action.ts';
import { messageOf, OpsError } from '../../../core/errors.ts';
import { exactTime } from '../read/session-columns.ts';
import type { PostgresSession, Row } from '../system.ts';
import { postgresTool } from '../tool.ts';
import { clockOf, lookAgain, outcomeOfThrow } from './action-outcome.ts';
import { type ChangeableName, changeableSettings, parseSetting } from './changeable-settings.ts';
import { armDeadline, disarmDeadline } from './deadline-guard.ts';

const names = Object.keys(changeableSettings) as [ChangeableName, ...ChangeableName[]];

const input = z
  .strictObject({
    name: z.enum(names, { error: `one of: ${names.join(', ')}` }),
    /** `30s`, `64MB`, `0.05`, `on`. */
    value: z.string().min(1).max(40),
  })
  .superRefine(({ name, value }, context) => {
    if (!(name in changeableSettings)) return;
    const parsed = parseSetting(name, value);
    if ('problem' in parsed) context.addIssue({ code: 'custom', path: ['value'], message: parsed.problem });
  });
type SettingInput = z.infer<typeof input>;

/** The value that is replaced, in pg_settings' unit; where it is from, which decides how it is undone; and who keeps another. */
type SettingGuard = {
  readonly name: string;
  readonly setting: string;
  readonly source: string;
  readonly overrides: number;
};

export const postgresSetSetting = postgresTool.active<SettingInput, SettingGuard>({
  name: 'postgres_set_setting',
  description: `Changes one server setting by ALTER SYSTEM and a reload, for sessions from now on (a session that already idles takes a new timeout at its next statement). Only: ${names.join(', ')}. Values like 30s, 64MB, 0.05, on.`,
  kind: 'active',
  input,
  timeoutMs: 20_000,
  editable: ['value'],
  verbs: {
    does: 'Change',
    did: 'Changed',
    button: 'Change the setting',
    frees: 'What runs into the value of now.',
    costs: 'The whole server: every session gets the new value.',
  },
  command: (parsed) => `${alterSql(parsed)}; SELECT pg_reload_conf()`,
  async preflight(context, parsed) {
    const row = await context.system.act((session) => readSetting(session, parsed.name), context);
    const { setting } = wanted(parsed);
    const unit = row['unit'] === null ? '' : ` × ${row['unit']}`;
    const before = `${row['setting']}${unit}`;
    return {
      guard: {
        name: parsed.name,
        setting: String(row['setting']),
        source: String(row['source']),
        overrides: Number(row['overrides']),
      },
      clock: String(row['clock']),
      lines: [
        `${parsed.name} is ${before} (from ${row['source']}), default ${row['boot_val']}`,
        `it becomes ${setting}${unit}`,
        Number(row['overrides']) === 0
          ? 'no role or database overrides it'
          : `${row['overrides']} roles or databases override it: they keep theirs`,
      ],
      blastRadius: `The whole server: every session that has not set ${parsed.name} itself gets the new value with its next statement. The reload puts into force whatever else was changed in the server’s configuration files and not loaded yet.`,
      undo: undoSql(parsed.name, row),
      risk: 'medium',
    };
  },
  objects: (_, { name }) => [{ kind: 'setting', key: name, label: `setting ${name}` }],
  async run(context, parsed, guard, deadline) {
    const clock = clockOf(deadline);
    return context.system.act(async (session) => {
      const { name, setting, source, overrides } = guard;
      if (
        !(await armDeadline(session, clock, deadline.withinMs, unchanged, [name, setting, source, overrides]))
      )
        return {
          kind: 'failed',
          text: 'Nothing was done: the setting was changed meanwhile, or the deadline had passed.',
        };
      try {
        await session.query(alterSql(parsed));
      } catch (error) {
        return outcomeOfThrow(error);
      }
      return reload(session, parsed);
    }, context);
  },
  look: (context, parsed) =>
    lookAgain(context, async (session) => {
      const row = await readSetting(session, parsed.name);
      return row['setting'] === wanted(parsed).setting ? 'done' : 'not_done';
    }),
  subject: ({ name }) => ({ kind: 'name', name }),
  effect: (parsed) => ({
    steps: [
      {
        tool: 'postgres_settings',
        input: { names: [parsed.name] },
        holds: `result.settings.${parsed.name}.setting == "${wanted(parsed).setting}"`,
        says: `${parsed.name} is ${parsed.value}`,
      },
    ],
    holdMs: 1_000,
    timeoutMs: 20_000,
  }),
});

function wanted({ name, value }: SettingInput): { readonly setting: string; readonly literal: string } {
  const parsed = parseSetting(name, value);
  if ('problem' in parsed)
    throw new OpsError('POSTGRES_SETTING', `${name}: ${parsed.problem}`, {
      hint: 'Give a value within the bounds.',
    });
  return parsed;
}

/** The name is one of a fixed list and the literal is made from a number: nothing of the input stands in it as it came. */
function alterSql(parsed: SettingInput): string {
  return `ALTER SYSTEM SET ${parsed.name} = ${wanted(parsed).literal}`;
}

/** A value that ALTER SYSTEM had set, or may have set (our own session hides where it is from), has to be written again. */
function undoSql(name: string, row: Row): string {
  const written =
    row['from_alter_system'] === true || (row['source'] === 'server' && row['setting'] !== row['boot_val']);
  const unit = row['unit'] === null || Number(row['setting']) < 0 ? '' : String(row['unit']);
  const back = written ? `SET ${name} = '${String(row['setting'])}${unit}'` : `RESET ${name}`;
  return `ALTER SYSTEM ${back}; SELECT pg_reload_conf()`;
}

const overridesSql = (param: string): string =>
  `(SELECT count(*)::int FROM pg_db_role_setting d, unnest(d.setconfig) c WHERE c LIKE ${param}::text || '=%')`;

/** What Sentry's own session has set does not count; see tools/read/postgres/settings. */
const settingSql = (param: string): string => `
  SELECT CASE WHEN s.source = 'session' THEN s.reset_val ELSE s.setting END AS setting, s.unit, s.context, s.boot_val,
         CASE WHEN s.source = 'session' THEN 'server' ELSE s.source END AS source,
         coalesce(s.sourcefile LIKE '%postgresql.auto.conf', false) AS from_alter_system
    FROM pg_settings s WHERE s.name = ${param}::text`;

const unchanged = `EXISTS (SELECT FROM (${settingSql('$3')}) now WHERE now.setting = $4::text AND now.source = $5::text)
  AND ${overridesSql('$3')} = $6::int`;

async function readSetting(session: PostgresSession, name: string): Promise<Row> {
  const [row] = await session.query(
    `SELECT now.*, ${exactTime('clock_timestamp()')} AS clock,
            ${overridesSql('$1')} AS overrides,
            has_function_privilege('pg_reload_conf()', 'EXECUTE') AS may_reload
       FROM (${settingSql('$1')}) now`,
    [name],
  );
  if (row === undefined)
    throw new OpsError('GONE', `This server has no setting ${name}.`, {
      hint: 'It came with a later version of PostgreSQL.',
    });
  if (row['context'] === 'postmaster' || row['context'] === 'internal')
    throw new OpsError(
      'POSTGRES_NEEDS_RESTART',
      `${name} can be changed by a restart only, which Sentry does not do.`,
      {
        hint: 'Change it by hand in a maintenance window.',
      },
    );
  if (row['may_reload'] !== true || !(await mayAlter(session, name)))
    throw new OpsError('POSTGRES_42501', `Sentry's acting role may not change ${name}.`, {
      hint: `GRANT ALTER SYSTEM ON PARAMETER ${name} TO <acting role>; GRANT EXECUTE ON FUNCTION pg_reload_conf() TO <acting role>; (PostgreSQL 15+; before, only a superuser can).`,
    });
  return row;
}

async function mayAlter(session: PostgresSession, name: string): Promise<boolean> {
  const [row] = await session.query(
    `SELECT rolsuper AS super, current_setting('server_version_num')::int AS version FROM pg_roles WHERE rolname = current_user`,
  );
  if (row?.['super'] === true) return true;
  if (Number(row?.['version']) < 150_000) return false;
  const [grant] = await session.query(`SELECT has_parameter_privilege($1::text, 'ALTER SYSTEM') AS may`, [
    name,
  ]);
  return grant?.['may'] === true;
}

/** ALTER SYSTEM is on disk by now; without the reload it takes effect at the next one, so an error here is *unknown*. */
async function reload(session: PostgresSession, parsed: SettingInput): Promise<ActionOutcome> {
  const { setting } = wanted(parsed);
  try {
    await session.query('SELECT pg_reload_conf()');
    await disarmDeadline(session);
    for (let attempt = 0; attempt < 30; attempt += 1) {
      const [row] = await session.query(settingSql('$1'), [parsed.name]);
      if (row?.['setting'] === setting)
        return { kind: 'succeeded', text: `${parsed.name} is ${parsed.value} now, on the whole server.` };
      await sleep(100);
    }
  } catch (error) {
    return {
      kind: 'unknown',
      text: `ALTER SYSTEM was written; the reload may not have happened: ${messageOf(error)}`,
    };
  }
  return {
    kind: 'failed',
    text: `${parsed.name} was written and reloaded, but something overrides it; undo it with ALTER SYSTEM RESET ${parsed.name}.`,
  };
}
