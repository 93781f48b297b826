import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordEpisode } from '../../../src/memory/episodes/episodes.ts';
import type { Row } from '../../support/typed.ts';
import { admin, note } from '../memory/documents/rig.ts';
import { type ApiScene, apiScene, tokens } from './api-scene.ts';

const secret = ['ghp', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('_');
let scene: ApiScene;
let rig: ApiScene['rig'];
let server: Awaited<ReturnType<ApiScene['serve']>>;

beforeAll(async () => {
  scene = await apiScene();
  ({ rig } = scene);
  server = await scene.serve();
});
afterAll(() => scene.close());

const ask = (path: string, body?: unknown, token: string = tokens.admin) =>
  server.ask(path, { token, ...(body === undefined ? {} : { body }) });
const proposed = (content?: string) => scene.proposal(content);
const audits = async (words: string): Promise<number> => {
  const [row] = await rig.sql<Row>`SELECT count(*) AS n FROM audit_entry WHERE body LIKE ${`%${words}%`}`;
  return Number(row?.['n']);
};

describe('who may ask', () => {
  test('nobody without the token, and nobody at all where none is configured', async () => {
    const { jobId } = await proposed();
    const decision = { as: admin, decision: 'approve' };
    for (const path of [
      '/memory',
      '/memory/promotions',
      '/memory/documents',
      '/memory/documents/doc_1/history',
    ])
      expect((await ask(path, undefined, 'nobody')).status, path).toBe(401);
    expect((await ask(`/memory/promotions/${jobId}/decision`, decision, 'nobody')).status).toBe(401);
    for (const token of [tokens.reader, tokens.everything, tokens.other])
      for (const path of ['', '/api/v1'])
        expect((await ask(`${path}/memory/promotions/${jobId}/decision`, decision, token)).status).toBe(403);
    const off = await scene.serve({ env: { SENTRY_API_TOKENS: '', SENTRY_ADMIN_TOKEN: '' } });
    const closed = await off.ask('/memory', { token: tokens.admin });
    expect([closed.status, closed.text]).toEqual([403, expect.stringContaining('SENTRY_ADMIN_TOKEN')]);
    expect((await rig.promotions.get(jobId))?.state).toBe('pending');
  });

  test('everything is at the same path below /api/v1, too', async () => {
    await proposed();
    for (const path of ['/memory/promotions', '/memory/documents'])
      expect((await ask(`/api/v1${path}`)).body).toEqual((await ask(path)).body);
    expect((await ask('/memory/documents', undefined, tokens.reader)).status).toBe(200);
    expect((await ask('/memory', undefined, tokens.everything)).status).toBe(403);
  });

  test('an admin alone changes anything, and every request let in is on record', async () => {
    const { jobId } = await proposed();
    const before = await audits('memory.api');
    const refused = await ask(`/memory/promotions/${jobId}/decision`, { as: 'UONCALL', decision: 'approve' });
    expect(refused).toMatchObject({ status: 403, body: { code: 'NOT_ADMIN', field: 'as' } });
    expect((await ask('/memory')).status).toBe(200);
    expect((await audits('memory.api')) - before).toBe(2);
    expect((await rig.promotions.get(jobId))?.state).toBe('pending');
  });
});

test('GET /memory counts, and lists what was tried, a page at a time', async () => {
  const incidentId = await rig.incident();
  for (const [n, success] of [true, false, null].entries())
    await recordEpisode(rig.sql, {
      incidentId,
      actionId: `act_${n}`,
      error: `error ${n}`,
      diagnosis: 'd',
      command: 'c',
      result: 'r',
      success,
    });
  const first = await ask('/memory?limit=2');
  expect(first.body).toMatchObject({
    summary: { episodes: { total: 3, succeeded: 1, failed: 1, unknown: 1 } },
    episodes: [
      { error: 'error 2', success: null },
      { error: 'error 1', success: false, incident: incidentId },
    ],
  });
  const last = (first.body['episodes'] as unknown as { id: number }[]).at(-1)?.id;
  expect((await ask(`/memory?before=${last ?? ''}`)).body).toMatchObject({
    episodes: [{ error: 'error 0' }],
  });
});

test('a proposal is read and decided once; what is wrong is said by its field', async () => {
  const { jobId, path } = await proposed();
  expect((await ask('/memory/promotions')).body['promotions']).toContainEqual(
    expect.objectContaining({ jobId, target: { store: 'workspace_runbooks', path } }),
  );
  expect((await ask(`/memory/promotions/${jobId}`)).body).toMatchObject({ mayApprove: true, findings: [] });
  const decide = (body: unknown) => ask(`/memory/promotions/${jobId}/decision`, body);
  for (const [body, field] of [
    [{ decision: 'approve' }, 'as'],
    [{ as: 'olivia', decision: 'approve' }, 'as'],
    [{ as: admin, decision: 'maybe' }, 'decision'],
    [{ as: admin, decision: 'reject' }, 'reason'],
    [{ as: admin, decision: 'approve', over: 'abc' }, 'over'],
    [{ as: admin, decision: 'approve', force: true }, 'force'],
    ['approve', ''],
  ] as const)
    expect(await decide(body)).toMatchObject({ status: 400, body: { field } });
  const blocked = await decide({ as: admin, decision: 'approve', content: `use ${secret}` });
  expect(blocked).toMatchObject({ status: 422, body: { code: 'MEMORY_WRITE_BLOCKED', field: 'content' } });
  expect(JSON.stringify(blocked)).not.toContain(secret);
  expect(await decide({ as: admin, decision: 'approve', over: '0'.repeat(64) })).toMatchObject({
    status: 409,
    body: { code: 'MEMORY_STALE', field: 'over', currentSha256: null },
  });
  expect(await decide({ as: admin, decision: 'approve' })).toMatchObject({
    status: 200,
    body: { document: { path, trust: 'admin_approved' } },
  });
  expect(await decide({ as: admin, decision: 'reject', reason: 'Late.' })).toMatchObject({
    status: 409,
    body: { code: 'MEMORY_DECIDED' },
  });
  expect((await ask('/memory/promotions/dream_nothing')).status).toBe(404);
  expect(await audits(secret)).toBe(0);
});

test('workspace documents are read, edited, rolled back and retired; nobody’s own are seen', async () => {
  const { jobId, path } = await proposed('One.');
  const made = await ask(`/memory/promotions/${jobId}/decision`, { as: admin, decision: 'approve' });
  const { id, sha256 } = made.body['document'] as unknown as { id: string; sha256: string };
  const at = `/memory/documents/${id}`;
  const edit = (body: object) => ask(`${at}/edit`, { as: admin, ...body });
  expect(await edit({ content: 'Two.', base: '0'.repeat(64) })).toMatchObject({
    status: 409,
    body: { field: 'base', currentSha256: sha256 },
  });
  expect(await edit({ content: 'Two.', base: sha256 })).toMatchObject({
    status: 200,
    body: { document: { version: 2 } },
  });
  expect(await ask(`${at}/rollback`, { as: admin, to: 7 })).toMatchObject({
    status: 404,
    body: { field: 'to' },
  });
  expect(await ask(`${at}/rollback`, { as: admin, to: 1 })).toMatchObject({
    status: 200,
    body: { document: { version: 3, content: 'One.' } },
  });
  expect((await ask(`${at}/history`)).body['versions']).toHaveLength(3);
  expect((await ask(`/memory/documents?prefix=${path}`)).body['documents']).toMatchObject([
    { id, content: 'One.' },
  ]);
  const queued = () => rig.sql`SELECT DISTINCT removal FROM memory_outbox WHERE id LIKE ${`${id}#%`}`;
  expect(await queued()).toEqual([{ removal: false }]);
  expect(await ask(`${at}/retire`, { as: admin })).toMatchObject({ status: 200 });
  expect(await queued()).toEqual([{ removal: true }]);
  expect((await ask(`/memory/documents?prefix=${path}`)).body['documents']).toEqual([]);

  const store = await rig.documents.ensureUserStore('UONCALL');
  const own = await rig.documents.write(
    { kind: 'user', userId: 'UONCALL', incidentId: null },
    { place: { store, incidentId: null }, document: note({ content: 'Mine alone.' }), sources: [] },
  );
  const ownId = own.ok ? own.document.id : '';
  for (const hidden of [`/memory/documents/${ownId}`, `/memory/documents/${ownId}/history`])
    expect((await ask(hidden)).status).toBe(404);
  expect(JSON.stringify(await ask('/memory/documents?limit=500'))).not.toContain('Mine alone.');
});
