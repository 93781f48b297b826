import { fileURLToPath } from 'node:url';
import postgres, { type Sql } from 'postgres';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Diagnosis } from '../../../../src/core/diagnosis.ts';
import type { Incident } from '../../../../src/core/incident.ts';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../../../src/infra/db/embedded/start-embedded-postgres.ts';
import { loadRunbooks, problemLine } from '../../../../src/runbooks/load-runbooks.ts';
import type { Runbook } from '../../../../src/runbooks/runbook.ts';
import { allTools } from '../../../../src/targets/all-tools.ts';
import { createRegistry } from '../../../../src/tools/registry.ts';
import { quiet } from '../../../support/quiet.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import { type LiveIncident, liveIncident } from './live-incident.ts';

const tools = createRegistry(allTools);
let server: EmbeddedPostgres;
let runbooks: readonly Runbook[];
let admin: Sql;
let live: LiveIncident | undefined;
const clients: Sql[] = [];

beforeAll(async () => {
  const loaded = await loadRunbooks(fileURLToPath(new URL('../../../../runbooks', import.meta.url)), {
    tools,
  });
  expect(loaded.problems.map(problemLine)).toEqual([]);
  runbooks = loaded.runbooks;
  server = await startEmbeddedPostgres({
    dataDir: scratchDir(),
    name: 'shop',
    log: quiet,
    settings: {
      fsync: 'off',
      max_connections: '30',
      wal_level: 'logical',
      autovacuum: 'on',
      autovacuum_naptime: '1h',
    },
  });
  admin = postgres(server.url, { max: 1, onnotice: () => undefined });
  await admin`CREATE TABLE orders (id int PRIMARY KEY, note text)`;
  await admin`INSERT INTO orders SELECT n, 'x' FROM generate_series(1, 5000) n`;
}, 120_000);

afterEach(async () => {
  await live?.close();
  live = undefined;
  await Promise.all(clients.splice(0).map((client) => client.end({ timeout: 0 })));
  // A server does not notice that the client of a running statement has gone.
  await admin`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`;
});

afterAll(async () => {
  await admin.end({ timeout: 0 });
  await server.stop();
});

function open(alertName: string, part: Partial<Incident> = {}, known = runbooks): LiveIncident {
  live = liveIncident({
    readUrl: server.url,
    actUrl: server.url,
    tools,
    runbooks: known,
    incident: { alertName, title: alertName, openedAt: new Date().toISOString(), ...part },
  });
  return live;
}

/** One session of an application. Statements that are to hang are started, not awaited. */
function client(application_name: string): Sql {
  const sql = postgres(server.url, { max: 1, connection: { application_name }, onnotice: () => undefined });
  clients.push(sql);
  return sql;
}

async function pidOf(sql: Sql): Promise<number> {
  const [row] = await sql`SELECT pg_backend_pid() AS pid`;
  return Number(row?.['pid']);
}

/** It ends by being cancelled or with its connection: both are what the test is about. */
function hanging(query: PromiseLike<unknown>): void {
  query.then(
    () => undefined,
    () => undefined,
  );
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('it did not come about within 10 s');
}

const blocked = async (count: number) => {
  const [row] = await admin`SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock'`;
  return Number(row?.['n']) === count;
};

function expectEvidenceHolds(incident: LiveIncident, diagnosis: Diagnosis): void {
  expect(diagnosis.evidence.length).toBeGreaterThan(0);
  for (const evidence of diagnosis.evidence)
    expect(
      evidence.toolCallIds.some((id) => incident.outputs.get(id)?.includes(evidence.quote ?? '\0')),
    ).toBe(true);
}

async function blockOrders(): Promise<{ readonly root: number }> {
  const forgetful = client('checkout');
  const root = await pidOf(forgetful);
  await forgetful.unsafe('BEGIN');
  await forgetful`UPDATE orders SET note = 'held' WHERE id = 1`;
  for (let n = 0; n < 3; n += 1) hanging(client('web')`UPDATE orders SET note = 'wanted' WHERE id = 1`);
  await until(() => blocked(3));
  return { root };
}

describe('blocked sessions', () => {
  it('are traced to the root, which alone is ended, and the verification tells before from after', async () => {
    const { root } = await blockOrders();
    const incident = open('PostgresBlockedSessions');
    const { triage, diagnosis } = await incident.triageAndDiagnose();
    expect(triage).toMatchObject({ incidentType: 'blocked_sessions', routine: true });
    expect(diagnosis).toMatchObject({
      verdict: 'cause_found',
      category: 'blocked_sessions',
      confidence: 0.97,
    });
    expect(diagnosis.rootCause).toContain(`Session ${root} (checkout`);
    expectEvidenceHolds(incident, diagnosis);

    expect((await incident.plan(diagnosis)).kind).toBe('proposed');
    expect(incident.proposals).toMatchObject([{ tool: 'postgres_terminate_backend', input: { pid: root } }]);
    expect((await incident.verifyOnce()).map((check) => check.holds)).toContain(false);

    expect((await incident.approve()).state).toBe('succeeded');
    expect(await incident.verify()).toBe('fixed');
    expect(await blocked(0)).toBe(true);
  });

  it('are not traced to anybody when the wait is over before the second look', async () => {
    await blockOrders();
    const incident = open('PostgresBlockedSessions');
    const looking = incident.triageAndDiagnose();
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await clients[0]?.unsafe('COMMIT');
    expect((await looking).diagnosis).toMatchObject({ verdict: 'healthy', category: null });
  });

  it('are reported, not ended, when the root has only just begun to work', async () => {
    const worker = client('migration');
    await pidOf(worker);
    await worker.unsafe('BEGIN');
    await worker`LOCK TABLE orders`;
    hanging(worker`SELECT pg_sleep(60)`);
    hanging(client('web')`SELECT count(*) FROM orders`);
    await until(() => blocked(1));
    const incident = open('PostgresBlockedSessions');
    const { diagnosis } = await incident.triageAndDiagnose();
    expect(diagnosis.verdict).toBe('cause_found');
    expect(diagnosis.confidence).toBeLessThan(0.9);
    expect(await incident.plan(diagnosis)).toMatchObject({ kind: 'none' });
  });
});

describe('a session idle in transaction', () => {
  it('is left alone when it began after the alert', async () => {
    const forgetful = client('billing');
    await pidOf(forgetful);
    await forgetful.unsafe('BEGIN');
    await forgetful`UPDATE orders SET note = 'open' WHERE id = 2`;
    const incident = open('PostgresIdleInTransaction', {
      openedAt: new Date(Date.now() - 600_000).toISOString(),
    });
    const { diagnosis } = await incident.triageAndDiagnose();
    expect(diagnosis.confidence).toBeLessThan(0.9);
    expect(await incident.plan(diagnosis)).toMatchObject({ kind: 'none' });
  });
});

describe('a runaway query', () => {
  it('is cancelled first, and its session ended only when that did not help', async () => {
    const reporting = client('reporting');
    const pid = await pidOf(reporting);
    hanging(reporting`SELECT count(*) FROM generate_series(1, 40000) a, generate_series(1, 1000000) b`);
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    const incident = open('PostgresLongRunningQuery');
    const first = await incident.triageAndDiagnose();
    expect(first.diagnosis).toMatchObject({
      verdict: 'cause_found',
      category: 'runaway_query',
      confidence: 0.93,
    });
    expect(first.diagnosis.rootCause).toContain(`Session ${pid} (reporting`);
    expectEvidenceHolds(incident, first.diagnosis);
    expect((await incident.plan(first.diagnosis)).kind).toBe('proposed');
    expect(incident.proposals.at(-1)).toMatchObject({ tool: 'postgres_cancel_query', input: { pid } });
    expect((await incident.verifyOnce()).map((check) => check.holds)).toEqual([false, expect.any(Boolean)]);

    const cancelled = await incident.approve();
    expect(await incident.verify()).toBe('fixed');

    // The application runs it again in the same session: cancelling is not proposed a second time.
    hanging(reporting`SELECT count(*) FROM generate_series(1, 40000) a, generate_series(1, 1000000) b`);
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    incident.nextRound([cancelled]);
    const second = await incident.triageAndDiagnose();
    expect((await incident.plan(second.diagnosis)).kind).toBe('proposed');
    expect(incident.proposals.at(-1)).toMatchObject({ tool: 'postgres_terminate_backend', input: { pid } });
  }, 120_000);

  it('is handed over to the blocked sessions when it only waits', async () => {
    const { root } = await blockOrders();
    await new Promise((resolve) => setTimeout(resolve, 5_500));
    const incident = open('PostgresLongRunningQuery');
    const { diagnosis } = await incident.triageAndDiagnose();
    expect(diagnosis).toMatchObject({
      verdict: 'cause_found',
      category: 'blocked_sessions',
      runbookId: 'blocked-sessions',
    });
    expect(diagnosis.rootCause).toContain(`Session ${root} `);
  });
});

describe('used-up connections', () => {
  it('are traced to the application that leaks them, and nothing is ended', async () => {
    const incident = open('PostgresTooManyConnections');
    await until(
      async () =>
        (
          await incident.verifyOnce({
            steps: [{ tool: 'postgres_connections', input: {}, holds: 'true', says: '' }],
            holdMs: 0,
            timeoutMs: 1,
          })
        )[0]?.holds === true,
    );
    for (let n = 0; n < 20; n += 1) await client('leaky-service')`SELECT 1`;
    const { diagnosis } = await incident.triageAndDiagnose();
    expect(diagnosis).toMatchObject({ verdict: 'cause_found', category: 'connection_exhaustion' });
    expect(diagnosis.rootCause).toMatch(/leaky-service .* holds 20 of/);
    expectEvidenceHolds(incident, diagnosis);
    expect(await incident.plan(diagnosis)).toMatchObject({
      kind: 'none',
      reason: expect.stringContaining('leaky-service'),
    });
  });

  it('are traced to the lock that they pile up behind', async () => {
    const incident = open('PostgresTooManyConnections');
    const forgetful = client('checkout');
    const root = await pidOf(forgetful);
    await forgetful.unsafe('BEGIN');
    await forgetful`UPDATE orders SET note = 'held' WHERE id = 1`;
    for (let n = 0; n < 20; n += 1) hanging(client('web')`UPDATE orders SET note = 'wanted' WHERE id = 1`);
    await until(() => blocked(20));
    const { diagnosis } = await incident.triageAndDiagnose();
    expect(diagnosis).toMatchObject({
      verdict: 'cause_found',
      category: 'blocked_sessions',
      confidence: 0.97,
    });
    expect(diagnosis.rootCause).toContain(`Session ${root} `);
  });
});

describe('a bloated table', () => {
  const bloat = async () => {
    await admin`DROP TABLE IF EXISTS events`;
    await admin`CREATE TABLE events (id int PRIMARY KEY, seen int) WITH (autovacuum_enabled = off)`;
    await admin`INSERT INTO events SELECT n, 0 FROM generate_series(1, 5000) n`;
    for (let n = 0; n < 3; n += 1) await admin`UPDATE events SET seen = seen + 1`;
    await until(async () => {
      const [row] =
        await admin`SELECT n_dead_tup::int AS n FROM pg_stat_user_tables WHERE relname = 'events'`;
      return Number(row?.['n']) >= 10_000;
    });
  };

  it('is vacuumed', async () => {
    await bloat();
    const incident = open('PostgresTableBloat');
    const { diagnosis } = await incident.triageAndDiagnose();
    expect(diagnosis).toMatchObject({ verdict: 'cause_found', category: 'table_bloat', confidence: 0.95 });
    expect(diagnosis.rootCause).toContain('public.events');
    expect(diagnosis.rootCause).toContain('switched off for this table');
    expectEvidenceHolds(incident, diagnosis);
    expect((await incident.plan(diagnosis)).kind).toBe('proposed');
    expect(incident.proposals).toMatchObject([
      { tool: 'postgres_vacuum_table', input: { schema: 'public', table: 'events' } },
    ]);
    expect((await incident.verifyOnce())[0]?.holds).toBe(false);
    expect((await incident.approve()).state).toBe('succeeded');
    expect(await incident.verify()).toBe('fixed');
  });

  const on = { tool: 'postgres_set_setting', input: { name: 'autovacuum', value: 'on' } };
  const onForIt = { tool: 'postgres_autovacuum_on', input: { schema: 'public', table: 'events' } };
  it.each([
    { server: 'on', table: 'off', lasts: [onForIt], says: 'switched off for this table' },
    { server: 'off', table: 'on', lasts: [on], says: 'switched off for the whole server' },
    {
      server: 'off',
      table: 'off',
      lasts: [{ ...on, andThen: [onForIt] }],
      says: 'switched off for the whole server',
    },
    { server: 'on', table: 'on', lasts: undefined, says: 'autovacuum has not come to it' },
  ])(
    'is kept from bloating again only by what was read: server $server, table $table',
    async ({ server: all, table, lasts, says }) => {
      await bloat();
      if (table === 'on') await admin`ALTER TABLE events RESET (autovacuum_enabled)`;
      await admin.unsafe(`ALTER SYSTEM SET autovacuum = ${all}`);
      await admin`SELECT pg_reload_conf()`;
      await until(async () => (await admin`SHOW autovacuum`)[0]?.['autovacuum'] === all);
      const { diagnosis } = await open('PostgresTableBloat').triageAndDiagnose();
      await admin`ALTER SYSTEM RESET autovacuum`;
      await admin`SELECT pg_reload_conf()`;
      await until(async () => (await admin`SHOW autovacuum`)[0]?.['autovacuum'] === 'on');
      expect(diagnosis.rootCause).toContain(says);
      expect(diagnosis.unknown).toEqual([]);
      if (lasts) expect(diagnosis.prevent).toMatchObject(lasts);
      else expect(diagnosis.prevent).toBeUndefined();
      // The words name the same.
      expect(diagnosis.remedy?.includes('RESET (autovacuum_enabled)')).toBe(table === 'off');
    },
  );

  it('that a forgotten transaction keeps from being cleaned is vacuumed once that has ended, by one plan', async () => {
    const holder = client('etl');
    const held = await pidOf(holder);
    await holder.unsafe('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await holder`SELECT count(*) FROM orders`;
    await bloat();
    await admin`VACUUM events`;
    // A session has to be a minute old to be blamed; nobody waits for that here.
    const impatient = JSON.stringify(runbooks).replaceAll('h.age_seconds > 60', 'h.age_seconds >= 0');
    const incident = open('PostgresTableBloat', {}, JSON.parse(impatient) as readonly Runbook[]);
    const { diagnosis } = await incident.triageAndDiagnose();
    expect(diagnosis).toMatchObject({ verdict: 'cause_found', category: 'vacuum_held_back' });
    expectEvidenceHolds(incident, diagnosis);
    expect((await incident.plan(diagnosis)).kind).toBe('proposed');
    expect(incident.proposals).toMatchObject([
      {
        tool: 'postgres_terminate_backend',
        input: { pid: held },
        proposal: {
          andThen: [{ tool: 'postgres_vacuum_table', input: { schema: 'public', table: 'events' } }],
          // The bloat's own measure: that the session is gone proves nothing.
          verify: { steps: [{ tool: 'postgres_table_health', measure: { name: 'dead_rows_percent' } }] },
        },
      },
    ]);
    expect((await incident.verifyOnce())[0]?.holds).toBe(false);
    expect((await incident.approve()).state).toBe('succeeded');
    expect(await incident.verify()).toBe('fixed');
  });

  it('is not called fixed when vacuum could remove nothing', async () => {
    const holder = client('etl');
    await pidOf(holder);
    await holder.unsafe('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await holder`SELECT count(*) FROM orders`;
    await bloat();
    const incident = open('PostgresTableBloat');
    const { diagnosis } = await incident.triageAndDiagnose();
    expect((await incident.plan(diagnosis)).kind).toBe('proposed');
    const action = await incident.approve();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect((await incident.verifyOnce())[0]?.holds).toBe(false);
    incident.nextRound([action]);
    const again = await incident.triageAndDiagnose();
    expect(await incident.plan(again.diagnosis)).toMatchObject({
      kind: 'none',
      reason: expect.stringContaining('was done'),
    });
  });
});

describe('other runbooks', () => {
  it('find an inactive slot behind growing WAL and drop nothing', async () => {
    await admin`SELECT pg_create_physical_replication_slot('old_replica', true)`;
    for (let n = 0; n < 3; n += 1) {
      await admin`SELECT pg_switch_wal()`;
      await admin`INSERT INTO orders SELECT n, repeat('x', 200) FROM generate_series(100000, 101000) n ON CONFLICT DO NOTHING`;
    }
    const incident = open('PostgresqlUnusedReplicationSlot');
    const { diagnosis } = await incident.triageAndDiagnose();
    expect(diagnosis).toMatchObject({ verdict: 'cause_found', category: 'inactive_replication_slot' });
    expect(diagnosis.rootCause).toContain('old_replica');
    expectEvidenceHolds(incident, diagnosis);
    expect((await incident.plan(diagnosis)).kind).toBe('none');
    await admin`SELECT pg_drop_replication_slot('old_replica')`;
  });

  it('that are over are counted, and not taken for those of the alert', async () => {
    const [a, b] = [client('a'), client('b')];
    await Promise.all([pidOf(a), pidOf(b)]);
    await a.unsafe('BEGIN');
    await b.unsafe('BEGIN');
    await a`UPDATE orders SET note = 'a' WHERE id = 11`;
    await b`UPDATE orders SET note = 'b' WHERE id = 12`;
    const both = await Promise.allSettled([
      a`UPDATE orders SET note = 'a' WHERE id = 12`,
      b`UPDATE orders SET note = 'b' WHERE id = 11`,
    ]);
    expect(both.map((one) => one.status).toSorted()).toEqual(['fulfilled', 'rejected']);
    // Counters reach the statistics with the end of the transaction.
    await Promise.all([a.unsafe('ROLLBACK'), b.unsafe('ROLLBACK')]);
    await Promise.all([a.end(), b.end()]);
    await until(async () => {
      const [row] =
        await admin`SELECT deadlocks::int AS n FROM pg_stat_database WHERE datname = current_database()`;
      return Number(row?.['n']) > 0;
    });
    const incident = open('PostgresqlDeadLocks');
    const { diagnosis } = await incident.triageAndDiagnose();
    expect(diagnosis).toMatchObject({ verdict: 'cannot_tell', category: null });
    expect(diagnosis.rootCause).toMatch(/^\d+ deadlocks have been counted/);
    expectEvidenceHolds(incident, diagnosis);
    expect((await incident.plan(diagnosis)).kind).toBe('none');
  });
});

describe('a healthy server', () => {
  it.each([
    'PostgresBlockedSessions',
    'PostgresIdleInTransaction',
    'PostgresTooManyConnections',
    'PostgresLongRunningQuery',
    'PostgresqlReplicationLag',
    'PostgresqlUnusedReplicationSlot',
    'PostgresWalGrowth',
    'PostgresXidWraparound',
    'PostgresCacheHitRatioLow',
    'PostgresCheckpointsTooFrequent',
    'SomethingNobodyHasARunbookFor',
  ])('is given no cause for %s', async (alertName) => {
    const incident = open(alertName);
    const { diagnosis } = await incident.triageAndDiagnose();
    expect(diagnosis.verdict).not.toBe('cause_found');
    expect(diagnosis.category).toBeNull();
    expect(diagnosis.unknown).toEqual([]);
    expect(await incident.plan(diagnosis)).toMatchObject({ kind: 'none' });
  });
});
