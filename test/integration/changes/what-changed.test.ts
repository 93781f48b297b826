import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ChangesSubject } from '../../../src/changes/judge-changes.ts';
import { createRecordChange, type RecordChange } from '../../../src/changes/record-change.ts';
import { createWhatChanged, type OwnLooks } from '../../../src/changes/what-changed.ts';
import type { Change } from '../../../src/core/change.ts';
import type { IncidentId } from '../../../src/core/ids.ts';
import { type AskedChanges, OWN_LOOK, type WhatChanged } from '../../../src/core/what-changed.ts';
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
const id = 'INC-1' as IncidentId;

const subject: ChangesSubject = {
  beganAt: minute(0),
  system: {
    name: 'shop-cluster',
    names: ['shop-cluster', 'shop'],
    environment: 'production',
    changesFrom: null,
  },
  environment: 'production',
  workloads: ['shop-api'],
  alsoCalled: [],
  data: [],
  neighbours: [{ name: 'orders-db', names: ['orders-db'], environment: 'production', changesFrom: null }],
  elsewhere: ['staging-cluster'],
};

let n = 0;
const told = (given: Partial<Change> = {}): Promise<unknown> =>
  record({
    source: 'argo-cd',
    id: `deploy ${++n}`,
    kind: 'deployment',
    state: 'succeeded',
    title: 'shop-api 1.4.2 deployed',
    where: ['shop-api'],
    environment: null,
    startedAt: null,
    at: minute(-3),
    by: 'olivia',
    from: '1.4.1',
    to: '1.4.2',
    commits: [],
    url: null,
    ...given,
  });

async function ask(
  asked: Partial<AskedChanges> = {},
  given: {
    readonly subject?: Partial<ChangesSubject>;
    readonly looks?: OwnLooks;
    readonly away?: [from: string, to: string];
  } = {},
): Promise<WhatChanged> {
  const port = createWhatChanged({
    sql: db.sql,
    subjectOf: async () => ({ ...subject, ...given.subject }),
    ...(given.looks ? { looks: given.looks } : {}),
    ...(given.away ? { away: async () => [{ from: given.away?.[0] ?? '', to: given.away?.[1] ?? '' }] } : {}),
    now: () => new Date(minute(30)),
  });
  const found = await port.whatChanged(id, { signal: new AbortController().signal, ...asked });
  if ('ok' in found) throw new Error(found.reason);
  return found;
}

describe('what was changed', () => {
  test('is answered with who did what, how long before, and who has told of it', async () => {
    await told();
    expect(await ask()).toEqual({
      answer: 'changed',
      from: minute(-120),
      to: minute(30),
      beganAt: minute(0),
      suspects: [
        expect.objectContaining({
          ref: 'c1',
          title: 'shop-api 1.4.2 deployed',
          touches: 'it',
          through: 'shop-api',
          when: 'before',
          beforeMs: 3 * 60_000,
        }),
      ],
      afterwards: [],
      others: 0,
      looked: [{ source: 'argo-cd', of: 'shop-api', from: minute(-3), to: minute(30) }],
      couldNotLook: [],
    });
  });

  test('is not nothing while Sentry did not run: whoever would have told it had nobody to tell', async () => {
    await told({ at: minute(-600) });
    expect((await ask({}, { away: [minute(-110), minute(-100)] })).answer).toBe('nothing');
    const gone = await ask({}, { away: [minute(-60), minute(-4)] });
    expect(gone.answer).toBe('could_not_look');
    expect(gone.couldNotLook.map(({ why }) => why)).toEqual([
      'Sentry hears it only since 4 min before it began',
      'Sentry did not run from 2026-03-01 11:00 to 2026-03-01 11:56 (UTC), so nobody could tell it anything',
    ]);
    expect((await ask({}, { away: [minute(-60), minute(10)] })).answer).toBe('could_not_look');
    // What was told before it began is known, whatever came later.
    expect((await ask({}, { away: [minute(2), minute(10)] })).answer).toBe('nothing');
  });

  test('is nothing only where somebody was there to tell of this very thing', async () => {
    expect(await ask()).toMatchObject({ answer: 'could_not_look', looked: [], couldNotLook: [] });
    await told({ where: ['orders-db'], at: minute(-600) });
    expect(await ask()).toMatchObject({ answer: 'could_not_look', looked: [{ of: 'orders-db' }] });
    await told({ at: minute(5) });
    expect(await ask()).toMatchObject({ answer: 'could_not_look', afterwards: [{ ref: 'c1' }] });
    await told({ at: minute(-600), environment: 'staging' });
    expect((await ask()).answer).toBe('could_not_look');
    await told({ at: minute(-600) });
    expect(await ask()).toMatchObject({ answer: 'nothing', suspects: [] });
  });

  test('counts the word of those whose word counts, and says who of them never told', async () => {
    const system = { ...subject.system, changesFrom: ['github', 'api:ci'] } as ChangesSubject['system'];
    await told();
    await told({ source: 'github', at: minute(-600) });
    expect(await ask({}, { subject: { system } })).toMatchObject({
      answer: 'nothing',
      suspects: [],
      others: 1,
      looked: [{ source: 'github', of: 'shop-api' }],
      couldNotLook: [
        { source: 'api:ci', of: 'shop-cluster', from: null, why: 'it has never told of shop-cluster' },
      ],
    });
  });

  test('has those before it began, however many came afterwards', async () => {
    await told({ title: 'the one' });
    for (let at = 0; at < 220; at += 1) await told({ at: minute(2 + at / 10) });
    const found = await ask();
    expect(found.suspects.map(({ title }) => title)).toEqual(['the one']);
    expect(found.afterwards).toHaveLength(6);
    expect(found.afterwards.at(-1)?.at).toBe(minute(2));
    expect(found.others).toBe(214);
  });

  test.each([
    ['of another environment', { environment: 'staging' }],
    ['of a neighbour', { where: ['orders-db'], kind: 'feature_flag' }],
  ] as const)('is found behind more than are read %s', async (_, noise) => {
    await told({ at: minute(-60), title: 'guilty', environment: 'prod' });
    for (let at = 0; at < 205; at += 1) await told({ ...noise, at: minute(-50 + at / 10), to: `p${at}` });
    const found = await ask();
    expect(found.suspects[0]).toMatchObject({ title: 'guilty', touches: 'it' });
  });

  test('is looked for further back when asked, and not for ever', async () => {
    await told({ at: minute(-300) });
    expect((await ask()).suspects).toEqual([]);
    expect((await ask({ since: 400 })).suspects).toHaveLength(1);
    expect((await ask({ since: minute(-301) })).suspects).toHaveLength(1);
    expect((await ask({ since: '1999-01-01T00:00:00Z' })).from).toBe(
      new Date(Date.parse(minute(0)) - 30 * 24 * 60 * 60_000).toISOString(),
    );
    await expect(ask({ since: 'yesterday' })).rejects.toThrow('since: expected a moment in the past');
  });

  test('is under way while nobody has told of its end', async () => {
    await told({ state: 'started', at: minute(-200) });
    await told({ state: 'started', at: minute(-60 * 30) });
    expect((await ask()).suspects).toMatchObject([
      { state: 'started', when: 'before', beforeMs: 200 * 60_000 },
    ]);
  });

  test('is asked of one system or service alone, of those that the incident may be told about', async () => {
    await told();
    await told({ where: ['orders-db'], kind: 'migration', title: 'orders migrated' });
    expect((await ask()).suspects.map(({ title, touches }) => [title, touches])).toEqual([
      ['shop-api 1.4.2 deployed', 'it'],
      ['orders migrated', 'neighbour'],
    ]);
    expect((await ask({ name: 'Orders-DB' })).suspects).toMatchObject([{ title: 'orders migrated' }]);
    await told({ where: ['billing-db'], title: 'not to be told' });
    await expect(ask({ name: 'billing-db' })).rejects.toThrow(
      '“billing-db” is no part of this incident. It may ask about: shop-cluster, shop-api, orders-db.',
    );
    expect(JSON.stringify(await ask())).not.toContain('not to be told');
  });
});

describe('own looks', () => {
  const looked = { source: OWN_LOOK, of: 'shop-cluster', from: minute(-120), to: minute(29) };
  const looks = (given: Partial<OwnLooks> = {}): OwnLooks => ({
    now: async () => undefined,
    read: async () => [looked],
    ...given,
  });

  test('are somebody who would have told', async () => {
    expect(await ask({}, { looks: looks() })).toMatchObject({ answer: 'nothing', looked: [looked] });
    const before = { ...looked, to: minute(-30) };
    expect(await ask({}, { looks: looks({ read: async () => [before] }) })).toMatchObject({
      answer: 'could_not_look',
      looked: [before],
    });
  });

  test('say nothing where there was none before to compare with', async () => {
    const of = { source: OWN_LOOK, of: 'shop-cluster' };
    const why =
      'it was looked at for the first time after it began, and there is nothing to compare that with';
    for (const to of [minute(20), minute(29)]) {
      const first = { ...of, from: minute(20), to };
      expect(await ask({}, { looks: looks({ read: async () => [first] }) })).toMatchObject({
        answer: 'could_not_look',
        looked: [],
        couldNotLook: [{ ...of, from: null, to: null, why }],
      });
    }
    const once = { ...of, from: minute(-1), to: minute(-1) };
    expect(await ask({}, { looks: looks({ read: async () => [once] }) })).toMatchObject({
      answer: 'could_not_look',
      couldNotLook: [{ why: 'it was looked at only once, and there is nothing to compare that with' }],
    });
  });

  test('are made first, and what they find is in the answer', async () => {
    const now: OwnLooks['now'] = (target) =>
      told({
        source: OWN_LOOK,
        where: [target],
        title: `a setting of ${target}`,
        kind: 'config',
        at: minute(-1),
      });
    expect((await ask({}, { looks: looks({ now }) })).suspects).toMatchObject([
      { title: 'a setting of shop-cluster', touches: 'it' },
    ]);
  });

  test('that fail or hang hold nothing up, and are said', async () => {
    const failing = looks({
      now: async () => Promise.reject(new Error('down')),
      read: async () => [{ ...looked, from: null, to: null, why: 'it does not answer' }],
    });
    expect(await ask({}, { looks: failing })).toMatchObject({
      answer: 'could_not_look',
      looked: [],
      couldNotLook: [{ source: OWN_LOOK, why: 'it does not answer' }],
    });
    const hanging = looks({ now: () => new Promise(() => undefined) });
    expect(await ask({}, { looks: hanging })).toMatchObject({
      answer: 'nothing',
      couldNotLook: [{ source: OWN_LOOK, of: 'shop-cluster', why: 'a look at it still runs' }],
    });
  });
});
