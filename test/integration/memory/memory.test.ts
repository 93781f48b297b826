import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { asIncidentId } from '../../../src/core/ids.ts';
import type { Incident } from '../../../src/core/incident.ts';
import { EMPTY_RECALL } from '../../../src/core/memory.ts';
import { createChromaStore } from '../../../src/infra/chroma/client.ts';
import { createEmbedder } from '../../../src/infra/embeddings/embedder.ts';
import { createMemory, type Memory, type MemoryDeps } from '../../../src/memory/memory.ts';
import { loadRunbooks } from '../../../src/runbooks/load-runbooks.ts';
import type { Embedder } from '../../../src/search/ports.ts';
import { createRetrieval } from '../../../src/search/retrieval.ts';
import { type AcceptDatabase, acceptDatabase } from '../../support/accept-database.ts';
import { everybodyReads } from '../../support/audiences.ts';
import { scratchChroma } from '../../support/chroma.ts';
import { anIncident, aRecord } from '../../support/incidents.ts';
import { domains } from '../../support/targets.ts';

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const embedder = createEmbedder({ log });
let db: AcceptDatabase;
let host: string;
beforeAll(async () => {
  [db, { host }] = await Promise.all([acceptDatabase(), scratchChroma()]);
});
afterAll(async () => {
  await embedder.close();
  await db.close();
});
beforeEach(async () => {
  await db.sql`TRUNCATE incident, memory_outbox, episode, search_space CASCADE`;
});

/** Collections of its own: the server is shared by all tests. */
function memoryOf(change: Partial<MemoryDeps> = {}, server = host) {
  const store = createChromaStore({ host: server, log });
  const run = randomUUID().slice(0, 8);
  const vectors = {
    collection: (name: string, fingerprint: string) => store.collection(`${run}-${name}`, fingerprint),
  };
  const parts = { sql: db.sql, vectors, embedder, log, ...change };
  const retrieval = createRetrieval(parts);
  return createMemory({
    ...parts,
    retrieval,
    documents: { read: async () => null },
    audiences: everybodyReads,
    runbooks: () => [],
    enabled: true,
    domains,
    ...change,
  });
}

const faults = [
  [
    'PostgresBlockedSessions',
    'blocked_sessions',
    'Backend 4711 holds a row lock on orders and blocks five sessions.',
  ],
  [
    'PostgresIdleInTransaction',
    'idle_in_transaction',
    'A session of the report job has been idle in a transaction for 20 minutes.',
  ],
  [
    'PostgresConnectionsExhausted',
    'connection_exhaustion',
    'The checkout application holds 95 of 100 connections.',
  ],
  [
    'PostgresLongRunningQuery',
    'long_running_query',
    'A cross join of orders with itself has been running for 30 minutes.',
  ],
  ['PostgresTableBloat', 'table_bloat', 'Autovacuum is off for the table carts: 80 % of its rows are dead.'],
] as const;

/** As they stand on record: what memory tells of an incident comes from there. */
async function onRecord(incident: Incident, cause = 'A lock.'): Promise<void> {
  const { id, title, alertName, incidentType, state, domain, target } = incident;
  await db.sql`
    INSERT INTO incident (id, title, alert_name, incident_type, state, cause, severity, domain, target, source,
                          fingerprint, labels, annotations)
    VALUES (${id}, ${title}, ${alertName}, ${incidentType}, ${state}, ${cause}, 'critical', ${domain}, ${target}, 'test',
            ${`f ${id}`}, '{}', '{}')`;
}

const incidentOf = (n: number, [alertName, incidentType]: readonly [string, string, string]) =>
  anIncident({ id: asIncidentId(`INC-${n}`), title: alertName, alertName, incidentType, state: 'resolved' });

describe('past incidents', () => {
  let memory: Memory;
  beforeAll(async () => {
    memory = memoryOf();
    await allOnRecord();
    await Promise.all(
      faults.map((fault, i) => memory.rememberIncident(aRecord(incidentOf(i + 1, fault), fault[2]))),
    );
  });
  beforeEach(allOnRecord);

  async function allOnRecord(): Promise<void> {
    for (const [i, fault] of faults.entries()) await onRecord(incidentOf(i + 1, fault), fault[2]);
  }

  test.each(faults.map((fault, i) => ({ name: fault[0], type: fault[1], past: `INC-${i + 1}` })))(
    'the same fault again ($name) is seen before, and no other is',
    async ({ name, type, past }) => {
      const again = anIncident({ id: asIncidentId('INC-99'), title: name, alertName: name });
      // Before triage by the alert's name, after it by the kind.
      for (const known of [null, type]) {
        const { incidents, missing } = await memory.recall(again, known);
        expect(missing).toBeNull();
        expect(incidents.map(({ incidentId }) => incidentId)).toEqual([past]);
      }
    },
  );

  test('the same kind under another alert name is seen before', async () => {
    const other = anIncident({
      id: asIncidentId('INC-99'),
      title: 'Sessions wait for locks',
      alertName: 'PgLockWaits',
    });
    const { incidents } = await memory.recall(other, 'blocked_sessions');
    expect(incidents.map(({ incidentId }) => incidentId)).toEqual(['INC-1']);
    expect((await memory.recall(other, null)).incidents).toEqual([]);
  });

  test('the same alert of another kind is not', async () => {
    const { incidents } = await memory.recall(anIncident({ id: asIncidentId('INC-99') }), 'deadlocks');
    expect(incidents).toEqual([]);
  });

  test('the incident itself is never recalled', async () => {
    const { incidents } = await memory.recall(incidentOf(1, faults[0]), 'blocked_sessions');
    expect(incidents).toEqual([]);
  });

  test('of another domain are never seen', async () => {
    const docker = anIncident({ id: asIncidentId('INC-99'), domain: 'docker' });
    expect((await memory.recall(docker, 'blocked_sessions')).incidents).toEqual([]);
  });

  test('are replaced by id, with the analysis as text', async () => {
    await memory.rememberIncident(aRecord(incidentOf(1, faults[0]), 'It was backend 4712 after all.'));
    const { incidents } = await memory.recall(anIncident({ id: asIncidentId('INC-99') }), 'blocked_sessions');
    expect(incidents).toHaveLength(1);
    expect(incidents[0]).toMatchObject({
      title: 'PostgresBlockedSessions',
      target: 'shop-db',
      incidentType: 'blocked_sessions',
    });
    expect(incidents[0]?.document).toContain('Cause: It was backend 4712 after all.');
  });
});

test('an ignored incident is not stored', async () => {
  const memory = memoryOf();
  await memory.rememberIncident(aRecord(anIncident({ state: 'ignored' }), 'Nothing.'));
  expect((await memory.recall(anIncident({ id: asIncidentId('INC-2') }))).incidents).toEqual([]);
  expect(await db.sql`SELECT FROM memory_outbox`).toHaveLength(0);
});

describe('runbooks', () => {
  test('are seeded once, found by their alert, and follow their files', async () => {
    const memory = memoryOf();
    const { runbooks, problems } = await loadRunbooks(join(import.meta.dirname, '../../../runbooks'));
    expect(problems).toEqual([]);
    const first = await memory.seedRunbooks(runbooks);
    expect(first).toMatchObject({ changed: 0, removed: 0, unchanged: 0 });
    expect(first.added).toBeGreaterThan(runbooks.length);
    expect(await memory.seedRunbooks(runbooks)).toEqual({ ...first, added: 0, unchanged: first.added });

    const found = await memory.recall(anIncident({ id: asIncidentId('INC-99') }));
    expect(found.runbooks[0]?.runbookId).toBe('blocked-sessions');
    expect(found.runbooks.length).toBeLessThanOrEqual(5);

    const left = runbooks.filter(({ id }) => id !== 'blocked-sessions');
    // A slip of the pen in its file does not take a runbook out of memory.
    expect((await memory.seedRunbooks(left, { incomplete: true })).removed).toBe(0);
    const still = await memory.recall(anIncident({ id: asIncidentId('INC-99') }));
    expect(still.runbooks[0]?.runbookId).toBe('blocked-sessions');
    const fewer = await memory.seedRunbooks(left);
    expect(fewer.removed).toBeGreaterThan(0);
    const after = await memory.recall(anIncident({ id: asIncidentId('INC-99') }));
    expect(after.runbooks.map(({ runbookId }) => runbookId)).not.toContain('blocked-sessions');
  });
});

const never = () => expect.unreachable('it was written to');

describe('while Chroma is away', () => {
  const away = 'http://127.0.0.1:9';

  test('recall answers what it has and says what is missing', async () => {
    const memory = memoryOf({}, away);
    const { runbooks } = await loadRunbooks(join(import.meta.dirname, '../../../runbooks'));
    await expect(memory.seedRunbooks(runbooks)).rejects.toMatchObject({ code: /CHROMA/ });
    const recall = await memory.recall(anIncident());
    expect(recall.incidents).toEqual([]);
    // Found by their words, for which PostgreSQL is enough.
    expect(recall.runbooks[0]?.runbookId).toBe('blocked-sessions');
    expect(recall.missing).toBe('Memory did not answer about past incidents.');
  });

  test('the runbook files on disk are recalled when the index does not answer either', async () => {
    const { runbooks } = await loadRunbooks(join(import.meta.dirname, '../../../runbooks'));
    const dead = { search: () => Promise.reject(new Error('away')), put: never, list: never, remove: never };
    const memory = memoryOf({ retrieval: dead as never, runbooks: () => runbooks }, away);
    const recall = await memory.recall(anIncident({ id: asIncidentId('INC-99') }));
    expect(recall.runbooks[0]).toMatchObject({ runbookId: 'blocked-sessions' });
    expect(recall.missing).toContain('runbooks');
    // By words where no matcher knows the alert.
    const unknown = anIncident({
      title: 'Checkout hangs',
      alertName: 'CheckoutHangs',
      annotations: { summary: 'Sessions wait for a row lock that another session holds.' },
    });
    const found = (await memory.recall(unknown)).runbooks.map(({ runbookId }) => runbookId);
    expect(found).toContain('blocked-sessions');
  });

  test('recall ends within its limit although the embedding hangs', async () => {
    const hanging: Embedder = { ...embedder, embed: () => new Promise(() => undefined) };
    const recall = await memoryOf({ embedder: hanging, recallLimitMs: 200 }).recall(anIncident());
    expect(recall.missing).not.toBeNull();
  });

  test('a write waits in the outbox and lands when Chroma is back', async () => {
    const run = randomUUID().slice(0, 8);
    const stores = { now: createChromaStore({ host: away, log }) };
    const vectors = { collection: (name: string, f: string) => stores.now.collection(`${run}-${name}`, f) };
    const memory = memoryOf({ vectors });
    await onRecord(incidentOf(1, faults[0]));
    await memory.rememberIncident(aRecord(incidentOf(1, faults[0]), 'A lock.'));
    expect(await db.sql`SELECT last_error FROM memory_outbox`).toMatchObject([
      { last_error: expect.stringContaining('Chroma') },
    ]);
    // Not due yet, then due but still away, then back.
    expect(await memory.flushOutbox()).toBe(0);
    await db.sql`UPDATE memory_outbox SET next_at = clock_timestamp()`;
    expect(await memory.flushOutbox()).toBe(0);
    expect(
      await db.sql`SELECT attempts, next_at > clock_timestamp() AS later FROM memory_outbox`,
    ).toMatchObject([{ attempts: 1, later: true }]);
    stores.now = createChromaStore({ host, log });
    await db.sql`UPDATE memory_outbox SET next_at = clock_timestamp()`;
    expect(await memory.flushOutbox()).toBe(1);
    expect(await db.sql`SELECT FROM memory_outbox`).toHaveLength(0);
    const { incidents } = await memory.recall(anIncident({ id: asIncidentId('INC-99') }));
    expect(incidents.map(({ incidentId }) => incidentId)).toEqual(['INC-1']);
  });
});

test('a collection made with another embedding is refused with what to do', async () => {
  const name = `other-${randomUUID()}`;
  const store = createChromaStore({ host, log });
  await store.collection(name, 'one').list(5_000);
  await expect(createChromaStore({ host, log }).collection(name, 'two').list(5_000)).rejects.toMatchObject({
    code: 'CHROMA_OTHER_EMBEDDING',
    hint: expect.stringContaining(name),
  });
});

test('with MEMORY_ENABLED=false Chroma is not asked and not written to, and episodes still are', async () => {
  const never = { collection: () => expect.unreachable('Chroma was asked') };
  const memory = memoryOf({ enabled: false, vectors: never });
  await db.sql`INSERT INTO incident (id, title, severity, domain, source, fingerprint, labels, annotations)
               VALUES ('INC-1', 't', 'info', 'postgres', 'test', 'f', '{}', '{}')`;
  await memory.rememberIncident(aRecord(incidentOf(1, faults[0]), 'A lock.'));
  await memory.recordEpisode({
    incidentId: asIncidentId('INC-1'),
    actionId: 'act_1',
    error: 'Sessions blocked by a lock on orders',
    diagnosis: 'a lock',
    command: 'SELECT pg_terminate_backend(1)',
    result: 'true',
    success: true,
  });
  const recall = await memory.recall(anIncident({ title: 'Blocked sessions on orders', annotations: {} }));
  expect(recall).toEqual(EMPTY_RECALL);
  expect(await db.sql`SELECT success FROM episode`).toEqual([{ success: true }]);
  expect(await db.sql`SELECT FROM search_entry`).toEqual([]);
  expect(await db.sql`SELECT FROM memory_outbox`).toHaveLength(0);
});

test('an episode of the same action is one row, with the last verdict', async () => {
  const memory = memoryOf();
  await db.sql`INSERT INTO incident (id, title, severity, domain, source, fingerprint, labels, annotations)
               VALUES ('INC-1', 't', 'info', 'postgres', 'test', 'f', '{}', '{}')`;
  const episode = {
    incidentId: asIncidentId('INC-1'),
    actionId: 'act_1',
    error: 'e',
    diagnosis: 'd',
    command: 'c',
    result: 'r',
  };
  await memory.recordEpisode({ ...episode, success: null });
  await memory.recordEpisode({ ...episode, success: false });
  expect(await db.sql`SELECT success FROM episode`).toMatchObject([{ success: false }]);
});

test('the embedding does not hold up the event loop', async () => {
  const texts = Array.from({ length: 12 }, (_, i) => `${randomUUID()} a text of some length ${i}`);
  let done = false;
  const embedding = embedder.embed(texts).finally(() => {
    done = true;
  });
  let turns = 0;
  for (; !done; turns += 1) await nextTurn();
  expect((await embedding).map(({ length }) => length)).toEqual(Array(12).fill(512));
  // In this thread the event loop would hardly turn more than once a text.
  expect(turns).toBeGreaterThan(100);
});
