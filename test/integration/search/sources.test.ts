import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { asIncidentId } from '../../../src/core/ids.ts';
import { conventionsStore, conversationStore } from '../../../src/memory/documents/document.ts';
import { recallRunbooks } from '../../../src/memory/recall-runbooks.ts';
import { createIndexKeeper } from '../../../src/memory/sync/keep-index.ts';
import { documentSpace, syncDocuments } from '../../../src/memory/sync/sync-documents.ts';
import { countBehind, syncIncidents } from '../../../src/memory/sync/sync-incidents.ts';
import { syncRunbooks } from '../../../src/memory/sync/sync-runbooks.ts';
import { createRecords } from '../../../src/record/record.ts';
import { loadRunbooks } from '../../../src/runbooks/load-runbooks.ts';
import type { Runbook } from '../../../src/runbooks/runbook.ts';
import { createRetrieval, type Retrieval } from '../../../src/search/retrieval.ts';
import type { Space } from '../../../src/search/types.ts';
import { type AcceptDatabase, acceptDatabase } from '../../support/accept-database.ts';
import { everybodyReads } from '../../support/audiences.ts';
import { anIncident } from '../../support/incidents.ts';
import { quiet } from '../../support/quiet.ts';
import { waitFor } from '../../support/wait-for.ts';
import { admin, documentsRig, note } from '../memory/documents/rig.ts';

let db: AcceptDatabase;
let retrieval: Retrieval;
beforeAll(async () => {
  db = await acceptDatabase();
  // Words alone: neither is asked.
  const embedder = { fingerprint: 'none', embed: async () => [], close: async () => undefined };
  const vectors = { collection: () => expect.unreachable('Chroma was asked') };
  retrieval = createRetrieval({ sql: db.sql, vectors, embedder, log: quiet });
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.sql`TRUNCATE search_space, incident CASCADE`;
});
const found = async (text: string, space: Space) =>
  (await retrieval.search({ text, spaces: [space], meaningWithinMs: 0 })).hits.map(({ key }) => key);

describe('runbooks', () => {
  const space: Space = { kind: 'runbook', scope: 'postgres' };
  const load = async () =>
    (await loadRunbooks(join(import.meta.dirname, '../../../runbooks'))).runbooks.filter(({ domains }) =>
      domains.includes('postgres'),
    );

  test('each is the first to be recalled by each of its alerts', async () => {
    const runbooks = await load();
    await syncRunbooks(retrieval, 'postgres', runbooks);
    for (const { id, matches } of runbooks) {
      for (const alert of matches.alerts.filter((name) => !name.includes('*'))) {
        const hits = await recallRunbooks(
          {
            sql: db.sql,
            retrieval,
            documents: { read: async () => null },
            audiences: everybodyReads,
            runbooks: () => [],
            log: quiet,
          },
          anIncident({ title: alert, alertName: alert }),
          null,
          0,
        );
        expect(hits[0]?.runbookId, alert).toBe(id);
        expect(hits[0]?.text).not.toBe('');
      }
    }
  });

  test('follow their files and leave what is not from a file', async () => {
    const runbooks = await load();
    await syncRunbooks(retrieval, 'postgres', runbooks);
    const promoted = { ...(runbooks[0] as Runbook), id: 'promoted', title: 'Promoted' };
    await syncRunbooks(retrieval, 'postgres', [promoted], { origin: 'promoted' });
    await syncRunbooks(retrieval, 'postgres', runbooks.slice(1));
    const keys = (await retrieval.list(space)).map(({ key }) => key);
    expect(keys).toContain('promoted');
    expect(keys).not.toContain(runbooks[0]?.id);
    await syncRunbooks(retrieval, 'postgres', [], { origin: 'promoted' });
    const left = (await retrieval.list(space)).map(({ key }) => key);
    expect(left.toSorted()).toEqual(keys.filter((key) => key !== 'promoted').toSorted());
    expect(keys).toHaveLength(runbooks.length);
  });
});

test('incidents are put once they tell something, and again when they changed', async () => {
  const load = (id: Parameters<ReturnType<typeof createRecords>['load']>[0]) =>
    createRecords(db.sql).load(id);
  const space: Space = { kind: 'incident', scope: 'postgres' };
  await db.sql`
    INSERT INTO incident (id, state, title, severity, domain, source, fingerprint, labels, annotations)
    VALUES ('INC-1', 'resolved', 'Checkpoints too frequent', 'warning', 'postgres', 'test', 'a', '{}', '{}'),
           ('INC-2', 'diagnosing', 'Checkpoints too slow', 'warning', 'postgres', 'test', 'b', '{}', '{}')`;
  expect(await syncIncidents(db.sql, retrieval, load)).toBe(1);
  expect(await syncIncidents(db.sql, retrieval, load)).toBe(0);
  expect(await found('checkpoints', space)).toEqual(['INC-1']);
  await db.sql`UPDATE incident SET cause = 'max_wal_size is tiny', updated_at = clock_timestamp()
                WHERE id = ${asIncidentId('INC-1')}`;
  expect(await syncIncidents(db.sql, retrieval, load)).toBe(1);
  expect(await found('tiny max_wal_size', space)).toEqual(['INC-1']);
});

test('stopping ends the indexing of past incidents at the next one, and what is indexed is found [C8]', async () => {
  await db.sql`
    INSERT INTO incident (id, state, title, severity, domain, source, fingerprint, labels, annotations)
    SELECT 'INC-9' || n, 'resolved', 'Kestrel ' || n, 'warning', 'postgres', 'test', 'k' || n, '{}', '{}'
      FROM generate_series(100, 399) n`;
  const { load } = createRecords(db.sql);
  let loaded = 0;
  let stopped: Promise<void> | undefined;
  const keeper = createIndexKeeper({
    sql: db.sql,
    retrieval,
    load: (id) => {
      loaded += 1;
      if (loaded === 3) stopped = keeper.stop();
      return load(id);
    },
    log: quiet,
  });
  keeper.start();
  await waitFor('it to be stopped', async () => stopped !== undefined);
  await stopped;
  expect(loaded).toBe(3);
  expect(await countBehind(db.sql)).toBe(297);
  expect(await found('kestrel', { kind: 'incident', scope: 'postgres' })).toHaveLength(3);
});

test('documents follow their newest version, in the space of their store, until they are retired', async () => {
  const { documents, workspace, sql, close, incident } = await documentsRig();
  try {
    const embedder = { fingerprint: 'none', embed: async () => [], close: async () => undefined };
    const vectors = { collection: () => expect.unreachable('Chroma was asked') };
    const own = createRetrieval({ sql, vectors, embedder, log: quiet });
    const search = async (text: string, space: Space) =>
      (await own.search({ text, spaces: [space], meaningWithinMs: 0 })).hits.map(({ title }) => title);
    const [here, elsewhere] = [await incident(), await incident()];
    const place = { store: conventionsStore, incidentId: null };
    const writer = { kind: 'admin', userId: 'UADMIN' } as const;
    const write = async (title: string, base: string | null) => {
      const document = note({ path: 'kestrel', title, docType: 'convention', content: `About: ${title}` });
      const result = await documents.write(writer, { place, document, sources: [], base });
      if (!result.ok) throw new Error(result.reason);
      return result.document;
    };
    expect(await syncDocuments(sql, own)).toBe(4);
    expect(await syncDocuments(sql, own)).toBe(0);
    const first = await write('Kestrel gateway', null);
    const drafted = await documents.write(
      { kind: 'agent', role: 'detective', incidentId: here },
      {
        place: { store: conversationStore, incidentId: here },
        document: note({ title: 'Kestrel draft' }),
        sources: [],
        base: null,
      },
    );
    expect(drafted.ok).toBe(true);
    expect(await syncDocuments(sql, own)).toBe(2);
    const conventions = documentSpace(conventionsStore, null);
    expect(await search('kestrel', conventions)).toEqual(['Kestrel gateway']);
    expect(await search('kestrel', documentSpace(conversationStore, here))).toEqual(['Kestrel draft']);
    expect(await search('kestrel', documentSpace(conversationStore, elsewhere))).toEqual([]);
    await write('Falcon gateway', first.sha256);
    expect(await syncDocuments(sql, own)).toBe(1);
    expect(await search('kestrel', conventions)).toEqual([]);
    expect(await search('falcon', conventions)).toEqual(['Falcon gateway']);
    expect(await workspace.retire(admin, first.id)).toMatchObject({ ok: true });
    expect(await syncDocuments(sql, own)).toBe(1);
    expect(await search('falcon', conventions)).toEqual([]);
  } finally {
    await close();
  }
});
