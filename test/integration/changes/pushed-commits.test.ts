import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { deleteOldChanges } from '../../../src/changes/delete-old-changes.ts';
import { createRecordPush, type RecordPush } from '../../../src/changes/pushed-commits.ts';
import { changesAround } from '../../../src/changes/read-changes.ts';
import { createRecordChange, type RecordChange } from '../../../src/changes/record-change.ts';
import type { Change, Commit } from '../../../src/core/change.ts';
import { type AcceptDatabase, acceptDatabase } from '../../support/accept-database.ts';

let db: AcceptDatabase;
let record: RecordChange;
let push: RecordPush;
beforeAll(async () => {
  db = await acceptDatabase(4);
  record = createRecordChange(db.sql);
  push = createRecordPush(db.sql);
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.sql`TRUNCATE change, pushed_commit`;
});

const minute = (n: number): string => new Date(Date.UTC(2026, 2, 1, 12, n)).toISOString();
/** A hash by the number of its commit. */
const sha = (n: number): string => `${n}`.padStart(4, '0').repeat(10);
const commit = (n: number): Commit => ({
  sha: sha(n),
  title: `Change ${n}`,
  by: 'olivia',
  files: [`src/file-${n}.ts`],
});
const pushed = (before: number | null, first: number, last: number, branch = 'main') =>
  push({
    repository: 'acme/shop',
    branch,
    before: before === null ? null : sha(before),
    commits: Array.from({ length: last - first + 1 }, (_, n) => commit(first + n)),
  });
const deploy = (to: string, n: number, given: Partial<Change> = {}): Change => ({
  source: 'github',
  id: `deployment ${n}`,
  kind: 'deployment',
  state: 'succeeded',
  title: 'shop-api deployed',
  where: ['shop-api', 'acme/shop'],
  environment: 'production',
  startedAt: null,
  at: minute(n),
  by: 'olivia',
  from: null,
  to,
  commits: [{ sha: to, title: null, by: null, files: [] }],
  url: null,
  ...given,
});
const last = async () =>
  (await changesAround(db.sql, { where: null, from: minute(-600), to: minute(600) }))[0];
const titles = async () => (await last())?.commits.map(({ title }) => title);

describe('what a deployment brought', () => {
  test('is what was pushed since the one before it, with titles, authors and files', async () => {
    await pushed(0, 1, 2);
    await pushed(2, 3, 5);
    await record(deploy(sha(2), 0));
    await record(deploy(sha(5), 10));
    expect(await last()).toMatchObject({ from: sha(2), commits: [commit(3), commit(4), commit(5)] });
  });

  test('is its own commit where pushes do not reach back to the one before', async () => {
    await pushed(0, 1, 2);
    await pushed(4, 5, 6);
    await record(deploy(sha(2), 0));
    await record(deploy(sha(6), 10));
    expect(await titles()).toEqual(['Change 6']);
  });

  test('is its own commit where it is the first that is known, or goes back', async () => {
    await pushed(0, 1, 5);
    await record(deploy(sha(5), 0));
    expect(await titles()).toEqual(['Change 5']);
    await record(deploy(sha(3), 10, { kind: 'rollback' }));
    expect(await last()).toMatchObject({ from: sha(5), commits: [commit(3)] });
  });

  test('is not what lies behind a forced push', async () => {
    await pushed(0, 1, 2);
    await pushed(null, 3, 4);
    await record(deploy(sha(2), 0));
    await record(deploy(sha(4), 10));
    expect(await titles()).toEqual(['Change 4']);
  });

  test('is found by the first digits of a hash, and along the branch that was merged into', async () => {
    await pushed(0, 1, 1);
    await pushed(1, 3, 3, 'feature');
    await pushed(1, 2, 4);
    await record(deploy(sha(1).slice(0, 8), 0, { source: 'gitlab' }));
    await record(deploy(`main@sha1:${sha(4)}`, 10, { source: 'gitlab' }));
    expect(await titles()).toEqual(['Change 2', 'Change 3', 'Change 4']);
  });

  test('is told once the deployment is, though it began before its push was told', async () => {
    await pushed(0, 1, 1);
    await record(deploy(sha(1), 0));
    await record(deploy(sha(2), 5, { id: 'deployment 9', state: 'started', startedAt: minute(5) }));
    await pushed(1, 2, 2);
    expect(await record(deploy(sha(2), 8, { id: 'deployment 9' }))).toBe('updated');
    expect(await last()).toMatchObject({ state: 'succeeded', commits: [commit(2)] });
  });

  test.each([
    ['another environment', { environment: 'staging' }],
    ['another thing', { where: ['mailer', 'acme/shop'] }],
    ['another sender', { source: 'gitlab' }],
    ['one that failed', { state: 'failed' as const }],
  ])('does not begin at a deployment of %s', async (_what, given) => {
    await pushed(0, 1, 3);
    await record(deploy(sha(1), 0));
    await record(deploy(sha(2), 5, given));
    await record(deploy(sha(3), 10));
    expect(await titles()).toEqual(['Change 2', 'Change 3']);
  });

  test('is at most the newest 50, and holds no secret', async () => {
    const secret = ['AKIA', 'IOSFODNN7EXAMPLE'].join('');
    await pushed(0, 1, 1);
    for (let n = 2; n < 92; n += 30) await pushed(n - 1, n, n + 29);
    await push({
      repository: 'acme/shop',
      branch: 'main',
      before: sha(91),
      commits: [{ ...commit(92), title: `uses ${secret}`, by: secret, files: [`keys/${secret}`] }],
    });
    await record(deploy(sha(1), 0));
    await record(deploy(sha(92), 10));
    const { commits = [] } = (await last()) ?? {};
    expect([commits.length, commits[0]?.title, commits.at(-1)?.sha]).toEqual([50, 'Change 43', sha(92)]);
    const [row] = await db.sql<{ all: string }>`SELECT json_agg(p)::text AS all FROM pushed_commit p`;
    expect(row?.all).not.toContain(secret);
  });
});

test('a push alone changes nothing, comes twice without harm, and goes when it is old enough', async () => {
  await pushed(0, 1, 2);
  await pushed(0, 1, 2);
  expect(await last()).toBeUndefined();
  expect(await db.sql`SELECT FROM pushed_commit`).toHaveLength(2);
  await db.sql`UPDATE pushed_commit SET at = at - interval '40 days' WHERE sha = ${sha(1)}`;
  await deleteOldChanges(db.sql, 30, new AbortController().signal);
  expect(await db.sql`SELECT sha FROM pushed_commit`).toEqual([{ sha: sha(2) }]);
});

describe('what a webhook and a bot in Slack both tell', () => {
  const heard = deploy('279484c', 2, { source: 'slack', id: 'B0CI 1', environment: null });
  const own = deploy(`279484c${'0'.repeat(33)}`, 3, { startedAt: minute(0) });
  const sources = async () =>
    (await changesAround(db.sql, { where: null, from: minute(-60), to: minute(60) })).map(
      ({ source }) => source,
    );

  test.each([
    ['first in Slack', [heard, own]],
    ['first by the webhook', [own, heard]],
    ['of which one failed', [{ ...own, state: 'failed' as const, to: null }, heard]],
  ])('stays on record as both tell it: %s', async (_order, told) => {
    for (const each of told) await record(each);
    expect((await sources()).toSorted()).toEqual(['github', 'slack']);
  });

  test('what Sentry saw by itself is not the same word twice', async () => {
    await record(heard);
    await record(deploy('279484c', 3, { source: 'own-look', id: 'look 1' }));
    expect((await sources()).toSorted()).toEqual(['own-look', 'slack']);
  });

  test('a start and an end in two messages are one change, and a later deployment of the same version another', async () => {
    const bot = (state: Change['state'], n: number, to: string | null = '1.4.2') =>
      record(
        deploy('1.4.2', n, {
          source: 'slack',
          id: `B0CI shop-api ${to ?? n}`,
          versionOf: 'B0CI shop-api',
          state,
          to,
          commits: [],
        }),
      );
    await bot('started', 0);
    await bot('succeeded', 4, null);
    await bot('started', 60);
    await bot('succeeded', 64);
    const known = await changesAround(db.sql, { where: null, from: minute(-60), to: minute(600) });
    expect(known.map(({ state, at }) => [state, at])).toEqual([
      ['succeeded', minute(64)],
      ['succeeded', minute(4)],
    ]);
  });
});
