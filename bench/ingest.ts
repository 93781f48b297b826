import type { Sql } from '../src/core/sql.ts';
import { createHttpServer } from '../src/http/server.ts';
import { webhookRoute } from '../src/http/webhook-route.ts';
import { type Database, openDatabase } from '../src/infra/db/client.ts';
import { createAccept } from '../src/ingest/accept.ts';
import { alertSource } from '../src/sources/registry.ts';
import { domainOfLabels } from '../src/targets/domains.ts';
import { kinds } from '../src/targets/kinds.ts';
import { openBareClient } from './bare-client.ts';

const CONNECTIONS = [1, 8, 32] as const;
const SECRET = 'bench-secret';

/** One number of connections: alerts a second until 202, against plain committed INSERTs of the same rows. */
export interface IngestRow {
  readonly connections: number;
  readonly alerts: number;
  readonly acceptedPerSecond: number;
  /** ms from sending the request to the 202. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The alert's row alone, one committed INSERT an alert. */
  readonly baselinePerSecond: number;
  /** acceptedPerSecond / baselinePerSecond. */
  readonly ratio: number;
  /** All the rows that accepting writes (alert, incident, event, turn), one committed statement an alert. */
  readonly sameRowsPerSecond: number;
  /** acceptedPerSecond / sameRowsPerSecond. */
  readonly sameRowsRatio: number;
  /** 202 answers without their alert row, incident or turn afterwards; must be 0. */
  readonly lost: number;
}

export interface IngestResult {
  readonly bench: 'ingest';
  readonly synchronousCommit: string;
  readonly fsync: string;
  readonly rows: readonly IngestRow[];
}

/**
 * Accepts alerts through the real HTTP server at 1, 8 and 32 connections, each a new incident with its event and turn,
 * and inserts by plain committed statements over as many connections to the same database: the alert's row alone, and all
 * the rows that accepting writes. The three take turns (rounds) so that all feel the same disk. The database must be migrated and have `sentry_enqueue_turn`.
 */
export async function benchIngest(options: {
  readonly databaseUrl: string;
  /** How long each side of a round runs at least, ms. */
  readonly roundMs?: number;
  readonly rounds?: number;
}): Promise<IngestResult> {
  const { roundMs = 1_500, rounds = 3 } = options;
  const database = openDatabase(options.databaseUrl, { max: 32, name: 'bench' });
  try {
    const [settings] = await database.sql<{ commit: string; fsync: string }>`
      SELECT current_setting('synchronous_commit') AS commit, current_setting('fsync') AS fsync`;
    const rows: IngestRow[] = [];
    for (const connections of CONNECTIONS)
      rows.push(await measure(options.databaseUrl, connections, roundMs, rounds));
    return { bench: 'ingest', synchronousCommit: settings?.commit ?? '', fsync: settings?.fsync ?? '', rows };
  } finally {
    await database.close();
  }
}

async function measure(
  url: string,
  connections: number,
  roundMs: number,
  rounds: number,
): Promise<IngestRow> {
  const run = `${connections}-${Date.now()}`;
  // Both sides get a pool of the same size, opened before the clock starts.
  const forAccept = openDatabase(url, { max: connections, name: 'bench-accept' });
  const forInsert = openDatabase(url, { max: connections, name: 'bench-insert' });
  const server = createHttpServer({
    host: '127.0.0.1',
    port: 0,
    log: silent,
    routes: [
      webhookRoute({
        source: alertSource('alertmanager'),
        accept: createAccept(forAccept.sql, [], domainOfLabels(kinds)),
        secret: SECRET,
        log: silent,
      }),
    ],
  });
  const { port } = await server.listen();
  const clients = await Promise.all(
    Array.from({ length: connections }, () =>
      openBareClient({ port, path: '/webhooks/alertmanager', bearer: SECRET }),
    ),
  );
  try {
    const incidentId = await baselineIncident(forInsert.sql, run);
    const accept = async (n: number, worker: number) => {
      const status = await clients[worker]?.post(body(run, n));
      if (status !== 202) throw new Error(`the webhook was answered ${status}`);
    };
    const insert = (n: number) => insertAlert(forInsert.sql, incidentId, run, n);
    const insertAll = (n: number) => insertSameRows(forInsert.sql, run, n);
    let next = 0;
    const numbers = () => next++;
    await warm(connections, 200, numbers, [accept, insert, insertAll]);
    const accepted: Side = { count: 0, ms: 0, latencies: [] };
    const inserted: Side = { count: 0, ms: 0, latencies: [] };
    const insertedAll: Side = { count: 0, ms: 0, latencies: [] };
    const warmUp = next;
    for (let round = 0; round < rounds; round += 1) {
      add(accepted, await drive(connections, roundMs, numbers, accept));
      add(inserted, await drive(connections, roundMs, numbers, insert));
      add(insertedAll, await drive(connections, roundMs, numbers, insertAll));
    }
    const acceptedTotal = accepted.count + warmUp / 3;
    const acceptedPerSecond = perSecond(accepted);
    return {
      connections,
      alerts: accepted.count,
      acceptedPerSecond,
      p50Ms: quantile(accepted.latencies, 0.5),
      p99Ms: quantile(accepted.latencies, 0.99),
      baselinePerSecond: perSecond(inserted),
      ratio: ratio(accepted, inserted),
      sameRowsPerSecond: perSecond(insertedAll),
      sameRowsRatio: ratio(accepted, insertedAll),
      lost: acceptedTotal - (await complete(forAccept.sql, run)),
    };
  } finally {
    for (const client of clients) client.close();
    await server.close(0);
    await closeAll(forAccept, forInsert);
  }
}

interface Side {
  count: number;
  ms: number;
  readonly latencies: number[];
}

function add(total: Side, side: Side): void {
  total.count += side.count;
  total.ms += side.ms;
  for (const latency of side.latencies) total.latencies.push(latency);
}

/** Opens every connection and warms plans and code; every side gets as many. */
async function warm(
  connections: number,
  ms: number,
  numbers: () => number,
  sides: readonly ((n: number, worker: number) => Promise<void>)[],
): Promise<void> {
  const end = performance.now() + ms;
  const work = async (_: unknown, worker: number) => {
    while (performance.now() < end) for (const side of sides) await side(numbers(), worker);
  };
  await Promise.all(Array.from({ length: connections }, work));
}

/** As many workers as connections, one request at a time each, until the time is up. */
async function drive(
  connections: number,
  ms: number,
  numbers: () => number,
  one: (n: number, worker: number) => Promise<void>,
): Promise<Side> {
  const latencies: number[] = [];
  const start = performance.now();
  const work = async (_: unknown, worker: number) => {
    while (performance.now() - start < ms) {
      const begun = performance.now();
      await one(numbers(), worker);
      latencies.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  return { count: latencies.length, ms: performance.now() - start, latencies };
}

const labelsOf = (run: string, n: number) => ({
  alertname: 'BenchAlert',
  instance: `bench-${n}`,
  run,
  severity: 'warning',
});
const annotations = { summary: 'An alert of the bench', description: 'Sessions wait for a lock.' };
const startsAt = '2026-01-01T00:00:00.000Z';

function body(run: string, n: number): string {
  return JSON.stringify({
    version: '4',
    status: 'firing',
    receiver: 'sentry',
    externalURL: 'http://alertmanager:9093',
    groupLabels: {},
    commonLabels: {},
    commonAnnotations: {},
    alerts: [
      { status: 'firing', labels: labelsOf(run, n), annotations, startsAt, endsAt: '0001-01-01T00:00:00Z' },
    ],
  });
}

/** The alert rows of the baseline belong to one incident, as the foreign key wants. */
async function baselineIncident(sql: Sql, run: string): Promise<string> {
  const [row] = await sql<{ id: string }>`
    INSERT INTO incident (title, severity, domain, source, fingerprint, labels, annotations, state)
    VALUES ('bench', 'info', 'postgres', 'bench', ${run}, '{}', '{}', 'ignored') RETURNING id`;
  return row?.id ?? '';
}

/** The least a program could do to keep the alert: the same row, one INSERT, committed. */
async function insertAlert(sql: Sql, incidentId: string, run: string, n: number): Promise<void> {
  const key = `${run}-${n}`;
  await sql`
    INSERT INTO alert (incident_id, delivery_key, source, fingerprint, status, title, labels, annotations, starts_at, ends_at, url)
    VALUES (${incidentId}, ${`baseline:${key}:firing:${startsAt}`}, 'bench', ${key.padStart(32, '0')}, 'firing', 'BenchAlert',
            ${sql.json(labelsOf(run, n))}, ${sql.json(annotations)}, ${startsAt}, null, 'http://alertmanager:9093')`;
}

/** What accepting writes when nothing is known of the alert, without looking first. */
async function insertSameRows(sql: Sql, run: string, n: number): Promise<void> {
  const key = `${run}-${n}`;
  await sql`
    WITH opened AS (
      INSERT INTO incident (title, alert_name, severity, domain, source, fingerprint, identity, labels, annotations)
      VALUES ('BenchAlert', 'BenchAlert', 'warning', 'postgres', 'bench', ${key.padStart(32, '1')}, '{bench}',
              ${sql.json(labelsOf(run, n))}, ${sql.json(annotations)})
      RETURNING id
    ), noted AS (
      INSERT INTO event (incident_id, type, body)
      SELECT id, 'incident.opened', '{"source": "bench", "title": "BenchAlert"}' FROM opened
    ), told AS (
      INSERT INTO alert (incident_id, delivery_key, source, fingerprint, status, title, labels, annotations, starts_at, ends_at, url)
      SELECT id, ${`same:${key}:firing:${startsAt}`}, 'bench', ${key.padStart(32, '1')}, 'firing', 'BenchAlert',
             ${sql.json(labelsOf(run, n))}, ${sql.json(annotations)}, ${startsAt}, null, 'http://alertmanager:9093' FROM opened
    )
    SELECT sentry_enqueue_turns(array_agg(id), 'opened') FROM opened`;
}

/** Alerts of this run that have their row, their incident and its event. */
async function complete(sql: Sql, run: string): Promise<number> {
  const [row] = await sql<{ n: number }>`
    SELECT count(*) AS n FROM alert a JOIN incident i ON i.id = a.incident_id
     JOIN event e ON e.incident_id = i.id AND e.type = 'incident.opened'
     WHERE a.source = 'alertmanager' AND a.labels->>'run' = ${run} AND i.fingerprint = a.fingerprint`;
  return row?.n ?? 0;
}

function ratio(side: Side, baseline: Side): number {
  return Math.round((side.count / side.ms / (baseline.count / baseline.ms)) * 100) / 100;
}

function perSecond(side: Side): number {
  return Math.round((side.count / side.ms) * 1000);
}

function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;
  return Math.round(value * 100) / 100;
}

async function closeAll(...databases: readonly Database[]): Promise<void> {
  await Promise.all(databases.map((database) => database.close()));
}

const silent = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
