import { afterAll, beforeAll, expect, test } from 'vitest';
import { asIncidentId } from '../../../src/core/ids.ts';
import { createOutbox } from '../../../src/memory/outbox.ts';
import { incidentDocument } from '../../../src/memory/past/incident-document.ts';
import { recallIncidents } from '../../../src/memory/past/recall-incidents.ts';
import { recallRunbooks } from '../../../src/memory/recall-runbooks.ts';
import type { VectorCollection } from '../../../src/search/ports.ts';
import { createRetrieval } from '../../../src/search/retrieval.ts';
import { type AcceptDatabase, acceptDatabase } from '../../support/accept-database.ts';
import { everybodyReads } from '../../support/audiences.ts';
import { anIncident, aRecord } from '../../support/incidents.ts';
import { quiet } from '../../support/quiet.ts';

let db: AcceptDatabase;
beforeAll(async () => {
  db = await acceptDatabase();
});
afterAll(() => db.close());

const embedder = { fingerprint: 'f', embed: async () => [[1, 0]], close: async () => undefined };
const collectionOf = (change: Partial<VectorCollection>) => ({
  collection: () => ({
    upsert: async () => undefined,
    query: async () => [],
    list: async () => [],
    remove: async () => undefined,
    ...change,
  }),
});

test('six past problems are recalled of nine that are alike [S-mutations]', async () => {
  const causes = ['A vacuum.', 'A backup.', 'A report.', 'A migration.', 'A deploy.', 'A cron job.'];
  const others = ['A human at psql.', 'A full disk.', 'A slow replica.'];
  const ids = [...causes, ...others].map((_, n) => `INC-${n + 10}`);
  for (const [n, cause] of [...causes, ...others].entries())
    await db.sql`
      INSERT INTO incident (id, title, alert_name, incident_type, state, cause, severity, domain, target, source,
                            fingerprint, labels, annotations)
      VALUES (${`INC-${n + 10}`}, 'PostgresBlockedSessions', 'PostgresBlockedSessions', 'blocked_sessions', 'resolved',
              ${cause}, 'critical', 'postgres', 'shop-db', 'test', ${`f ${n}`}, '{}', '{}')`;
  const vectors = collectionOf({
    query: async () => ids.map((id, n) => ({ id, distance: 0.01 * n, document: '', metadata: {} })),
  });
  const { incidents } = await recallIncidents(
    {
      sql: db.sql,
      vectors,
      embedder,
      audiences: everybodyReads,
      log: quiet,
      cuts: () => ({ sameKind: 0.65, unnamed: 0.35 }),
    },
    anIncident({ id: asIncidentId('INC-99') }),
    'blocked_sessions',
    1_000,
  );
  expect(incidents.map(({ incidentId }) => incidentId)).toEqual(ids.slice(0, 6));
});

test('a problem that came two hundred times leaves room for others of its kind', async () => {
  const put = (id: string, cause: string, fingerprint: string) => db.sql`
    INSERT INTO incident (id, title, alert_name, incident_type, state, cause, severity, domain, target, source, fingerprint,
                          labels, annotations)
    VALUES (${id}, 'PostgresDeadlocks', 'PostgresDeadlocks', 'deadlocks', 'resolved', ${cause}, 'critical', 'postgres', 'carts-db',
            'test', ${fingerprint}, '{}', '{}')`;
  const many = Array.from({ length: 200 }, (_, n) => `INC-${n + 2_000}`);
  for (const id of many) await put(id, 'Two workers lock carts in another order.', 'the same');
  await put('INC-1999', 'A migration rewrites the table of orders.', 'another');
  const vectors = collectionOf({
    query: async (_, k) =>
      [...many, 'INC-1999']
        .slice(0, k)
        .map((id, n) => ({ id, distance: 0.001 * n, document: '', metadata: {} })),
  });
  const { incidents } = await recallIncidents(
    {
      sql: db.sql,
      vectors,
      embedder,
      audiences: everybodyReads,
      log: quiet,
      cuts: () => ({ sameKind: 0.65, unnamed: 0.35 }),
    },
    anIncident({ id: asIncidentId('INC-98') }),
    'deadlocks',
    1_000,
  );
  expect(incidents.map(({ incidentId, times }) => [incidentId, times])).toEqual([
    [incidents[0]?.incidentId, 200],
    ['INC-1999', 1],
  ]);
});

test('a past cause comes with the read that showed it, of the newest that was fixed', async () => {
  const put = async (id: string, cause: string | null, openedAt: string, resolvedBy: string | null) => db.sql`
    INSERT INTO incident (id, title, alert_name, incident_type, state, cause, severity, domain, target, source, fingerprint,
                          labels, annotations, opened_at, resolved_by)
    VALUES (${id}, 'PostgresBloat', 'PostgresBloat', 'bloat', 'resolved', ${cause}, 'critical', 'postgres', 'bloat-db', 'test',
            'bloat', '{}', '{}', ${openedAt}, ${resolvedBy})`;
  const call = (
    id: string,
    incident: string,
    tool: string,
    input: object,
    target: string | null = 'bloat-db',
  ) => db.sql`
    INSERT INTO tool_call (id, incident_id, role, tool, target, input, state, output, output_sha256, truncated, started_at, finished_at)
    VALUES (${id}, ${incident}, 'detective', ${tool}, ${target}, ${db.sql.json(input as never)}, 'ok', 'o', 'h', false, now(), now())`;
  const diagnosed = (incident: string, ids: readonly string[], key: string) => db.sql`
    INSERT INTO event (incident_id, type, body, dedupe_key) VALUES (${incident}, 'diagnosis.concluded', ${db.sql.json(
      {
        round: 1,
        diagnosis: { verdict: 'cause_found', evidence: [{ claim: 'c', toolCallIds: ids, quote: null }] },
      } as never,
    )}, ${key})`;
  await put('INC-3001', 'Autovacuum is off for carts.', '2026-11-01T10:00:00Z', 'confirmed');
  await put('INC-3002', null, '2026-11-02T10:00:00Z', 'source');
  await put('INC-3003', 'A backup holds back the horizon.', '2026-11-03T10:00:00Z', 'person');
  await call('tc_memory', 'INC-3001', 'memory_search', { query: 'x' }, null);
  await call('tc_tables', 'INC-3001', 'postgres_tables', { table: 'carts' });
  await diagnosed('INC-3001', ['tc_memory', 'tc_tables'], 'd');
  const vectors = collectionOf({
    query: async () => [{ id: 'INC-3003', distance: 0.1, document: '', metadata: {} }],
  });
  const recalled = async () =>
    (
      await recallIncidents(
        {
          sql: db.sql,
          vectors,
          embedder,
          audiences: everybodyReads,
          log: quiet,
          cuts: () => ({ sameKind: 0.65, unnamed: 0.35 }),
        },
        anIncident({ id: asIncidentId('INC-98'), target: 'bloat-db' }),
        'bloat',
        1_000,
      )
    ).incidents.map(({ incidentId, check }) => ({ incidentId, check }));
  const check = {
    incidentId: 'INC-3001',
    cause: 'Autovacuum is off for carts.',
    ended: 'fixed',
    read: { tool: 'postgres_tables', input: { table: 'carts' } },
  };
  expect(await recalled()).toEqual([{ incidentId: 'INC-3003', check }]);
  await db.sql`UPDATE tool_call SET input = '{"pid": 7157}' WHERE id = 'tc_tables'`;
  expect(await recalled()).toEqual([
    { incidentId: 'INC-3003', check: { ...check, read: { tool: 'postgres_tables', input: null } } },
  ]);
  await db.sql`UPDATE tool_call SET input = NULL WHERE id = 'tc_tables'`;
  await db.sql`UPDATE incident SET cause = NULL WHERE id = 'INC-3001'`;
  expect(await recalled()).toEqual([
    {
      incidentId: 'INC-3003',
      check: {
        incidentId: 'INC-3003',
        cause: 'A backup holds back the horizon.',
        ended: 'closed by a person',
        read: null,
      },
    },
  ]);
});

test('five runbooks are recalled of nine that fit, out of three times as many passages as may be told [S-mutations]', async () => {
  const vectors = collectionOf({});
  const retrieval = createRetrieval({ sql: db.sql, vectors, embedder, log: quiet });
  await retrieval.upsert(
    { kind: 'runbook', scope: 'postgres' },
    Array.from({ length: 9 }, (_, n) => ({ key: `dipper-${n}`, title: 'Dipper', text: 'The dipper dives.' })),
  );
  const asked: (number | undefined)[] = [];
  const found = await recallRunbooks(
    {
      sql: db.sql,
      log: quiet,
      audiences: everybodyReads,
      documents: { read: async () => null },
      runbooks: () => [],
      retrieval: {
        search: (query) => {
          asked.push(query.k);
          return retrieval.search(query);
        },
      },
    },
    anIncident({ title: 'dipper', alertName: null }),
    null,
    0,
  );
  expect(found).toHaveLength(5);
  // Twice as many as are told, since a runbook has several passages.
  expect(asked).toEqual([3 * 2 * 5]);
});

test('of an analysis memory keeps the first 1,500 characters, and which tools were used [S-mutations]', () => {
  const record = aRecord(
    anIncident({ state: 'resolved', incidentType: 'blocked_sessions' }),
    'x'.repeat(9_000),
  );
  const call = (tool: string) => ({ ...({} as (typeof record.toolCalls)[number]), tool });
  const { document, metadata } = incidentDocument(
    { ...record, toolCalls: ['postgres_locks', 'postgres_activity', 'postgres_locks'].map(call) },
    new Date('2026-03-01T10:00:00Z'),
  );
  const analysis = document.slice(document.indexOf('\n\n') + 2);
  expect(analysis).toHaveLength(1_500);
  expect(analysis).toMatch(/x{1000}$/);
  expect(metadata).toMatchObject({
    incident_id: 'INC-1',
    title: 'PostgresBlockedSessions',
    target: 'shop-db',
    severity: 'critical',
    incident_type: 'blocked_sessions',
    tools_used: 'postgres_locks,postgres_activity',
    stored_at: '2026-03-01T10:00:00.000Z',
  });
});

test('a write to the vector database may take eight seconds, a removal too [S-mutations]', async () => {
  const limits: number[] = [];
  const vectors = collectionOf({
    upsert: async (_, timeoutMs) => void limits.push(timeoutMs),
    remove: async (_, timeoutMs) => void limits.push(timeoutMs),
  });
  const outbox = createOutbox({ sql: db.sql, vectors, embedder, log: quiet });
  const entry = { collection: 'incidents-postgres', id: 'INC-1', document: 'd', metadata: {} };
  await outbox.write(entry);
  await db.sql`
    INSERT INTO memory_outbox (collection, id, document, metadata, next_at, removal)
    VALUES (${entry.collection}, 'INC-2', 'd', '{}', now(), true)`;
  await outbox.flush();
  expect(limits).toEqual([8_000, 8_000]);
});
