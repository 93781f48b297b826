import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { deleteOldChanges } from '../../../src/changes/delete-old-changes.ts';
import {
  type ChangeSubject,
  changesAround,
  isToldOfChanges,
  sharedChange,
  suspectsOf,
} from '../../../src/changes/read-changes.ts';
import { createRecordChange, type RecordChange } from '../../../src/changes/record-change.ts';
import { boundedChange, type Change } from '../../../src/core/change.ts';
import { type AcceptDatabase, acceptDatabase } from '../../support/accept-database.ts';

let db: AcceptDatabase;
let record: RecordChange;
beforeAll(async () => {
  db = await acceptDatabase(8);
  record = createRecordChange(db.sql);
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.sql`TRUNCATE change`;
});

const minute = (n: number): string => new Date(Date.UTC(2026, 2, 1, 12, n)).toISOString();

const change = (given: Partial<Change> = {}): Change => ({
  source: 'github',
  id: 'deployment 1',
  kind: 'deployment',
  state: 'succeeded',
  title: 'shop-api 1.4.2 deployed',
  where: ['shop-api'],
  environment: null,
  startedAt: null,
  at: minute(0),
  by: null,
  from: null,
  to: null,
  commits: [],
  url: null,
  ...given,
});
const started = change({
  state: 'started',
  title: 'shop-api 1.4.2 is being deployed',
  startedAt: minute(-3),
  at: minute(-3),
  by: 'olivia',
});
const all = () => changesAround(db.sql, { where: null, from: minute(-600), to: minute(600) });
const whole = { ...change(), startedAt: minute(-3), by: 'olivia' };

describe('a change on record', () => {
  test('is one from its beginning to its end, in whichever order they come', async () => {
    expect([await record(started), await record(change())]).toEqual(['recorded', 'updated']);
    expect(await all()).toEqual([whole]);
    await db.sql`TRUNCATE change`;
    expect([await record(change()), await record(started)]).toEqual(['recorded', 'updated']);
    expect(await all()).toEqual([whole]);
  });

  test('is told again without becoming another', async () => {
    await record(change());
    expect(await record(change())).toBe('repeated');
    await record(started);
    expect([await record(started), await record(change())]).toEqual(['repeated', 'repeated']);
    expect(await all()).toEqual([whole]);
  });

  test('has ended though the clocks of its sender disagree', async () => {
    await record(change({ at: minute(-5) }));
    await record(started);
    expect(await all()).toMatchObject([{ state: 'succeeded', startedAt: minute(-5), at: minute(-5) }]);
  });

  test('took effect once, however late it is told again', async () => {
    await record(change());
    expect(await record(change({ at: minute(7) }))).toBe('repeated');
    expect(await record(change({ at: minute(-1) }))).toBe('updated');
    expect(await all()).toMatchObject([{ at: minute(-1) }]);
  });

  test('is one when all that is told of it comes at one moment', async () => {
    const kinds = await Promise.all(
      Array.from({ length: 16 }, (_, n) => record(n % 2 === 0 ? started : change())),
    );
    expect(kinds.filter((kind) => kind === 'recorded')).toHaveLength(1);
    expect(await all()).toEqual([whole]);
  });

  test('keeps its last state when a later try of it failed', async () => {
    await record(change());
    await record(change({ state: 'failed', at: minute(5) }));
    await record(change());
    expect(await all()).toMatchObject([{ state: 'failed', at: minute(5) }]);
  });

  test('is another of another sender, whatever their ids', async () => {
    await record(change());
    await record(change({ source: 'gitlab' }));
    expect(await all()).toHaveLength(2);
  });

  test('holds no secret that its sender wrote into it', async () => {
    const secret = ['AKIA', 'IOSFODNN7EXAMPLE'].join('');
    await record(
      change({
        title: `deploy with ${secret}`,
        where: ['shop-api', secret.toLowerCase()],
        by: secret,
        commits: [{ sha: secret, title: `with ${secret}`, by: secret, files: [`keys/${secret}`] }],
        url: `https://ops:${secret}@ci.example.com/`,
      }),
    );
    const [row] = await db.sql<{ row: string }>`SELECT row_to_json(c)::text AS row FROM change c`;
    expect(row?.row).not.toContain(secret);
  });

  test('brings its commits, and those on record from before they had titles', async () => {
    const commits = [{ sha: '4f2a91c', title: 'Checkout keeps it', by: 'olivia', files: ['src/pool.ts'] }];
    await record(change({ commits }));
    expect(await record(change({ commits: [{ sha: '4f2a91c', title: null, by: null, files: [] }] }))).toBe(
      'repeated',
    );
    expect(await all()).toMatchObject([{ commits }]);
    await db.sql`UPDATE change SET commits = to_jsonb(ARRAY['4f2a91c', '4f2a91c Checkout keeps it'])`;
    const bare = { sha: '4f2a91c', title: null, by: null, files: [] };
    expect(await all()).toMatchObject([{ commits: [bare, { ...bare, title: 'Checkout keeps it' }] }]);
  });

  test('cannot break a statement by what its sender wrote into it', async () => {
    const hostile = `'); DROP TABLE change; -- {"a","b"} \\ <!channel>`;
    const given = boundedChange(change({ id: hostile, title: hostile, where: [hostile] }), new Date());
    await record(given);
    expect(await all()).toMatchObject([{ id: hostile, title: hostile, where: [hostile.toLowerCase()] }]);
  });

  test('is another one where a version comes back after another, and the same where it is told again', async () => {
    const version = (to: string, at: string, name = 'shop') =>
      record(change({ source: 'flux', id: `${name} ${to}`, versionOf: name, to, at }));
    const ids = async () => (await all()).map(({ id }) => id).toReversed();
    expect(await version('v1', minute(0))).toBe('recorded');
    await version('v1', minute(1));
    await version('v2', minute(10));
    // Of another thing that is called so, too.
    await version('v9', minute(15), 'shop-2');
    expect(await version('v2', minute(16))).toBe('repeated');
    expect(await version('v1', minute(20))).toBe('recorded');
    expect(await version('v1', minute(20))).toBe('repeated');
    expect(await version('v1', minute(25))).toBe('repeated');
    expect(await version('v2', minute(30))).toBe('recorded');
    expect(await ids()).toEqual([
      'shop v1',
      'shop v2',
      'shop-2 v9',
      `shop v1 at ${minute(20)}`,
      `shop v2 at ${minute(30)}`,
    ]);
  });

  test('goes when it is old enough', async () => {
    await record(change({ id: 'old', at: new Date(Date.now() - 40 * 86_400_000).toISOString() }));
    await record(change({ id: 'new', at: new Date().toISOString() }));
    await deleteOldChanges(db.sql, 30, new AbortController().signal);
    expect(await db.sql`SELECT id FROM change`).toEqual([{ id: 'new' }]);
  });
});

describe('what was changed around a time', () => {
  const around = async (...where: readonly string[]) =>
    (await changesAround(db.sql, { where, from: minute(-30), to: minute(10) })).map(({ id }) => id);

  test('is found by whole names alone, whatever their case', async () => {
    await record(change({ where: ['shop-api', 'acme/shop'] }));
    expect(await around('Shop-API')).toEqual(['deployment 1']);
    for (const name of ['shop', 'api', 'shop-api-2', '%', 'shop_api']) expect(await around(name)).toEqual([]);
  });

  test('is of that time, and may have been under way', async () => {
    await record(change({ id: 'before', at: minute(-31) }));
    await record(change({ id: 'within', at: minute(-30) }));
    await record(change({ id: 'under way', startedAt: minute(9), at: minute(20) }));
    await record(change({ id: 'after', startedAt: minute(11), at: minute(20) }));
    expect(await around('shop-api')).toEqual(['under way', 'within']);
  });

  test('is told apart from never having been told', async () => {
    expect(await isToldOfChanges(db.sql)).toBe(false);
    await record(change());
    expect(await isToldOfChanges(db.sql)).toBe(true);
  });
});

describe('a change that two problems share', () => {
  const one: ChangeSubject = {
    target: 'shop-api',
    names: [],
    environment: null,
    changesFrom: null,
    beganAt: minute(10),
  };
  const other: ChangeSubject = {
    target: null,
    names: ['Orders-DB'],
    environment: null,
    changesFrom: null,
    beganAt: minute(12),
  };
  const both = { where: ['shop-api', 'orders-db'] };
  const found = async (a: ChangeSubject, b: ChangeSubject) =>
    sharedChange(await suspectsOf(db.sql, a.beganAt < b.beganAt ? b : a, 15 * 60_000), a, b);
  const shared = async (a: ChangeSubject = one, b: ChangeSubject = other) => (await found(a, b))?.id ?? null;

  test('touched both of them, shortly before the earlier one began', async () => {
    await record(change({ ...both, url: 'https://ci.example.com/1' }));
    const theOne = {
      id: 'deployment 1',
      title: 'shop-api 1.4.2 deployed',
      url: 'https://ci.example.com/1',
      isTrusted: false,
    };
    expect(await found(one, other)).toEqual(theOne);
    expect(await found(other, one)).toEqual(theOne);
  });

  test.each([
    ['touched only one of them', { where: ['shop-api'] }],
    ['touched neither', { where: ['mailer'] }],
    ['touched what is called nearly so', { where: ['shop-api', 'orders'] }],
    ['took effect too long before', { at: minute(-21) }],
    ['came after the earlier one began', { at: minute(11) }],
    ['touched everything', { where: [...both.where, ...Array.from({ length: 19 }, (_, n) => `s${n}`)] }],
    ['failed', { state: 'failed' as const }],
  ])('is none that %s', async (_what, given) => {
    await record(change({ ...both, ...given }));
    expect(await shared()).toBeNull();
  });

  test('is of the environment of both, where that is said', async () => {
    await record(change({ ...both, environment: 'production' }));
    expect(
      await shared({ ...one, environment: 'prod' }, { ...other, environment: 'Production' }),
    ).not.toBeNull();
    expect(await shared({ ...one, environment: 'staging' })).toBeNull();
    expect(await shared(one, { ...other, environment: 'staging' })).toBeNull();
  });

  test('without an environment is not of two', async () => {
    await record(change(both));
    const [prod, staging] = ['prod', 'staging'];
    expect(await shared({ ...one, environment: prod }, { ...other, environment: staging })).toBeNull();
    expect(await shared({ ...one, environment: prod })).toBeNull();
    expect(
      await shared({ ...one, environment: prod }, { ...other, environment: 'production' }),
    ).not.toBeNull();
  });

  test('is told by a source of both, and trusted where both name it', async () => {
    await record(change(both));
    const by = (...changesFrom: readonly string[]) => ({ changesFrom });
    expect(await shared({ ...one, ...by('argo-cd') })).toBeNull();
    expect(await shared(one, { ...other, ...by('argo-cd') })).toBeNull();
    expect(await found({ ...one, ...by('github') }, other)).toMatchObject({
      isTrusted: false,
    });
    expect(await found({ ...one, ...by('github') }, { ...other, ...by('github', 'argo-cd') })).toMatchObject({
      isTrusted: true,
    });
  });

  test('is the latest of several', async () => {
    await record(change({ ...both, id: 'first', at: minute(1) }));
    await record(change({ ...both, id: 'last', at: minute(9) }));
    await record(change({ ...both, id: 'second', at: minute(5) }));
    expect(await shared()).toBe('last');
  });

  test('may be under way', async () => {
    await record(change({ ...both, startedAt: minute(8), at: minute(14) }));
    expect(await shared()).toBe('deployment 1');
  });

  test('is never found by time alone', async () => {
    await record(change({ where: [] }));
    const nobody = { target: null, names: [], environment: null, changesFrom: null, beganAt: minute(10) };
    expect(await shared(nobody, nobody)).toBeNull();
  });
});
