import { expect, test } from 'vitest';
import { describeChange } from '../../../src/core/describe-changes.ts';
import { alertSource } from '../../../src/sources/registry.ts';

const receivedAt = new Date('2026-03-01T12:00:00Z');
const sha = (letter: string): string => letter.repeat(40);

/** Synthetic, from the documentation of both. */
const github = {
  ref: 'refs/heads/main',
  before: sha('a'),
  after: sha('c'),
  forced: false,
  repository: { name: 'shop', full_name: 'Acme/Shop' },
  pusher: { name: 'olivia' },
  commits: [
    {
      id: sha('b'),
      message: 'Pay by card\n\nWith the new gateway.',
      author: { name: 'Olivia', username: 'olivia' },
      added: ['src/card.ts'],
      modified: ['src/pay.ts'],
      removed: [],
    },
    {
      id: sha('c'),
      message: 'Keep it',
      author: { name: 'Noah' },
      added: [],
      modified: [],
      removed: ['a.txt'],
    },
  ],
};
const gitlab = {
  object_kind: 'push',
  ref: 'refs/heads/main',
  before: sha('a'),
  total_commits_count: 1,
  project: { name: 'shop', path_with_namespace: 'acme/shop' },
  commits: [
    {
      id: sha('b'),
      message: 'Pay by card',
      author: { name: 'Olivia' },
      added: [],
      modified: ['a.rb'],
      removed: [],
    },
  ],
};

async function read(source: string, payload: unknown) {
  const answer = await alertSource(source).read(payload, { receivedAt });
  if (!answer.ok) throw new Error(answer.reason);
  return answer;
}

test('a push is kept with what was written, by whom and where, and is neither a change nor an alert', async () => {
  expect(await read('github', github)).toMatchObject({
    alerts: [],
    changes: [],
    pushes: [
      {
        repository: 'acme/shop',
        branch: 'main',
        before: sha('a'),
        commits: [
          { sha: sha('b'), title: 'Pay by card', by: 'olivia', files: ['src/card.ts', 'src/pay.ts'] },
          { sha: sha('c'), title: 'Keep it', by: 'Noah', files: ['a.txt'] },
        ],
      },
    ],
  });
  expect((await read('gitlab', gitlab)).pushes).toMatchObject([
    {
      repository: 'acme/shop',
      before: sha('a'),
      commits: [{ title: 'Pay by card', by: 'Olivia', files: ['a.rb'] }],
    },
  ]);
});

test('what came before is not known after a forced push, or where not all of it is told', async () => {
  expect((await read('github', { ...github, forced: true })).pushes).toMatchObject([{ before: null }]);
  expect((await read('gitlab', { ...gitlab, total_commits_count: 25 })).pushes).toMatchObject([
    { before: null },
  ]);
});

test('a branch that is deleted pushes nothing', async () => {
  expect((await read('github', { ...github, deleted: true, commits: [] })).pushes).toBeUndefined();
});

test('a deployment tells its own commit with what its sender knows of it', async () => {
  const run = {
    workflow_run: {
      id: 1,
      name: 'Deploy',
      conclusion: 'success',
      head_sha: sha('c'),
      head_commit: { id: sha('c'), message: 'Keep it', author: { name: 'Noah' } },
      updated_at: '2026-03-01T11:59:00Z',
    },
    repository: { name: 'shop', full_name: 'acme/shop' },
  };
  expect((await read('github', run)).changes).toMatchObject([
    { commits: [{ sha: sha('c'), title: 'Keep it', by: 'Noah' }] },
  ]);
  const build = {
    name: 'deploy-shop',
    build: {
      number: 18,
      phase: 'COMPLETED',
      status: 'SUCCESS',
      timestamp: 1772366280000,
      scm: { commit: '279484c0', changes: ['src/pay.ts'], culprits: ['olivia'] },
    },
  };
  expect((await read('jenkins', build)).changes).toMatchObject([
    { commits: [{ sha: '279484c0', title: null, by: 'olivia', files: ['src/pay.ts'] }] },
  ]);
});

test.each([
  ['v1.4.2', 'shop v1.4.2 deployed', 'v1.4.2'],
  ['refs/tags/shop@1.4.2-rc.1', 'shop shop@1.4.2-rc.1 deployed', 'shop@1.4.2-rc.1'],
  ['8.0', 'shop 8.0 deployed', '8.0'],
  ['main', 'shop main deployed', sha('c')],
  ['release/1.4', 'shop release/1.4 deployed', sha('c')],
  [sha('c'), 'shop ccccccc deployed', sha('c')],
  [undefined, 'shop ccccccc deployed', sha('c')],
])(
  'of a deployment of %s the version is what runs, its commit the hash, and its title never a whole hash',
  async (ref, title, to) => {
    const deployment = { id: 1, sha: sha('c'), ref, created_at: '2026-03-01T11:59:00Z' };
    const delivery = {
      deployment,
      deployment_status: { id: 2, state: 'success' },
      repository: { name: 'shop', full_name: 'acme/shop' },
    };
    const [change] = (await read('github', delivery)).changes ?? [];
    expect(change).toMatchObject({ title, to, commits: [{ sha: sha('c') }] });
    expect(change && describeChange(change)).not.toContain(sha('c').slice(0, 8));
  },
);
