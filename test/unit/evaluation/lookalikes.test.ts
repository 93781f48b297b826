import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../../src/domain/tool-call.ts';
import { replayPlaybook } from '../../../src/evaluation/investigators.ts';
import { type EvalRun, runEvals } from '../../../src/evaluation/run-evals.ts';
import type { Scenario } from '../../../src/evaluation/scenario.ts';
import { loadRunbooks } from '../../../src/memory/runbooks/load-runbooks.ts';
import { allTools } from '../../../src/tools/all.ts';
import { createRegistry } from '../../../src/tools/registry.ts';
import { aScenario } from './support.ts';

// What looks like the fault of a runbook and is another, or none. No case was recorded: each is the least that a tool of
// ours would have to show for it.

const root = fileURLToPath(new URL('../../..', import.meta.url));

interface Seen {
  readonly tool: string;
  readonly data: Json;
  readonly args?: Record<string, Json>;
  /** What is quoted of it. */
  readonly text?: string;
}
interface Lookalike {
  readonly alert: string;
  readonly domain: 'postgres' | 'docker';
  readonly title?: string;
  readonly labels?: Record<string, string>;
  readonly sees: readonly Seen[];
  readonly says: RegExp;
  readonly verdict?: 'cannot_tell' | 'healthy' | 'cause_found';
}

const postgres = (alert: string, sees: readonly Seen[], says: RegExp): Lookalike => ({
  alert,
  domain: 'postgres',
  sees,
  says,
});
const host = (
  alert: string,
  sees: readonly Seen[],
  says: RegExp,
  more: Partial<Lookalike> = {},
): Lookalike => ({ alert, domain: 'docker', sees, says, ...more });

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
const down = {
  service: 'gateway',
  state: 'stopped',
  running: false,
  main_pid: null,
  says: 'pid 8 does not run',
};
const status = (...services: Json[]): Seen => ({ tool: 'service_status', data: { services } });
const again = (service: Record<string, Json>): Seen => ({
  tool: 'service_status',
  args: { service: String(service['service']) },
  text: `${String(service['service'])}: ${String(service['says'])}`,
  data: service,
});
const files = (order: string, listed: readonly Record<string, Json>[], disk: Json, args = {}): Seen => ({
  tool: 'list_files',
  args: { order, ...args },
  data: {
    files: listed.map((file) => ({
      name: String(file['path']).split('/').at(-1) ?? '',
      size_bytes: 1_000,
      modified_age_seconds: 60,
      growth_bytes_per_second: 0,
      ...file,
    })),
    disk,
  },
});
const room = { used_percent: 40, free_bytes: 9e11 };
const log = '/srv/gw/logs/gateway.log';
const ends = (...lines: string[]): Seen => ({
  tool: 'read_file',
  args: { path: log, lines: 15, last: true },
  data: { path: log, binary: false, text: lines.join('\n') },
});
const growing = (file: Record<string, Json>, disk: Json): Seen =>
  files('growth', [file], disk, { limit: 50, watch_seconds: 5 });
const changedAnHourAgo = [
  { path: '/srv/gw/gateway.yml', modified_age_seconds: 3_600 },
  { path: '/srv/gw/gateway.yml.bak', modified_age_seconds: 3_600 },
  { path: log },
];
const named = (...lines: string[]): Seen => ({
  tool: 'grep_search',
  args: { query: 'gateway.yml', literal: true, max_results: 20 },
  data: { matches: lines.map((text, at) => ({ path: log, line: at + 1, text })), count: lines.length },
});
const differs: Seen = {
  tool: 'compare_files',
  args: { path: '/srv/gw/gateway.yml', with: '/srv/gw/gateway.yml.bak' },
  data: { same: false, missing: false, diff: '-a\n+b', added: 1, removed: 1 },
};

const lookalikes: Readonly<Record<string, Lookalike>> = {
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
  'a unit that is masked': host(
    'HostServiceDown',
    [status({ ...down, says: 'failed, masked' }), again({ ...down, says: 'failed, masked' })],
    /on purpose/,
  ),
  'a service that was told to stop': host(
    'HostServiceDown',
    [
      status(down),
      again(down),
      files('modified', [{ path: log }], room, { limit: 100 }),
      ends('INFO request 1', 'INFO received SIGTERM, shutting down'),
    ],
    /told to stop/,
  ),
  'another unit than those that are declared': host(
    'HostSystemdServiceFailed',
    [status({ ...down, running: true })],
    /nginx\.service/,
    { title: 'A unit has failed', labels: { name: 'nginx.service' } },
  ),
  'an error from long before the end': host(
    'HostServiceDown',
    [
      status(down),
      again(down),
      files('modified', [{ path: log }], room, { limit: 100 }),
      ends('ERROR relay refused', ...Array.from({ length: 8 }, (_, i) => `INFO request ${i}`)),
    ],
    /ends without an error/,
    { verdict: 'cause_found' },
  ),
  'a changed configuration of which no log complains': host(
    'HostServiceDown',
    [
      status(down),
      again(down),
      files('modified', changedAnHourAgo, room, { limit: 100 }),
      differs,
      named('INFO read gateway.yml'),
      ends('INFO read gateway.yml', 'panic: index out of range'),
    ],
    /ends with: panic/,
    { verdict: 'cause_found' },
  ),
  'a disk that has been 91 % full for a year': host(
    'HostDiskAlmostFull',
    [growing({ path: log, growth_bytes_per_second: 25_000 }, { used_percent: 91, free_bytes: 9e11 })],
    /nearly full/,
  ),
  'a dump that fills the disk': host(
    'HostDiskAlmostFull',
    [
      growing(
        { path: '/srv/gateway/dump.sql', growth_bytes_per_second: 9e7 },
        { used_percent: 91, free_bytes: 9e9 },
      ),
      status({ ...down, running: true }),
    ],
    /is no log/,
  ),
  'the log of a service with a longer name': host(
    'HostDiskAlmostFull',
    [
      growing(
        { path: '/srv/logs/gateway-billing.log', growth_bytes_per_second: 9e7 },
        { used_percent: 91, free_bytes: 9e9 },
      ),
      status({ ...down, running: true }),
    ],
    /none of the declared services/,
  ),
  'another file system': host('HostDiskFull', [growing({ path: log }, room)], /\/boot/, {
    labels: { mountpoint: '/boot' },
  }),
};

describe('what looks like a known fault and is none', () => {
  let run: EvalRun;
  beforeAll(async () => {
    const { runbooks } = await loadRunbooks(`${root}/runbooks`, { tools: createRegistry(allTools) });
    run = await runEvals({
      scenarios: Object.entries(lookalikes).map(([id, one]) => scenarioOf(id, one)),
      make: replayPlaybook(runbooks),
      tools: allTools,
      mapped: true,
      signal: new AbortController().signal,
    });
  });

  it.each(Object.entries(lookalikes))('%s is not taken for it', (id, { says, verdict = 'cannot_tell' }) => {
    const { answer } = run.incidents.find((one) => one.id === id) ?? expect.fail(id);
    expect(answer.rootCause).toMatch(says);
    expect(answer.verdict).toBe(verdict);
  });
});

function scenarioOf(id: string, { alert, domain, labels = {}, title, sees }: Lookalike): Scenario {
  return aScenario({
    id,
    domain,
    incident: {
      title: title ?? `${alert}: gateway`,
      commonLabels: { alertname: alert, ...labels },
      age_seconds: 20,
    },
    tool_outputs: sees.map(({ tool, args = {}, text, data }) => ({
      tool,
      args,
      output: text ?? JSON.stringify(data),
      data,
    })),
  });
}
