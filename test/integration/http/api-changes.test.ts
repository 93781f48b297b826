import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ApiScene, apiScene, tokens } from './api-scene.ts';

let scene: ApiScene;
let ask: Awaited<ReturnType<ApiScene['serve']>>['ask'];
beforeAll(async () => {
  scene = await apiScene();
  ({ ask } = await scene.serve({
    env: { SENTRY_API_TOKENS: `ci:changes=${tokens.teller},cd:changes+read=${tokens.other}` },
  }));
});
afterAll(() => scene.close());
beforeEach(() => scene.sql`TRUNCATE change`);

const ROOT = '/api/v1/changes';
const change = { id: 'deploy-1', title: 'shop-api 1.4.2 deployed', where: ['Shop-API'] };
const tell = (changes: readonly object[], token: string = tokens.teller) =>
  ask(ROOT, { token, method: 'POST', body: { changes } });
const list = async (query = '') => {
  const { body } = await ask(`${ROOT}?${query}`, { token: tokens.other });
  return body as { readonly changes: readonly Record<string, unknown>[]; readonly complete: boolean };
};

test('is kept under the name of the token, and told again adds nothing', async () => {
  expect((await tell([{ ...change, status: 'started' }])).body).toEqual({
    changes: [{ id: 'deploy-1', result: 'recorded' }],
  });
  expect((await tell([change, change])).body).toEqual({
    changes: [
      { id: 'deploy-1', result: 'updated' },
      { id: 'deploy-1', result: 'repeated' },
    ],
  });
  // The same id of another token is another change.
  await tell([{ ...change, title: 'mine' }], tokens.other);
  expect(
    (await list('where=shop-api')).changes.map(({ source, title, status }) => [source, title, status]),
  ).toEqual(
    expect.arrayContaining([
      ['api:ci', 'shop-api 1.4.2 deployed', 'succeeded'],
      ['api:cd', 'mine', 'succeeded'],
    ]),
  );
  expect(await list('where=shop')).toEqual({ changes: [], complete: true });
  const audited = await scene.sql`SELECT FROM audit_entry WHERE body::text LIKE '%api:ci%'`;
  expect(audited.length).toBeGreaterThan(0);
});

test('no source can be named but the token’s own', async () => {
  for (const field of ['source', 'versionOf'])
    expect((await tell([{ ...change, [field]: 'argo-cd' }])).body).toEqual({
      error: `${field}: there is no such field`,
      field,
    });
  expect((await list()).changes).toEqual([]);
});

test('500 are taken at once, more are refused whole', async () => {
  const many = Array.from({ length: 501 }, (_, n) => ({ ...change, id: `deploy-${n}` }));
  const refused = await tell(many);
  expect([refused.status, refused.body['field']]).toEqual([400, 'changes']);
  expect((await list()).changes).toEqual([]);
  expect((await tell(many.slice(1))).status).toBe(200);
  const page = await list('limit=100');
  expect([page.changes.length, page.complete]).toEqual([100, false]);
});

test('one that is wrong is named by its place, and none of its request is kept', async () => {
  for (const [field, value] of [
    ['id', ''],
    ['at', 'noon'],
    ['status', 'done'],
    ['url', 'javascript:alert(1)'],
    ['where', 'shop-api'],
  ]) {
    const { status, body } = await tell([change, { ...change, [String(field)]: value }]);
    expect([status, body['field']]).toEqual([400, `changes.1.${field}`]);
  }
  expect((await list()).changes).toEqual([]);
});

test('a time is kept as UTC, and one that is still to come is now; secrets are screened out', async () => {
  const key = ['AKIA', 'IOSFODNN7', 'EXAMPLE'].join('');
  await tell([
    { ...change, id: 'a', at: '2026-01-01T12:00:00+02:00', by: `ann ${key}` },
    { ...change, id: 'b', at: '9999-01-01T00:00:00Z' },
  ]);
  const { changes } = await list('since=2025-12-31T00:00:00Z');
  expect(changes.map(({ id }) => id)).toEqual(['b', 'a']);
  expect(changes[1]).toMatchObject({ at: '2026-01-01T10:00:00.000Z' });
  expect(JSON.stringify(changes)).not.toContain(key);
  expect(Date.parse(String(changes[0]?.['at']))).toBeLessThanOrEqual(Date.now());
});

test('a commit is told as a text or with its title, author and files, and read with all of it', async () => {
  const [bare, titled, whole] = [
    '279484c',
    '4f2a91c Pay by card',
    { sha: 'f95f852', title: 'Keep the pool open', by: 'olivia', files: ['src/pool.ts'] },
  ];
  await tell([{ ...change, commits: [bare, titled, whole] }]);
  const nothing = { title: null, by: null, files: [] };
  expect((await list()).changes).toMatchObject([
    {
      commits: [{ ...nothing, sha: '279484c' }, { ...nothing, sha: '4f2a91c', title: 'Pay by card' }, whole],
    },
  ]);
  const wrong = await tell([{ ...change, commits: [{ title: 'without a hash' }] }]);
  expect(wrong.status).toBe(400);
});
