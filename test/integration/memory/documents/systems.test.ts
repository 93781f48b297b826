import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { IncidentId } from '../../../../src/core/ids.ts';
import type { Reader } from '../../../../src/memory/documents/access.ts';
import {
  conventionsStore,
  conversationStore,
  type MemoryDocument,
  userStore,
} from '../../../../src/memory/documents/document.ts';
import { exportMemory, importLine } from '../../../../src/memory/documents/transfer.ts';
import { recordSystem } from '../../../../src/memory/systems/systems.ts';
import { admin, type DocumentsRig, documentsRig, note } from './rig.ts';

const seventeen = { os: 'Debian 12', postgresql: '17.2' };
const eighteen = { ...seventeen, postgresql: '18.1' };
const operator: Reader = { kind: 'operator' };

let rig: DocumentsRig;
let incidentId: IncidentId;
beforeAll(async () => {
  rig = await documentsRig();
});
afterAll(() => rig.close());
beforeEach(async () => {
  incidentId = await rig.incident(['UANN']);
  await rig.sql`UPDATE incident SET target = 'orders-db' WHERE id = ${incidentId}`;
  await recordSystem(rig.sql, 'orders-db', seventeen);
});

async function write(content = 'VACUUM first.', store = conversationStore): Promise<MemoryDocument> {
  const written = await rig.documents.write(
    { kind: 'agent', role: 'detective', incidentId },
    {
      place: { store, incidentId: store === conversationStore ? incidentId : null },
      document: note({
        path: `systems/${incidentId.toLowerCase()}`,
        docType: store === conversationStore ? 'runbook' : 'user_preference',
        content,
      }),
      sources: [],
    },
  );
  if (!written.ok) throw new Error(written.reason);
  return written.document;
}

async function promoted(draft: MemoryDocument): Promise<MemoryDocument> {
  const proposed = await rig.promotions.propose(
    { kind: 'agent', incidentId, userId: null },
    { ref: { id: draft.id }, rationale: 'It helped.', domain: 'postgres', by: 'detective' },
  );
  if (!proposed.ok) throw new Error(proposed.reason);
  expect(await rig.promotions.get(proposed.jobId)).toMatchObject({ system: draft.system });
  // What the target runs by now has nothing to do with where it was learnt.
  await recordSystem(rig.sql, 'orders-db', eighteen);
  const decided = await rig.promotions.decide({
    jobId: proposed.jobId,
    by: admin,
    decision: { kind: 'approve' },
  });
  if (!decided.ok || !decided.document) throw new Error('not approved');
  return decided.document;
}

const versions = (id: string) => rig.documents.history(operator, { id });

describe('the system a document was learnt on', () => {
  test('is what the target of its incident ran, each version its own', async () => {
    const first = await write();
    expect(first.system).toEqual(seventeen);
    await recordSystem(rig.sql, 'orders-db', eighteen);
    const patched = await rig.documents.patch(
      { kind: 'agent', role: 'detective', incidentId },
      { kind: 'agent', incidentId, userId: null },
      { ref: { id: first.id }, baseSha256: first.sha256, content: 'VACUUM last.', sources: [] },
    );
    expect(patched).toMatchObject({ ok: true, document: { system: eighteen } });
    expect((await versions(first.id)).map(({ system }) => system)).toEqual([eighteen, seventeen]);
  });

  test('makes a version of the same words when they are confirmed on another one, and none on the same', async () => {
    const { version } = await write();
    expect((await write()).version).toBe(version);
    await recordSystem(rig.sql, 'orders-db', eighteen);
    expect(await write()).toMatchObject({ version: version + 1, system: eighteen });
  });

  test('is not known of a target that was never seen, nor of what belongs to no system', async () => {
    await rig.sql`UPDATE incident SET target = 'never-seen' WHERE id = ${incidentId}`;
    expect((await write()).system).toBeNull();
    await rig.sql`UPDATE incident SET target = 'orders-db' WHERE id = ${incidentId}`;
    expect((await write('Terse.', userStore('UANN'))).system).toBeNull();
    const conventions = await rig.documents.list(operator, { store: conventionsStore });
    expect(conventions.map(({ system }) => system)).toEqual(conventions.map(() => null));
  });

  test('goes with it through promotion into Chroma, and stays when an admin edits or rolls back', async () => {
    const { id, sha256, system } = await promoted(await write());
    expect(system).toEqual(seventeen);
    const [chunk] = await rig.sql`SELECT metadata FROM memory_outbox WHERE id = ${`${id}#0`}`;
    expect(chunk).toEqual({
      metadata: expect.objectContaining({ system_fingerprint: JSON.stringify(seventeen) }),
    });
    const edited = await rig.workspace.edit({
      by: admin,
      documentId: id,
      content: 'VACUUM now.',
      base: sha256,
    });
    expect(edited).toMatchObject({ ok: true, document: { version: 2, system: seventeen } });
    expect(await rig.workspace.rollBack(admin, id, 1)).toMatchObject({
      ok: true,
      document: { version: 3, system: seventeen },
    });
  });

  test('is in an export and comes back by it; exports without it take nothing away', async () => {
    const { id, path } = await write();
    const lines = [];
    for await (const line of exportMemory(rig.sql))
      if (line.kind === 'document' && line.path === path) lines.push(line);
    const [line] = lines;
    if (line?.kind !== 'document') throw new Error('not exported');
    const older = { ...line, versions: line.versions.map((version) => ({ ...version, system: null })) };
    const deps = { sql: rig.sql, audit: rig.audit };
    expect(await importLine(deps, older)).toBe('already there');
    await rig.sql`SELECT memory_forget_documents(ARRAY[${id}])`;
    expect(await importLine(deps, line)).toBe('added');
    const place = { store: conversationStore, incidentId, path };
    expect((await rig.documents.read(operator, place))?.system).toEqual(seventeen);
  });

  test('cannot be another in the document than in its newest version', async () => {
    const { id } = await write();
    await expect(
      rig.sql`UPDATE memory_document SET system = ${rig.sql.json(eighteen)} WHERE id = ${id}`,
    ).rejects.toThrow('does not say what its version says');
  });
});
