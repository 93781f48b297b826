import { COUNT_LIMIT } from '../src/core/count.ts';
import type { IncidentId } from '../src/core/ids.ts';
import type { Sql } from '../src/core/sql.ts';
import { why } from '../src/incidents/questions/why.ts';
import { openDatabase } from '../src/infra/db/client.ts';
import { memorySummary } from '../src/memory/documents/summary.ts';
import { costReport } from '../src/record/cost.ts';
import { createRecords } from '../src/record/record.ts';
import { createAuditLog } from '../src/safety/audit/audit-chain.ts';
import { verifyAuditLog } from '../src/safety/audit/audit-verify.ts';
import { createCostBreaker } from '../src/safety/limits/cost-breaker.ts';
import { outboundStore } from '../src/slack/outbound/store.ts';
import { fillRecord, type GrowthSize } from './growth-fill.ts';
import { benchIngest } from './ingest.ts';
import { quantile } from './running-product.ts';

const TIMES = 40;
/** Alerts at once. */
const CONNECTIONS = 8;

interface Screen {
  readonly what: string;
  readonly emptyP50Ms: number;
  readonly emptyP95Ms: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

/**
 * How long what people look at takes to be read on a record of a year, beside an empty one in the same run; and what accepting alerts
 * costs on both. `read` is what the statements take: Slack's own time is not part of it.
 */
export async function benchGrowth(
  { databaseUrl }: { readonly databaseUrl: string },
  size: GrowthSize,
): Promise<object> {
  const database = openDatabase(databaseUrl, { max: 32, name: 'bench' });
  const { sql } = database;
  try {
    const [before] = await sql<{ id: IncidentId }>`
      INSERT INTO incident (title, severity, domain, target, source, fingerprint, labels, annotations)
      VALUES ('one', 'critical', 'postgres', 'shop-db', 'bench', 'bench', '{}', '{}') RETURNING id`;
    const empty = await timesOf(sql, before?.id as IncidentId);
    const emptyIngest = await acceptedPerSecond(databaseUrl);
    await sql`TRUNCATE incident, dbos.workflow_status CASCADE`;
    const begun = performance.now();
    await fillRecord(sql, size);
    const fillSeconds = Math.round((performance.now() - begun) / 1_000);
    const [some] = await sql<{ id: IncidentId }>`
      SELECT id FROM incident WHERE state = 'resolved' ORDER BY opened_at DESC LIMIT 1`;
    const full = await timesOf(sql, some?.id as IncidentId);
    const fullIngest = await acceptedPerSecond(databaseUrl);
    const verifying = performance.now();
    const verified = await verifyAuditLog(sql, { key: null, witnessed: [] });
    const verifySeconds = (performance.now() - verifying) / 1_000;
    const [bytes] = await sql<{
      size: string;
    }>`SELECT pg_size_pretty(pg_database_size(current_database())) AS size`;
    return {
      ...size,
      fillSeconds,
      size: bytes?.size,
      screens: [...full].map(([what, times]): Screen => {
        const alone = empty.get(what) ?? [];
        return {
          what,
          emptyP50Ms: quantile(alone, 0.5),
          emptyP95Ms: quantile(alone, 0.95),
          p50Ms: quantile(times, 0.5),
          p95Ms: quantile(times, 0.95),
        };
      }),
      ingest: {
        emptyPerSecond: emptyIngest,
        perSecond: fullIngest,
        ratio: Math.round((100 * fullIngest) / emptyIngest) / 100,
      },
      auditWhole: verified.ok,
      verifiedPerSecond: Math.round(verified.entries / verifySeconds),
    };
  } finally {
    await database.close();
  }
}

async function acceptedPerSecond(databaseUrl: string): Promise<number> {
  const { rows } = await benchIngest({ databaseUrl, rounds: 2 });
  return rows.find(({ connections }) => connections === CONNECTIONS)?.acceptedPerSecond ?? 0;
}

/** What a person looks at, and what runs again and again beside it, by its name. */
async function timesOf(sql: Sql, id: IncidentId): Promise<ReadonlyMap<string, readonly number[]>> {
  const records = createRecords(sql);
  const limits = { usd: 5, windowMs: 600_000, perIncidentUsd: 10, perDayUsd: 100 };
  const log = { debug: noop, info: noop, warn: noop, error: noop };
  const breaker = createCostBreaker({ sql, audit: createAuditLog(sql), limits, log });
  const store = outboundStore(sql, 'bench');
  const looks: Readonly<Record<string, () => Promise<unknown>>> = {
    why: async () => {
      const record = await records.load(id);
      return record && why(record);
    },
    'list of open incidents': () => records.list({ limit: 50, open: true }),
    'list of incidents': () => records.list({ limit: 50 }),
    status: () => Promise.all([records.openCounts(), memorySummary(sql, COUNT_LIMIT), breaker.view()]),
    cost: () => costReport(sql, id),
    Home: () =>
      Promise.all([
        records.list({ limit: 200, open: true }),
        records.openCounts(),
        records.list({ limit: 200 }),
        breaker.view(),
        memorySummary(sql, COUNT_LIMIT),
      ]),
    'approvals in the audit log': async () =>
      sql`SELECT body FROM audit_entry WHERE seq > (SELECT seq FROM audit_head) - 1000 AND body LIKE ${`%"act_${id}"%`}`,
    'breaker of a model call': () => breaker.view(),
    'what is not drawn': () => store.undrawn(),
  };
  const times = new Map<string, number[]>();
  for (const [what, look] of Object.entries(looks)) {
    // The first is of a cold cache and of new connections.
    await look();
    const taken: number[] = [];
    for (let n = 0; n < TIMES; n += 1) {
      const begun = performance.now();
      await look();
      taken.push(performance.now() - begun);
    }
    times.set(what, taken);
  }
  return times;
}

const noop = (): void => undefined;
