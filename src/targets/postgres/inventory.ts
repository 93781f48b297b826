import { messageOf, OpsError } from '../../core/errors.ts';
import type { Inventory, InventoryItem } from '../../core/inventory.ts';
import type { SessionOptions } from '../../tools/ports.ts';
import { isHiddenSql } from './read/settings.ts';
import { digest, readSchema } from './schema-inventory.ts';
import type { PostgresSession, PostgresSystem, Row } from './system.ts';

const TIMEOUT_MS = 5_000;
/** Of roles, of databases, and of their settings. */
const MOST = 1_000;

/** A part of the inventory: what it is called in the database that is looked at, and how it is read. */
interface Part {
  readonly name: string;
  readonly read: (session: PostgresSession, part: string) => Promise<readonly InventoryItem[]>;
}

/**
 * The server, its settings, roles and extensions, and the definitions in the database of the reading role. From the catalogue alone: no
 * lock, no table is read, and no function of the target runs.
 */
export async function postgresInventory(system: PostgresSystem, signal: AbortSignal): Promise<Inventory> {
  const options = { timeoutMs: TIMEOUT_MS, signal };
  const database = await system.read(async (session) => {
    const [row] = await session.query('SELECT current_database() AS name');
    return String(row?.['name']);
  }, options);
  const inventory = {
    items: [] as InventoryItem[],
    empty: [] as string[],
    unread: [] as { part: string; why: string }[],
  };
  // One after the other, each as a use of its own: a tool that is called meanwhile waits for one part at most.
  for (const { name, read } of parts(database, await timelineOf(system, options)))
    try {
      const items = await system.read((session) => read(session, name), options);
      inventory.items.push(...items);
      if (items.length === 0) inventory.empty.push(name);
    } catch (error) {
      signal.throwIfAborted();
      inventory.unread.push({ part: name, why: messageOf(error) });
    }
  return inventory;
}

const parts = (database: string, timeline: string | null): readonly Part[] => [
  { name: 'server', read: readServer(timeline) },
  { name: 'settings', read: readSettings },
  { name: 'roles', read: readRoles },
  { name: 'settings of roles and databases', read: readRoleSettings },
  { name: 'databases', read: readDatabases },
  { name: `extensions of ${database}`, read: readExtensions },
  { name: `schema of ${database}`, read: readSchema },
];

const text = (row: Row | undefined, column: string): string => String(row?.[column] ?? '');

/** By our clock, for theirs may be wrong. */
const ago = (seconds: unknown): { readonly since?: string } =>
  typeof seconds === 'number' ? { since: new Date(Date.now() - seconds * 1_000).toISOString() } : {};

/** Null where the server or the role does not let it be known. */
async function timelineOf(system: PostgresSystem, options: SessionOptions): Promise<string | null> {
  const sql = `
    SELECT CASE WHEN pg_is_in_recovery() THEN (SELECT timeline_id FROM pg_control_checkpoint())
                ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int END AS timeline`;
  try {
    return await system.read(async (session) => text((await session.query(sql))[0], 'timeline'), options);
  } catch (error) {
    options.signal.throwIfAborted();
    if (!(error instanceof OpsError)) throw error;
    return null;
  }
}

const readServer =
  (timeline: string | null): Part['read'] =>
  async (session, part) => {
    const [row] = await session.query(`
      SELECT current_setting('server_version') AS version, pg_is_in_recovery() AS is_standby,
             extract(epoch FROM pg_postmaster_start_time())::text AS started,
             extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())::float8 AS age`);
    const of = { part, kind: 'infrastructure', objects: [], mayComeAndGo: false } as const;
    const restart = { told: { changed: 'was restarted' }, ...ago(row?.['age']) };
    return [
      { ...of, key: 'version', name: 'PostgreSQL', value: text(row, 'version') },
      { ...of, key: 'role', name: 'the role', value: row?.['is_standby'] === true ? 'standby' : 'primary' },
      // Another server that took over was not restarted: its start is another thing.
      {
        ...of,
        key: `start on timeline ${timeline}`,
        name: '',
        value: `#${text(row, 'started')}`,
        ...restart,
      },
      ...(timeline === null
        ? []
        : [
            {
              ...of,
              key: 'timeline',
              name: '',
              value: timeline,
              told: { changed: 'failed over to another timeline' },
            },
          ]),
    ];
  };

/**
 * What new sessions get; what Sentry sets for its own does not count. What a role or a database has of its own is another part: sessions
 * that are open already keep what they began with. A setting that is not seen is not gone, for rights may differ.
 */
async function readSettings(session: PostgresSession, part: string): Promise<readonly InventoryItem[]> {
  const value = "CASE WHEN source = 'session' THEN reset_val ELSE setting END";
  const rows = await session.query(`
    SELECT name, ${secretOr('name', value)} AS value, unit, pending_restart,
           CASE WHEN source = 'configuration file'
                THEN extract(epoch FROM clock_timestamp() - greatest(pg_conf_load_time(), pg_postmaster_start_time()))::float8 END AS age
      FROM pg_settings
     WHERE source <> 'client' AND context NOT IN ('backend', 'superuser-backend')
       AND name NOT IN ('server_version', 'server_version_num', 'in_hot_standby', 'application_name', 'sentry.own_roles', 'role',
                        'session_authorization', 'is_superuser', 'transaction_isolation', 'transaction_read_only', 'transaction_deferrable')
       AND lower(name) NOT IN (
         SELECT lower(split_part(c.config, '=', 1)) FROM pg_db_role_setting s CROSS JOIN LATERAL unnest(s.setconfig) AS c (config)
          WHERE s.setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = session_user))
            AND s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database())))
     ORDER BY name`);
  return rows.map((row) => {
    const name = text(row, 'name');
    const now = withUnit(text(row, 'value'), row['unit']);
    return {
      part,
      key: name,
      name,
      kind: 'config',
      value: row['pending_restart'] === true ? `${now} (another value waits for a restart)` : now,
      objects: [],
      mayComeAndGo: false,
      ...ago(row['age']),
    };
  });
}

const scales: readonly (readonly [unit: string, factor: number, next: string])[] = [
  ['B', 1_024, 'kB'],
  ['kB', 1_024, 'MB'],
  ['MB', 1_024, 'GB'],
  ['ms', 1_000, 's'],
  ['s', 60, 'min'],
  ['min', 60, 'h'],
];

/** As people write it: 4096 × kB is 4MB. */
function withUnit(value: string, given: unknown): string {
  if (typeof given !== 'string' || !/^\d+$/.test(value)) return value;
  const [, times = '1', base = given] = /^(\d+)(\D+)$/.exec(given) ?? [];
  let [amount, unit] = [Number(value) * Number(times), base];
  for (const [from, factor, next] of scales)
    if (unit === from && amount > 0 && amount % factor === 0) [amount, unit] = [amount / factor, next];
  return `${amount}${unit}`;
}

async function readRoles(session: PostgresSession, part: string): Promise<readonly InventoryItem[]> {
  const rows = await session.query(`
    SELECT r.rolname AS name, r.rolsuper AS super, r.rolcanlogin AS login, r.rolconnlimit AS connections, r.rolreplication AS replication,
           r.rolbypassrls AS bypass, r.rolinherit AS inherits, r.rolvaliduntil::text AS until,
           (SELECT string_agg(g.rolname, ', ' ORDER BY g.rolname) FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid
             WHERE m.member = r.oid) AS groups
      FROM pg_roles r WHERE r.rolname !~ '^pg_' ORDER BY r.rolname LIMIT ${MOST + 1}`);
  if (rows.length > MOST) throw new Error(`it has more than ${MOST} roles`);
  return rows.map((row) => {
    const limit = Number(row['connections']);
    const can = [
      row['login'] === true ? 'login' : 'no login',
      ...(row['super'] === true ? ['superuser'] : []),
      ...(row['replication'] === true ? ['replication'] : []),
      ...(row['bypass'] === true ? ['bypasses row security'] : []),
      ...(row['inherits'] === true ? [] : ['does not inherit']),
      ...(limit === -1 ? [] : [`at most ${limit} connections`]),
      ...(row['until'] === null ? [] : [`password valid until ${text(row, 'until')}`]),
      ...(row['groups'] === null ? [] : [`member of ${text(row, 'groups')}`]),
    ];
    const name = text(row, 'name');
    return {
      part,
      key: name,
      name: `role ${name}`,
      kind: 'config',
      value: can.join(', '),
      objects: [],
      mayComeAndGo: true,
      told: { came: 'created', went: 'dropped' },
    };
  });
}

async function readRoleSettings(session: PostgresSession, part: string): Promise<readonly InventoryItem[]> {
  const rows = await session.query(`
    SELECT r.rolname AS role, d.datname AS database, split_part(c.config, '=', 1) AS name,
           ${secretOr("split_part(c.config, '=', 1)", "substr(c.config, strpos(c.config, '=') + 1)")} AS value
      FROM pg_db_role_setting s
      LEFT JOIN pg_roles r ON r.oid = s.setrole
      LEFT JOIN pg_database d ON d.oid = s.setdatabase
     CROSS JOIN LATERAL unnest(s.setconfig) AS c (config)
     ORDER BY 1, 2, 3 LIMIT ${MOST + 1}`);
  if (rows.length > MOST) throw new Error(`it has more than ${MOST} such settings`);
  return rows.map((row) => {
    const name = text(row, 'name');
    const whose = [
      ...(row['role'] === null ? [] : [`role ${text(row, 'role')}`]),
      ...(row['database'] === null ? [] : [`database ${text(row, 'database')}`]),
    ].join(' in ');
    return {
      part,
      key: JSON.stringify([row['role'], row['database'], name]),
      name: `${name} of ${whose}`,
      kind: 'config',
      value: text(row, 'value'),
      objects: [],
      mayComeAndGo: true,
      told: { came: 'was set', went: 'was reset' },
    };
  });
}

async function readDatabases(session: PostgresSession, part: string): Promise<readonly InventoryItem[]> {
  const rows = await session.query(`
    SELECT datname AS name, datconnlimit AS connections, datallowconn AS allows
      FROM pg_database ORDER BY datname LIMIT ${MOST + 1}`);
  if (rows.length > MOST) throw new Error(`it has more than ${MOST} databases`);
  return rows.map((row) => {
    const [name, limit] = [text(row, 'name'), Number(row['connections'])];
    return {
      part,
      key: name,
      name: `database ${name}`,
      kind: 'config',
      value:
        row['allows'] === true
          ? limit === -1
            ? 'any number of connections'
            : `at most ${limit} connections`
          : 'no connections',
      objects: [name],
      mayComeAndGo: true,
      told: { came: 'created', went: 'dropped' },
    };
  });
}

async function readExtensions(session: PostgresSession, part: string): Promise<readonly InventoryItem[]> {
  const rows = await session.query(
    'SELECT extname AS name, extversion AS version FROM pg_extension ORDER BY extname',
  );
  return rows.map((row) => ({
    part,
    key: text(row, 'name'),
    name: `extension ${text(row, 'name')}`,
    kind: 'migration',
    value: text(row, 'version'),
    objects: [],
    mayComeAndGo: true,
    told: { came: 'created', went: 'dropped' },
  }));
}

/** Secrets do not leave the server: two bytes see a change, and give nothing away. */
const secretOr = (name: string, value: string): string =>
  `CASE WHEN ${isHiddenSql(name)} THEN '#' || ${digest(value, 2)} ELSE ${value} END`;
