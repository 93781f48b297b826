import { parseArgs } from 'node:util';
import { createWhatChanged } from '../src/changes/what-changed.ts';
import type { IncidentId } from '../src/core/ids.ts';
import type { Sql } from '../src/core/sql.ts';
import type { Target } from '../src/core/target.ts';
import { readChangesSubject } from '../src/incidents/changes-around.ts';
import { openDatabase } from '../src/infra/db/client.ts';
import { createRecords } from '../src/record/record.ts';
import { quantile } from './running-product.ts';

const CHANGES = 1_000_000;
const TIMES = 100;
/** As `sentry bench changes --changes N` passes it on. */
export function changesSize(args: readonly string[]): number {
  const options = {
    changes: { type: 'string', default: String(CHANGES) },
    json: { type: 'boolean', default: false },
  } as const;
  return Number(parseArgs({ args: [...args], options }).values.changes);
}

/** A quiet one, one of which a twentieth of all changes is, and one of which nobody ever told. */
const SYSTEMS = ['shop-7', 'shop-busy', 'shop-untold'] as const;
const ONE = { kind: 'kubernetes', domain: 'kubernetes', environment: 'production', aliases: [] } as const;

/**
 * How long it takes to answer what was changed around an incident, on a record of so many changes within a year, beside an empty one in
 * the same run; and beside the one statement without which no answer can be had: those of its names in the window.
 */
export async function benchChanges({
  databaseUrl,
  changes = CHANGES,
}: {
  readonly databaseUrl: string;
  readonly changes?: number;
}): Promise<object> {
  const database = openDatabase(databaseUrl, { name: 'bench' });
  const { sql } = database;
  try {
    // The driver learns the types of arrays with its first statement.
    await sql`SELECT 1`;
    const incidents = await openOneEach(sql);
    const empty = await timesOf(sql, incidents);
    const begun = performance.now();
    await fill(sql, changes);
    const fillSeconds = Math.round((performance.now() - begun) / 1_000);
    const full = await timesOf(sql, incidents);
    return {
      changes,
      fillSeconds,
      systems: SYSTEMS.map((system) => {
        const times = full.get(system);
        return {
          system,
          suspects: times?.suspects,
          emptyP50Ms: quantile(empty.get(system)?.answer ?? [], 0.5),
          p50Ms: quantile(times?.answer ?? [], 0.5),
          p95Ms: quantile(times?.answer ?? [], 0.95),
          statementP50Ms: quantile(times?.statement ?? [], 0.5),
          statementP95Ms: quantile(times?.statement ?? [], 0.95),
        };
      }),
    };
  } finally {
    await database.close();
  }
}

async function openOneEach(sql: Sql): Promise<ReadonlyMap<string, IncidentId>> {
  const rows = await sql<{ id: IncidentId; target: string }>`
    INSERT INTO incident (title, severity, domain, target, source, fingerprint, labels, annotations)
    SELECT 'It is slow', 'critical', 'kubernetes', name, 'bench', name, '{}', '{}' FROM unnest(${sql.array([...SYSTEMS])}::text[]) AS name
    RETURNING id, target`;
  return new Map(rows.map(({ id, target }) => [target, id]));
}

/** Evenly over a year, of 2,000 systems; one in twenty is of the busy one. */
async function fill(sql: Sql, changes: number): Promise<void> {
  await sql`
    INSERT INTO change (source, id, kind, state, title, names, environment, started_at, at, author, from_version, to_version, commits, url)
    SELECT (ARRAY['github', 'argo-cd', 'api:ci', 'own-look'])[1 + n % 4], 'change ' || n,
           (ARRAY['deployment', 'config', 'feature_flag'])[1 + n % 3], 'succeeded', 'shop-' || n % 2000 || ' 1.' || n || ' deployed',
           ARRAY[CASE WHEN n % 20 = 0 THEN 'shop-busy' ELSE 'shop-' || n % 2000 END, 'team-' || n % 50], 'production',
           t.at - interval '2 min', t.at, 'olivia', '1.' || n - 1, '1.' || n,
           '[{"sha": "f95f852bd8fc", "title": "Pay by card", "by": "olivia", "files": ["src/pay.ts"]}]', 'https://example.com/' || n
      FROM generate_series(1, ${changes}::int) AS n,
           LATERAL (SELECT clock_timestamp() - (${changes}::int - n) * (interval '1 year' / ${changes}::int) AS at) AS t`;
  await sql`ANALYZE change`;
}

interface Times {
  readonly answer: readonly number[];
  readonly statement: readonly number[];
  readonly suspects: number;
}

/** In turns, so that what else the machine does falls on both. */
async function timesOf(
  sql: Sql,
  incidents: ReadonlyMap<string, IncidentId>,
): Promise<ReadonlyMap<string, Times>> {
  const targets = new Map(SYSTEMS.map((name): [string, Target] => [name, { ...ONE, name }]));
  const records = createRecords(sql);
  const { whatChanged } = createWhatChanged({
    sql,
    subjectOf: (id) => readChangesSubject({ sql, records, targets }, id),
  });
  const times = new Map<string, Times>();
  for (const [system, id] of incidents) {
    const answer: number[] = [];
    const statement: number[] = [];
    let suspects = 0;
    for (let n = 0; n < TIMES; n += 1) {
      const begun = performance.now();
      const found = await whatChanged(id, { signal: AbortSignal.timeout(60_000) });
      const answered = performance.now();
      await sql`
        SELECT * FROM change WHERE names && ${sql.array([system])}::text[] AND at > clock_timestamp() - interval '2 hours'
         ORDER BY at DESC LIMIT 200`;
      answer.push(answered - begun);
      statement.push(performance.now() - answered);
      suspects = 'suspects' in found ? found.suspects.length : 0;
    }
    times.set(system, { answer, statement, suspects });
  }
  return times;
}
