import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { rankHits, rankLine } from '../../../../src/cli/rank-hits.ts';
import type { IncidentId } from '../../../../src/core/ids.ts';
import { createSearchMemories } from '../../../../src/memory/context/search-memories.ts';
import { conversationStore, userStore } from '../../../../src/memory/documents/document.ts';
import { createWorkspaceRunbooks } from '../../../../src/memory/promotion/workspace-runbooks.ts';
import { recallRunbooks } from '../../../../src/memory/recall-runbooks.ts';
import { syncDocuments } from '../../../../src/memory/sync/sync-documents.ts';
import { syncRunbooks } from '../../../../src/memory/sync/sync-runbooks.ts';
import { recordSystem } from '../../../../src/memory/systems/systems.ts';
import type { Embedder } from '../../../../src/search/ports.ts';
import { createRetrieval, type Retrieval } from '../../../../src/search/retrieval.ts';
import { allTools } from '../../../../src/targets/all-tools.ts';
import type { MemoryToolContext } from '../../../../src/tools/define.ts';
import { memorySearch } from '../../../../src/tools/memory/memory-search.ts';
import { createRegistry } from '../../../../src/tools/registry.ts';
import { everybodyReads } from '../../../support/audiences.ts';
import { anIncident } from '../../../support/incidents.ts';
import { quiet } from '../../../support/quiet.ts';
import { domains } from '../../../support/targets.ts';
import { admin, type DocumentsRig, documentsRig, note, otherRunbooks, shipped } from '../documents/rig.ts';

const words: Embedder = { fingerprint: 'none', embed: async () => [], close: async () => undefined };
const away = () => Promise.reject(new Error('no Chroma'));

let rig: DocumentsRig;
let retrieval: Retrieval;
let here: IncidentId;
let elsewhere: IncidentId;
beforeAll(async () => {
  rig = await documentsRig();
  retrieval = retrievalWith(words);
});
afterAll(() => rig.close());
beforeEach(async () => {
  [here, elsewhere] = [await rig.incident(['UANN']), await rig.incident(['UBOB'])];
});

function retrievalWith(embedder: Embedder): Retrieval {
  const vectors = { collection: () => ({ upsert: away, query: away, list: away, remove: away }) };
  return createRetrieval({ sql: rig.sql, vectors, embedder, log: quiet });
}

const depsWith = (by: Retrieval) => ({
  sql: rig.sql,
  documents: rig.documents,
  retrieval: by,
  refresh: async () => void (await syncDocuments(rig.sql, by)),
  audiences: everybodyReads,
  runbooks: () => [],
  log: quiet,
});

/** As the gate calls it, in one incident. */
async function search(query: string, incidentId = here, by = retrieval) {
  const memory = { search: createSearchMemories(depsWith(by)) };
  const context = { incidentId, role: 'detective', memory } as unknown as MemoryToolContext;
  const answer = await memorySearch.run(context, { query, limit: 10 });
  if ('ok' in answer) throw new Error(answer.reason);
  return { text: answer.text, data: answer.data as readonly Record<string, unknown>[] };
}

async function draft(incidentId: IncidentId, content: string, change = {}) {
  const written = await rig.documents.write(
    { kind: 'agent', role: 'detective', incidentId },
    {
      place: { store: conversationStore, incidentId },
      document: note({ path: `d/${incidentId.toLowerCase()}`, content, ...change }),
      sources: [],
    },
  );
  if (!written.ok) throw new Error(written.reason);
  return written.document;
}

const put = (kind: 'runbook' | 'incident', scope: string, key: string, word: string, metadata = {}) =>
  retrieval.upsert({ kind, scope }, [
    { key, title: `About the ${word}`, text: `What the ${word} did.`, metadata },
  ]);

describe('a symptom learnt in the middle of an investigation', () => {
  test('finds runbooks, past incidents and documents, with who vouches, where from and whether it helped', async () => {
    await recordSystem(rig.sql, 'orders-db', { postgresql: '17.2' });
    await put('runbook', 'postgres', 'plover-runbook', 'plover');
    await put('incident', 'postgres', elsewhere, 'plover', {
      system_fingerprint: JSON.stringify({ postgresql: '16.4' }),
    });
    await rig.sql`
      INSERT INTO episode (incident_id, action_id, error, diagnosis, command, result, success)
      VALUES (${elsewhere}, 'act_plover', 'e', 'd', 'c', 'r', true)`;
    await draft(here, 'The plover circles.', { title: 'About the plover' });
    const { text, data } = await search('plover');
    expect(data.toSorted((a, b) => (String(a['kind']) < String(b['kind']) ? -1 : 1))).toMatchObject([
      { kind: 'document', store: conversationStore, trust: 'agent_draft', record: null },
      {
        kind: 'incident',
        path: elsewhere,
        trust: 'agent_draft',
        system: { postgresql: '16.4' },
        record: { worked: 1, failed: 0 },
      },
      { kind: 'runbook', path: 'plover-runbook', trust: 'system_seeded', record: null },
    ]);
    expect(text).toContain(
      'runbooks-postgres/plover-runbook "About the plover" (runbook, system_seeded, from a file)',
    );
    expect(text).toMatch(
      new RegExp(
        `incidents-postgres/${elsewhere} .*agent_draft, of \\d{4}-\\d\\d-\\d\\d, learnt on postgresql 16.4, helped 1 time, did not 0 times`,
      ),
    );
    expect(text).toContain('What the plover did.');
  });

  test('finds nothing of another domain, of another conversation or of a person, nor the incident itself', async () => {
    await put('runbook', 'docker', 'dunlin-docker', 'dunlin');
    await rig.past('INC-801', 'About the dunlin', { domain: 'docker' });
    await put('incident', 'docker', 'INC-801', 'dunlin');
    await put('incident', 'postgres', here, 'dunlin');
    await draft(here, 'The dunlin is here.');
    await draft(elsewhere, 'The dunlin is elsewhere.', { domain: 'postgres' });
    await rig.documents.write(
      { kind: 'user', userId: 'UANN', incidentId: null },
      {
        place: { store: userStore('UANN'), incidentId: null },
        document: note({ content: 'My dunlin.' }),
        sources: [],
      },
    );
    const found = async (incidentId: IncidentId) =>
      (await search('dunlin', incidentId)).data.map(({ path }) => String(path)).toSorted();
    expect(await found(here)).toEqual([`d/${here.toLowerCase()}`]);
    // What this incident was is memory for others.
    expect(await found(elsewhere)).toEqual([here, `d/${elsewhere.toLowerCase()}`].toSorted());
    await rig.sql`UPDATE incident SET domain = 'docker' WHERE id = ${elsewhere}`;
    expect(await found(elsewhere)).toEqual(['INC-801', 'dunlin-docker']);
  });

  test('that nothing fits is said', async () => {
    expect(await search('xyzzy')).toEqual({ text: 'Nothing in memory fits these words.', data: [] });
  });

  test('is answered from what is indexed when the index cannot be brought up to date', async () => {
    await put('runbook', 'postgres', 'sanderling', 'sanderling');
    const behind = { ...depsWith(retrieval), refresh: () => Promise.reject(new Error('locked')) };
    const { found } = await createSearchMemories(behind)(
      { kind: 'agent', incidentId: here, userId: null },
      here,
      'sanderling',
      5,
    );
    expect(found.map(({ path }) => path)).toEqual(['sanderling']);
  });

  test('finds all by its words while Chroma is away, and says so', async () => {
    await put('runbook', 'postgres', 'whimbrel', 'whimbrel');
    await draft(here, 'The whimbrel waits.');
    const broken = retrievalWith({ ...words, embed: async () => [[0, 1]] });
    const { text, data } = await search('whimbrel', here, broken);
    expect(data.map(({ path }) => String(path)).toSorted()).toEqual([`d/${here.toLowerCase()}`, 'whimbrel']);
    expect(text).toMatch(/\n\nFound by words alone: the vector database does not answer\.$/);
  });
});

test('for an operator each hit says what trust, entities, type, recency and its record make of it', async () => {
  await put('runbook', 'postgres', 'godwit-runbook', 'godwit');
  await draft(here, 'The godwit rests.', { title: 'About the godwit' });
  const spaces = [
    { kind: 'runbook', scope: 'postgres' },
    { kind: 'document', scope: `${conversationStore}/${here}` },
  ] as const;
  await depsWith(retrieval).refresh();
  const { hits } = await retrieval.search({ text: 'godwit', spaces, meaningWithinMs: 0 });
  const ranked = await rankHits(rig.sql, 'godwit', hits);
  expect(ranked.map(({ key }) => key)).toEqual(hits.map(({ key }) => key));
  const runbook = ranked.find(({ key }) => key === 'godwit-runbook');
  expect(runbook?.rank?.parts).toMatchObject({ trust: 0.95, type: 0.9, entity: 0 });
  expect(runbook && rankLine(runbook)).toMatch(
    /in a turn 0\.\d{3}: text 0\.\d{3} \+ trust 0\.190 \+ entity 0\.000 \+ type 0\.090 \+ recency 0\.100\n/,
  );
  expect(ranked.find(({ key }) => key !== 'godwit-runbook')?.rank?.parts).toMatchObject({ trust: 0.45 });
});

test('a promoted runbook is one memory, the document’s, however it is found, and gone once it is retired', async () => {
  const content = shipped.replace('id: blocked-sessions', 'id: ruff-sessions').replaceAll('Blocked', 'Ruff');
  const { id } = await draft(here, content, { title: 'Ruff sessions', docType: 'note' });
  const reader = { kind: 'agent', incidentId: here, userId: null } as const;
  const proposed = await rig.promotions.propose(reader, {
    ref: { id },
    rationale: 'It helped.',
    domain: 'postgres',
    by: 'detective',
  });
  const jobId = proposed.ok ? proposed.jobId : '';
  const decided = await rig.promotions.decide({ jobId, by: admin, decision: { kind: 'approve' } });
  if (!decided.ok || !decided.document) throw new Error('not approved');
  const { document } = decided;
  const runbooks = createWorkspaceRunbooks({
    sql: rig.sql,
    tools: createRegistry(allTools),
    domains,
    files: otherRunbooks,
    log: quiet,
  });
  await runbooks.refresh();
  await syncRunbooks(retrieval, 'postgres', runbooks.current(), { origin: 'promoted' });
  expect(runbooks.current().map((one) => one.id)).toEqual(['ruff-sessions']);
  const found = async () => {
    const { data } = await search('ruff sessions', elsewhere);
    return data.filter(({ id: key, path }) => key === document.id || path === 'ruff-sessions');
  };
  expect(await found()).toMatchObject([{ kind: 'document', id: document.id, trust: 'admin_approved' }]);
  const followed = await recallRunbooks(depsWith(retrieval), anIncident({ title: 'Ruff sessions' }), null, 0);
  expect(followed.map(({ runbookId }) => runbookId)).toContain('ruff-sessions');
  // Before the index knows.
  await rig.workspace.retire(admin, document.id);
  expect(await found()).toEqual([]);
});
