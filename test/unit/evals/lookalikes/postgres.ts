import type { Json } from '../../../../src/core/tool-call.ts';
import type { Lookalike, Seen } from './lookalike.ts';

const postgres = (alert: string, sees: readonly Seen[], says: RegExp): Lookalike => ({
  alert,
  domain: 'postgres',
  sees,
  says,
});
const connections = (app: Record<string, Json>, active = 0): Seen => ({
  tool: 'postgres_connections',
  data: {
    used: 90,
    usable: 97,
    free: 7,
    used_percent: 92.8,
    idle_count: 90 - active,
    idle_in_transaction_count: 0,
    by_state: [
      { state: 'idle', sessions: 90 - active },
      { state: 'active', sessions: active },
    ],
    by_application: [],
    top_application: { application_name: 'shop', user: 'shop', sessions: 80, idle: 80, ...app },
  },
});
const nobodyWaits: Seen = { tool: 'postgres_blocking_tree', data: { blocked_count: 0, hidden_count: 0 } };
const nobodyIdle: Seen = {
  tool: 'postgres_idle_in_transaction',
  args: { min_seconds: 5 },
  data: { idle_count: 0 },
};
const checkpoints = (requested: number, walBytes: number, more: Record<string, Json> = {}): Seen => ({
  tool: 'postgres_checkpoints',
  data: {
    timed: 400,
    requested,
    requested_percent: 10,
    max_wal_bytes: 1e9,
    checkpoint_timeout_seconds: 300,
    wal_written_bytes: walBytes,
    wal_dir_bytes: 5e8,
    archive_mode: 'on',
    archive_failing: false,
    ...more,
  },
});
const replication = (data: Record<string, Json>): Seen => ({
  tool: 'postgres_replication',
  data: { is_standby: false, replica_count: 0, replicas: [], slot_count: 0, slots: [], ...data },
});
const bloated = { schema: 'public', table: 'lines', dead_rows: 9e5, live_rows: 1e6, dead_percent: 47 };
const health = (args: Record<string, Json> = {}): Seen => {
  const row = {
    ...bloated,
    over_threshold: true,
    vacuum_threshold: 2e5,
    vacuuming: false,
    autovacuum_enabled: false,
    seconds_since_vacuum: 9e4,
  };
  return {
    tool: 'postgres_table_health',
    args,
    text: 'public.lines | 1000000 | 900000 (over threshold) | OFF',
    data: { worst: row, tables: [row], autovacuum: { enabled: true } },
  };
};
const holder = (data: Record<string, Json>): Seen => ({
  tool: 'postgres_xid_age',
  data: { holders: [{ pid: null, backend_start: null, age_seconds: null, ...data }] },
});
const idleSession = (part: Record<string, Json>): Record<string, Json> => ({
  backend_start: 'then',
  application_name: 'billing',
  user: 'app',
  has_written: true,
  holds_back_vacuum: true,
  blocks_count: 0,
  locks_held: 1,
  state_age_seconds: 70,
  xact_age_seconds: 70,
  ...part,
});
const idleSessions = (sessions: readonly Record<string, Json>[]): Seen => ({
  tool: 'postgres_idle_in_transaction',
  args: { min_seconds: 0 },
  text: sessions.map(({ pid }) => `${pid as number} | then`).join('\n'),
  data: { idle_count: sessions.length, hidden_count: 0, sessions: [...sessions] },
});
export const postgresLookalikes: Readonly<Record<string, Lookalike>> = {
  'the connections of a pooler': postgres(
    'TooManyConnections',
    [connections({ application_name: 'pgbouncer' }), nobodyWaits, nobodyIdle],
    /pooler/,
  ),
  'busy connections, while nobody could read who waits for whom': postgres(
    'TooManyConnections',
    [connections({ idle: 0 }, 80), nobodyIdle],
    /does not say why/,
  ),
  'checkpoints that somebody asks for': postgres(
    'PostgresCheckpoints',
    [checkpoints(60, 5e11), checkpoints(66, 5e11 + 4e6)],
    /somebody asks/,
  ),
  'a full disk beside a small pg_wal': postgres(
    'FreeStorageSpaceLow',
    [checkpoints(60, 1, { archive_failing: true, last_failed_wal: '0A' }), replication({})],
    /not what takes the disk/,
  ),
  'a replica that is being built': postgres(
    'ReplicationLag',
    [
      replication({
        replica_count: 1,
        replicas: [{ application_name: 'pg_basebackup', state: 'backup', lag_bytes: null }],
      }),
    ],
    /being built/,
  ),
  'the slot of a replica that is being built': postgres(
    'ReplicationSlotInactive',
    [
      replication({
        slot_count: 1,
        slots: [{ slot_name: 'b', active: false, temporary: false, retained_bytes: 3e8 }],
        replicas: [{ application_name: 'pg_basebackup', state: 'backup' }],
      }),
    ],
    /base backup/,
  ),
  'a cold cache, beside counts of long ago': postgres(
    'CacheHitRatioLow',
    [
      {
        tool: 'postgres_cache_hit',
        args: { sample_seconds: 5 },
        data: { recent_hit_percent: 30, hit_percent: 99, recent_reads: 9e4, sample_seconds: 5 },
      },
      { tool: 'postgres_long_transactions', args: { min_seconds: 5 }, data: { query_count: 0 } },
      {
        tool: 'postgres_index_use',
        data: {
          sequential: [
            {
              schema: 'public',
              table: 'a',
              live_rows: 9e6,
              seq_scans: 9,
              index_scans: 1,
              rows_per_scan: 9e6,
            },
          ],
        },
      },
    ],
    /no single query or table/,
  ),
  'a report of a minute beside a table that nobody vacuums': {
    ...postgres(
      'TableBloat',
      [
        health(),
        holder({
          kind: 'session',
          name: 'report',
          pid: 4,
          backend_start: 'x',
          xmin_age: 400,
          age_seconds: 75,
        }),
        health({ schema: 'public', table: 'lines' }),
      ],
      /switched off/,
    ),
    verdict: 'cause_found',
  },
  'a logical slot beside a table that nobody vacuums': {
    ...postgres(
      'TableBloat',
      [
        health(),
        holder({ kind: 'slot', name: 'cdc', xmin_age: 90_000, catalog_only: true }),
        health({ schema: 'public', table: 'lines' }),
      ],
      /switched off/,
    ),
    verdict: 'cause_found',
  },
  'a backup between two tables': postgres(
    'IdleInTransaction',
    [
      idleSessions([
        idleSession({ pid: 4, application_name: 'pg_dump', has_written: false, locks_held: 90 }),
      ]),
    ],
    /backup/,
  ),
  'the session that was alerted on, beside a backup and one that began since': {
    ...postgres(
      'IdleInTransaction',
      [
        idleSessions([
          idleSession({ pid: 4, application_name: 'pg_dump', locks_held: 90, xact_age_seconds: 900 }),
          idleSession({ pid: 5, blocks_count: 1, xact_age_seconds: 4 }),
          idleSession({ pid: 6, application_name: 'mailer' }),
        ]),
        {
          tool: 'postgres_session',
          args: { pid: 6, backend_start: 'then' },
          text: 'pid 6 (app, mailer), backend_start then: idle in transaction, 1 lock\nlast ran: UPDATE customers',
          data: {
            gone: false,
            locks_held: 1,
            blocks_count: 0,
            session: {
              ...idleSession({ pid: 6, application_name: 'mailer' }),
              state: 'idle in transaction',
              query: 'UPDATE customers',
            },
          },
        },
      ],
      /^Session 6 \(mailer/,
    ),
    verdict: 'cause_found',
  },
};
