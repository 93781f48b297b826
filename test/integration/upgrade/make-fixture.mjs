// Makes before-the-rebuild.jsonl with the code of commit 8e3ff95 (2026-11-22). How: check that commit out, copy this folder
// into it at the same place, and there: `node --import tsx test/integration/upgrade/make-fixture.mjs <scratch folder>`.
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import postgres from 'postgres';
import { createScriptedClaude } from '../../../playground/claude/scripted-claude.ts';
import { createMemoryDocuments } from '../../../src/app/memory-documents.ts';
import { openDatabase } from '../../../src/infra/db/client.ts';
import { startEmbeddedPostgres } from '../../../src/infra/db/embedded/start-embedded-postgres.ts';
import { migrateDatabase } from '../../../src/infra/db/migrate.ts';
import { seedStores } from '../../../src/memory/documents/seed-stores.ts';
import { createRetrieval } from '../../../src/memory/retrieval/retrieval.ts';
import { syncDocuments } from '../../../src/memory/retrieval/sources/sync-documents.ts';
import { allTools } from '../../../src/tools/all.ts';
import { createRegistry } from '../../../src/tools/registry.ts';
import { createBoxes } from '../../support/chaos-box.ts';
import { quiet } from '../../support/quiet.ts';
import { waitFor } from '../../support/wait-for.ts';
import { BOXES, createScene, ID, sceneAlert, sceneModel } from './scene.ts';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const server = await startEmbeddedPostgres({ dataDir: process.argv[2], name: 'upgrade', log: quiet });
await migrateDatabase(server.url, here('../../../prisma/migrations'));
const { sql } = openDatabase(server.url, { max: 4 });
await createBoxes(sql, BOXES);

const held = new Set([
  'triage triaging',
  'detective diagnosing',
  'surgeon planning',
  'ran claimed',
  'ran ran',
  'verify verifying',
  'conversation reported',
]);
const isHeld = (place, box) => held.has(`${place} ${box}`);
const claude = await createScriptedClaude({ scenario: sceneModel(isHeld) });
const core = await createScene({
  url: server.url,
  claudeUrl: claude.url,
  sql,
  isHeld,
  toolTimeoutMs: 30_000,
});
await core.start();
await sql`UPDATE box SET broken = false WHERE name IN ('ignored')`;

const ids = {};
const open = async (box) => {
  ids[box] = (await core.accept(sceneAlert(box))).incidentId;
};
let seen;
const until = (box, state) =>
  waitFor(
    `${box} to be ${state}`,
    async () => {
      const incident = await core.records.incident(ids[box]);
      seen = incident?.state;
      return seen === state;
    },
    { seen: () => seen, timeoutMs: 20_000 },
  );
const card = async (box, nth = 0) =>
  waitFor(
    `a card of ${box}`,
    async () => {
      const action = (await core.records.load(ids[box])).actions.at(-1);
      return (
        (await core.records.load(ids[box])).actions.length > nth && action?.state === 'proposed' && action
      );
    },
    { timeoutMs: 20_000, seen: () => seen },
  );
const decide = async (box, nth = 0, how = {}) => {
  const { id, planHash } = await card(box, nth);
  const decided = await core.approvals.decide({
    actionId: id,
    planHash,
    by: 'UONCALL',
    decision: 'approve',
    reason: '',
    anotherWay: false,
    ...how,
  });
  if (!decided.ok) throw new Error(`${box}: ${decided.reason}`);
  return id;
};

for (const box of BOXES) if (box !== 'open') await open(box);
await Promise.all(['ignored', 'reported'].map((box) => until(box, box)));
await decide('denied', 0, {
  decision: 'deny',
  reason: 'Not in office hours.',
  reach: { scope: 'target', minutes: 24 * 60 },
});
await decide('resolved');
await decide('undoable');
for (const nth of [0, 1, 2]) await decide('escalated', nth);
await Promise.all(['resolved', 'escalated'].map((box) => until(box, box)));
await until('undoable', 'resolved');
await until('denied', 'reported');
await card('stopped');
await core.steering.stop(ids.stopped, 'UONCALL', 'A drill.');
await card('waiting');
await card('approved');
await card('checking');

// A promoted document, findable by its words.
await seedStores(sql);
const documentDeps = {
  sql,
  events: core.records,
  audit: core.audit,
  enabled: true,
  isAdmin: async () => true,
  runbooks: { tools: createRegistry([]), sources: [] },
  dryRun: null,
  notifier: { proposed: () => undefined, decided: () => undefined, tried: () => undefined },
};
const { documents, promotions } = createMemoryDocuments(documentDeps);
const written = await documents.write(
  { kind: 'agent', role: 'detective', incidentId: ids.resolved },
  {
    place: { store: 'conversation_memory', incidentId: ids.resolved },
    document: {
      path: 'drafts/hinges',
      title: 'The hinges rust in winter',
      content: 'A box breaks when its hinges rust.\nOil them before the frost.',
      docType: 'note',
    },
    sources: [{ kind: 'incident', ref: ids.resolved }],
  },
);
if (!written.ok) throw new Error(written.reason);
const proposed = await promotions.propose(
  { kind: 'agent', incidentId: ids.resolved, userId: null },
  { ref: { id: written.document.id }, rationale: 'It came twice.', domain: 'postgres', by: 'detective' },
);
if (!proposed.ok) throw new Error(proposed.reason);
const promoted = await promotions.decide({
  jobId: proposed.jobId,
  by: 'UADMIN',
  decision: { kind: 'approve' },
});
if (!promoted.ok) throw new Error(promoted.reason);
const never = { collection: () => Promise.reject(new Error('no vectors here')) };
const retrieval = createRetrieval({ sql, vectors: never, embedder: never, log: quiet });
await syncDocuments(sql, retrieval);

// From here on everything is held in the middle.
await decide('unknown');
await waitFor('an unknown outcome', async () => {
  const [row] = await sql`SELECT 1 FROM action WHERE state = 'unknown'`;
  return row !== undefined;
});
await Promise.all(['triaging', 'diagnosing', 'planning'].map((box) => until(box, box)));
for (const box of ['claimed', 'ran', 'verifying']) await decide(box);
held.add('preflight checking');
await decide('checking');
await waitFor('all effects', async () => {
  const rows = await sql`SELECT DISTINCT box FROM effect WHERE box IN ('claimed', 'ran', 'verifying')`;
  return rows.length === 3;
});
await until('verifying', 'verifying');
const asked = {
  channel: 'C1',
  ts: '1.2',
  threadTs: '1.1',
  direct: false,
  by: 'UONCALL',
  text: 'Is it broken still?',
};
await core.questions.ask({ ...asked, incidentId: ids.reported });
await sleep(1_500);
// Its row stays, as when it is killed; no other process has its id. The last two only wait in the queue.
const [worker] = await sql`SELECT executor_id AS id FROM process`;
await core.engine.stop(0);
await sql`INSERT INTO process (executor_id, pid, host) VALUES (${worker.id}, 1, 'another-host')`;
await decide('approved');
await open('open');

const steps = await sql`
  SELECT DISTINCT regexp_replace(o.function_name, ${ID}, '', 'g') AS name
    FROM dbos.operation_outputs o JOIN dbos.workflow_status w USING (workflow_uuid)
   WHERE w.queue_partition_key = ${ids.resolved} ORDER BY 1`;
await sql`DELETE FROM credential`;
// As the engine does with them after a week: they are most of the file, and nobody reads them.
await sql`
  WITH gone AS (DELETE FROM dbos.workflow_status WHERE status = 'SUCCESS' RETURNING workflow_uuid AS id),
       steps AS (DELETE FROM dbos.operation_outputs WHERE workflow_uuid IN (SELECT id FROM gone)),
       inputs AS (DELETE FROM dbos.workflow_input WHERE workflow_uuid IN (SELECT id FROM gone))
  DELETE FROM dbos.workflow_output WHERE workflow_uuid IN (SELECT id FROM gone)`;
const withoutNulls = (row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
const plain = postgres(server.url, { max: 1 });
const tables = {};
const sequences = {};
await plain.begin('ISOLATION LEVEL REPEATABLE READ', async (tx) => {
  for (const { name } of await tx`
    SELECT schemaname || '.' || tablename AS name FROM pg_tables
     WHERE schemaname IN ('public', 'dbos') AND tablename NOT IN ('_prisma_migrations', 'dbos_migrations') ORDER BY 1`) {
    const rows = await tx.unsafe(`SELECT to_jsonb(t) AS row FROM ${name} t ORDER BY t`);
    if (rows.length > 0) tables[name] = rows.map(({ row }) => withoutNulls(row));
  }
  for (const { name, last } of await tx`
    SELECT schemaname || '.' || sequencename AS name, last_value AS last FROM pg_sequences WHERE last_value IS NOT NULL`)
    sequences[name] = Number(last);
});
const names = { tools: allTools.map(({ name }) => name), steps: steps.map(({ name }) => name) };
const head = { madeAt: new Date().toISOString(), ids, sequences, ...names };
const lines = [head, ...Object.entries(tables).map(([table, rows]) => ({ table, rows }))];
writeFileSync(here('before-the-rebuild.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
claude.release();
await server.stop();
process.exit(0);
