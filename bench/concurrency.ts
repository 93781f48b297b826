import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../src/infra/db/client.ts';
import { startEmbeddedPostgres } from '../src/infra/db/embedded/start-embedded-postgres.ts';
import { createLog } from '../src/infra/log/log.ts';
import { quantile, type RunningProduct, runProduct } from './running-product.ts';

const INCIDENTS = 40;
const SETTLE_MS = 15_000;
const WITHIN_MS = 180_000;

export interface ConcurrencyResult {
  readonly bench: 'concurrency';
  readonly incidents: number;
  /** Incidents by the system under care that they are about. */
  readonly targets: Readonly<Record<string, number>>;
  /** From the first alert until the last incident was looked into. */
  readonly allMs: number;
  /** The same incidents, one after the other as fast as each is looked into, in the same run. */
  readonly oneByOneMs: number;
  /** oneByOneMs / allMs. */
  readonly ratio: number;
  /** From when a turn was due until it began; those that waited for another turn of their own incident are left out. */
  readonly queueWait: { readonly turns: number; readonly p50Ms: number; readonly p99Ms: number };
  /** Of the bot's process, under the load. */
  readonly rssMb: number;
  readonly eventLoopP99Ms: number;
  /** The same before the load. */
  readonly idle: { readonly rssMb: number; readonly eventLoopP99Ms: number };
}

/** As many incidents at once as a bad night brings, over every system of the playground, each with real reads of it. */
export async function benchConcurrency(dataDir: string): Promise<ConcurrencyResult> {
  const product = await runProduct(dataDir);
  const log = createLog('error');
  const postgres = await startEmbeddedPostgres({ dataDir: join(dataDir, 'postgres'), name: 'sentry', log });
  const { sql, close } = openDatabase(postgres.url, { max: 2, name: 'bench' });
  /** Looked into: it waits for a person, or has ended. */
  const lookedInto = async (name: string): Promise<number> => {
    const [row] = await sql<{ n: number }>`
      SELECT count(*)::int AS n FROM incident WHERE alert_name LIKE ${`${name}%`}
         AND state NOT IN ('open', 'triaging', 'diagnosing', 'planning')`;
    return row?.n ?? 0;
  };
  const until = async (name: string, wanted: number): Promise<void> => {
    const deadline = performance.now() + WITHIN_MS;
    while ((await lookedInto(name)) < wanted) {
      if (performance.now() > deadline) throw new Error(`${wanted} incidents were not looked into in time`);
      await sleep(20);
    }
  };
  try {
    await sleep(SETTLE_MS);
    const systems = await systemsOf(dataDir);
    const idle = await load(product);
    const begun = performance.now();
    await Promise.all(
      Array.from({ length: INCIDENTS }, (_, n) =>
        alert(product, `BenchAtOnce${n}`, systems[n % systems.length]),
      ),
    );
    await until('BenchAtOnce', INCIDENTS);
    const allMs = Math.round(performance.now() - begun);
    const under = await load(product);
    const waits = await sql<{ ms: number }>`
      SELECT (w.started_at_epoch_ms - greatest(w.created_at, coalesce(w.delay_until_epoch_ms, 0)))::float8 AS ms
        FROM dbos.workflow_status w JOIN incident i ON i.id = w.queue_partition_key
       WHERE w.queue_name = 'incident_turns' AND w.started_at_epoch_ms IS NOT NULL AND i.alert_name LIKE 'BenchAtOnce%'
         AND NOT EXISTS (SELECT 1 FROM dbos.workflow_status o
                          WHERE o.queue_partition_key = w.queue_partition_key AND o.workflow_uuid <> w.workflow_uuid
                            AND o.started_at_epoch_ms < w.started_at_epoch_ms AND o.updated_at > w.created_at)`;
    const alone = performance.now();
    for (let n = 0; n < INCIDENTS; n += 1) {
      await alert(product, `BenchAlone${n}`, systems[n % systems.length]);
      await until('BenchAlone', n + 1);
    }
    const oneByOneMs = Math.round(performance.now() - alone);
    const rows = await sql<{ target: string; n: number }>`
      SELECT coalesce(target, 'none') AS target, count(*)::int AS n FROM incident
       WHERE alert_name LIKE 'BenchAtOnce%' GROUP BY 1 ORDER BY 1`;
    const ms = waits.map((row) => row.ms);
    return {
      bench: 'concurrency',
      incidents: INCIDENTS,
      targets: Object.fromEntries(rows.map(({ target, n }) => [target, n])),
      allMs,
      oneByOneMs,
      ratio: Math.round((oneByOneMs / allMs) * 100) / 100,
      queueWait: { turns: ms.length, p50Ms: quantile(ms, 0.5), p99Ms: quantile(ms, 0.99) },
      ...under,
      idle,
    };
  } finally {
    await close();
    await product.stop();
    await postgres.stop();
  }
}

/** Those of the playground that can be ill on this machine. */
async function systemsOf(dataDir: string): Promise<readonly string[]> {
  const ports = JSON.parse(readFileSync(join(dataDir, 'ports.json'), 'utf8')) as { readonly faults: number };
  const answer = await fetch(`http://127.0.0.1:${ports.faults}/faults`);
  const { faults } = (await answer.json()) as {
    readonly faults: readonly { readonly system: string; readonly impossible: string | null }[];
  };
  const here = faults.filter(({ impossible }) => impossible === null).map(({ system }) => system);
  // The page calls an engine by its own name.
  return [...new Set(here)].map((name) => (name.startsWith('shop-') ? name : `shop-${name.toLowerCase()}`));
}

async function alert({ httpUrl }: RunningProduct, name: string, system = 'shop-db'): Promise<void> {
  const answer = await fetch(`${httpUrl}/webhooks/alertmanager`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      version: '4',
      status: 'firing',
      receiver: 'sentry',
      externalURL: 'http://alertmanager:9093',
      groupKey: name,
      groupLabels: {},
      commonLabels: {},
      commonAnnotations: {},
      alerts: [
        {
          status: 'firing',
          labels: { alertname: name, severity: 'warning', instance: system },
          annotations: { summary: 'Measured, not real' },
          startsAt: new Date().toISOString(),
          endsAt: '0001-01-01T00:00:00Z',
        },
      ],
    }),
  });
  if (answer.status !== 202) throw new Error(`the webhook answered ${answer.status}`);
}

/** By the bot's own metrics; the delay of its event loop is that since they were read last. */
async function load({ httpUrl }: RunningProduct): Promise<ConcurrencyResult['idle']> {
  const text = await (await fetch(`${httpUrl}/metrics`)).text();
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  return {
    rssMb: Math.round(value('process_resident_memory_bytes') / 1024 / 1024),
    eventLoopP99Ms: Math.round(value('nodejs_eventloop_lag_p99_seconds') * 10_000) / 10,
  };
}
