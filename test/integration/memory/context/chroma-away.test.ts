import { afterAll, beforeAll, expect, test } from 'vitest';
import { createChromaStore } from '../../../../src/infra/chroma/client.ts';
import { type EmbeddedChroma, startEmbeddedChroma } from '../../../../src/infra/chroma/embedded-chroma.ts';
import { createEmbedder } from '../../../../src/infra/embeddings/embedder.ts';
import { conversationStore } from '../../../../src/memory/documents/document.ts';
import { loadRunbooks } from '../../../../src/runbooks/load-runbooks.ts';
import { boxTools, type Machine } from '../../../support/core.ts';
import { quiet } from '../../../support/quiet.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import type { Row } from '../../../support/typed.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { note } from '../documents/rig.ts';
import { type MemoryRig, memoryRig } from './rig.ts';

const machine: Machine = { broken: true, generation: 1, effects: 0, helps: true };
const dataDir = scratchDir();
const embedder = createEmbedder({ log: quiet });
let chroma: EmbeddedChroma;
let rig: MemoryRig;

beforeAll(async () => {
  chroma = await startEmbeddedChroma({ dataDir, log: quiet });
  const vectors = createChromaStore({ host: chroma.host, log: quiet });
  rig = await memoryRig({ tools: boxTools(machine), vectors, embedder });
}, 60_000);
afterAll(async () => {
  await rig.close();
  await embedder.close();
  await chroma.stop();
});

const waiting = async () => rig.sql<Row>`SELECT collection, id FROM memory_outbox ORDER BY 1, 2`;
const vectorsOf = async (collection: string) =>
  (
    await createChromaStore({ host: chroma.host, log: quiet })
      .collection(collection, embedder.fingerprint)
      .list(5_000)
  ).map(({ id }) => id);

test('Chroma is gone for a whole incident: it ends in time and says so, and afterwards every memory is there', async () => {
  const { runbooks } = await loadRunbooks(new URL('../../../../runbooks', import.meta.url).pathname);
  const some = runbooks.filter(({ id }) => id === 'blocked-sessions');
  await rig.memory.seedRunbooks(some);
  await chroma.stop();

  const id = await rig.open({ title: 'The box is broken: sessions blocked by a lock' });
  const proposed = await rig.until(id, 'awaiting_approval');
  const [action] = proposed.actions;
  if (!action) throw new Error('nothing was proposed');
  const written = await rig.documents.write(
    { kind: 'agent', role: 'detective', incidentId: id },
    {
      place: { store: conversationStore, incidentId: id },
      document: note({ path: 'drafts/box' }),
      sources: [],
    },
  );
  if (!written.ok) throw new Error(written.reason);
  const reader = { kind: 'agent', incidentId: id, userId: null } as const;
  const ask = {
    ref: { id: written.document.id },
    rationale: 'Helps.',
    domain: 'postgres',
    by: 'detective',
  } as const;
  const promotion = await rig.promotions.propose(reader, ask);
  if (!promotion.ok) throw new Error(promotion.reason);
  const decision = { jobId: promotion.jobId, by: 'UADMIN', decision: { kind: 'approve' } } as const;
  expect(await rig.promotions.decide(decision)).toMatchObject({ ok: true });
  const asked = await rig.memory.search(reader, id, 'sessions blocked by a lock: orders', 10);
  // The offline embedding has no part in a search, so nothing is missing from one.
  expect(asked.missing).toBeNull();
  const found = asked.found.map(({ store, path }) => `${store}/${path}`);
  expect(found).toEqual(
    expect.arrayContaining([
      'runbooks-postgres/blocked-sessions',
      'conversation_memory/drafts/box',
      'workspace_runbooks/drafts/box',
    ]),
  );
  const { planHash } = action;
  await rig.core.approvals.decide({
    actionId: action.id,
    by: 'UONCALL',
    decision: 'approve',
    planHash,
    reason: '',
    anotherWay: false,
  });
  const record = await rig.until(id, 'resolved');
  const recalled = record.events.filter(({ type }) => type === 'memory.recalled');
  expect(recalled).toMatchObject([
    { runbooks: ['blocked-sessions'], missing: 'Memory did not answer about past incidents.' },
    { runbooks: ['blocked-sessions'] },
  ]);
  await waitFor('the incident to wait for Chroma', async () =>
    (await waiting()).some((row) => row['id'] === id),
  );
  const left = await waiting();
  expect(left.length).toBeGreaterThan(1);

  chroma = await startEmbeddedChroma({ dataDir, log: quiet, port: chroma.port });
  await rig.sql`UPDATE memory_outbox SET next_at = clock_timestamp()`;
  await waitFor('the outbox to be empty', async () => {
    await rig.memory.flushOutbox();
    return (await waiting()).length === 0;
  });
  expect(await vectorsOf('incidents-postgres')).toContain(id);
  const promoted = left.filter((row) => row['collection'] === 'runbooks-postgres').map((row) => row['id']);
  expect(await vectorsOf('runbooks-postgres')).toEqual(expect.arrayContaining(promoted));
  rig.memory.start(some);
  await waitFor('documents to be embedded', async () => {
    const [row] = await rig.sql<Row>`
      SELECT count(*)::int AS n FROM search_entry e JOIN search_space s ON s.id = e.space_id
       WHERE s.name LIKE 'document:%' AND e.embedded_by IS NULL`;
    return row?.['n'] === 0;
  });

  machine.broken = true;
  const again = await rig.open({ title: 'The box is broken: sessions blocked by a lock' });
  const seen = (await rig.until(again, 'awaiting_approval')).events.find(
    ({ type }) => type === 'memory.recalled',
  );
  expect(seen).toMatchObject({ incidents: [{ incidentId: id }], missing: null });
  const { found: now, missing } = await rig.memory.search(
    { kind: 'agent', incidentId: again, userId: null },
    again,
    'the box is broken, sessions blocked by a lock',
    10,
  );
  expect(missing).toBeNull();
  expect(now.map(({ kind, path }) => [kind, path])).toEqual(
    expect.arrayContaining([
      ['incident', id],
      ['runbook', 'blocked-sessions'],
    ]),
  );
}, 120_000);
