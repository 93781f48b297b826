import { describe, expect, it } from 'vitest';
import { type ChangesSubject, judgeChanges, type ReadChanges } from '../../../src/changes/judge-changes.ts';
import type { Change } from '../../../src/core/change.ts';
import { OWN_LOOK } from '../../../src/core/what-changed.ts';

const at = (seconds: number): string => new Date(Date.UTC(2026, 2, 1, 12, 0, seconds)).toISOString();
const MINUTE = 60;

const subject: ChangesSubject = {
  beganAt: at(0),
  system: { name: 'shop', names: ['shop', 'shop-ns'], environment: 'production', changesFrom: null },
  environment: 'production',
  workloads: ['api'],
  alsoCalled: ['checkout-job'],
  data: ['orders'],
  neighbours: [{ name: 'db', names: ['db'], environment: 'production', changesFrom: ['argo-cd'] }],
  elsewhere: ['staging'],
};
const change = (given: Partial<Change>): Change => ({
  source: 'argo-cd',
  id: JSON.stringify(given),
  kind: 'deployment',
  state: 'succeeded',
  title: 'deployed',
  where: ['shop'],
  environment: null,
  startedAt: null,
  at: at(-5 * MINUTE),
  by: null,
  from: null,
  to: null,
  commits: [],
  url: null,
  ...given,
});
const look = (given: Partial<Change>): Change =>
  change({ source: OWN_LOOK, kind: 'config', startedAt: at(-10 * MINUTE), ...given });

const judge = (
  changes: readonly Change[],
  given: Partial<ChangesSubject> = {},
  read: Partial<ReadChanges> = {},
  of: readonly string[] | null = null,
) =>
  judgeChanges(
    { ...subject, ...given },
    {
      from: at(-120 * MINUTE),
      to: at(30 * MINUTE),
      changes,
      inAll: changes.length,
      looked: [],
      couldNotLook: [],
      ...read,
    },
    of,
  );

const nothingNamed = { workloads: [], alsoCalled: [], data: [] };

describe('what a change touches', () => {
  it.each<[string, Change, Partial<ChangesSubject>, string | null]>([
    ['the system as a whole', change({}), {}, 'it'],
    ['the system by another name', change({ where: ['shop-ns'] }), {}, 'it'],
    ['the service that the alert is about', change({ where: ['api'] }), {}, 'it'],
    ['that service in the system', change({ where: ['shop', 'api'] }), {}, 'it'],
    ['what the alert names in passing', change({ where: ['checkout-job'] }), {}, 'it'],
    [
      'that service in its namespace',
      look({ where: ['shop', 'api', 'web/api'] }),
      { namespaces: ['web'] },
      'it',
    ],
    [
      'one of its name in another namespace',
      look({ where: ['shop', 'api', 'web/api'] }),
      { namespaces: ['admin'] },
      'neighbour',
    ],
    ['one whose namespace nobody knows', look({ where: ['shop', 'api', 'web/api'] }), {}, 'it'],
    ['a repository of its name', change({ where: ['acme/api', 'api'] }), { namespaces: ['web'] }, 'it'],
    ['it, told by its namespace alone', change({ where: ['web/api'] }), { namespaces: ['web'] }, 'it'],
    ['another thing of the system', change({ where: ['shop', 'worker'] }), {}, 'neighbour'],
    ['another thing, where the alert names none', change({ where: ['shop', 'worker'] }), nothingNamed, 'it'],
    [
      'another thing, where the alert names one in passing',
      change({ where: ['shop', 'worker'] }),
      { workloads: [] },
      'it',
    ],
    ['a neighbour', change({ where: ['db'] }), {}, 'neighbour'],
    [
      'a neighbour by the word of one who does not count',
      change({ where: ['db'], source: 'github' }),
      {},
      null,
    ],
    ['another system', change({ where: ['billing'] }), {}, null],
    ['everything', change({ where: ['shop', ...Array.from({ length: 20 }, (_, n) => `s${n}`)] }), {}, null],
    [
      'as much as one may name',
      change({ where: ['shop', 'api', ...Array.from({ length: 18 }, (_, n) => `s${n}`)] }),
      {},
      'it',
    ],
    ['nothing, for it failed', change({ state: 'failed' }), {}, null],
    ['the same in another environment', change({ environment: 'staging' }), {}, null],
    ['the same in this environment', change({ environment: 'prod' }), {}, 'it'],
    ['the service in a system of another environment', change({ where: ['staging', 'api'] }), {}, null],
    ['a service called as the table is', change({ where: ['orders'] }), {}, null],
    ['the table', look({ kind: 'migration', where: ['shop', 'orders'] }), {}, 'it'],
    ['another table', look({ kind: 'migration', where: ['shop', 'carts'] }), {}, 'neighbour'],
    [
      'another table, where the alert names none',
      look({ kind: 'migration', where: ['shop', 'carts'] }),
      { data: [] },
      'it',
    ],
    ['a setting', look({ where: ['shop'] }), {}, 'it'],
    ['what a look saw in another system', look({ where: ['billing', 'api'] }), {}, null],
    [
      'what a look saw, where only others are believed',
      look({ where: ['shop'] }),
      { system: { name: 'shop', names: ['shop'], environment: 'production', changesFrom: [] } },
      'it',
    ],
    [
      'by the word of nobody who counts',
      change({}),
      { system: { name: 'shop', names: ['shop'], environment: 'production', changesFrom: [] } },
      null,
    ],
    ['the service, where there is no system', change({ where: ['api'] }), { system: null }, 'it'],
    [
      'that service elsewhere, by what the alert says',
      change({ where: ['api'], environment: 'staging' }),
      { system: null },
      null,
    ],
  ])('%s', (_, given, about, touches) => {
    const { suspects, others } = judge([given], about);
    expect(suspects.map((one) => one.touches)).toEqual(touches === null ? [] : [touches]);
    expect(others).toBe(touches === null ? 1 : 0);
  });
});

describe('when it took effect', () => {
  it.each<[string, Change, 'before' | 'around' | 'after', number]>([
    ['five minutes before', change({}), 'before', 300],
    ['a minute before', change({ at: at(-60) }), 'before', 60],
    ['within what clocks differ by, before', change({ at: at(-59) }), 'around', 59],
    ['within what clocks differ by, after', change({ at: at(59) }), 'around', 0],
    ['a minute after', change({ at: at(60) }), 'after', -60],
    ['began before and ended before', change({ startedAt: at(-400), at: at(-100) }), 'before', 100],
    ['began before and ended after', change({ startedAt: at(-400), at: at(100) }), 'before', 400],
    ['began before and ended about then', change({ startedAt: at(-400), at: at(-10) }), 'before', 10],
    ['began about then', change({ startedAt: at(-10), at: at(100) }), 'around', 0],
    ['began after', change({ startedAt: at(70), at: at(100) }), 'after', -70],
    [
      'is under way since before',
      change({ state: 'started', at: at(-400), startedAt: at(-400) }),
      'before',
      400,
    ],
    ['between two looks before', look({ at: at(-61) }), 'before', 61],
    ['between a look before and one after', look({ at: at(200) }), 'around', 0],
    ['between two looks after', look({ startedAt: at(100), at: at(400) }), 'after', -100],
    ['at a time that the system tells, after', look({ startedAt: null, at: at(100) }), 'after', -100],
  ])('%s', (_, given, when, seconds) => {
    const { suspects, afterwards } = judge([given]);
    expect([...suspects, ...afterwards]).toMatchObject([{ ref: 'c1', when, beforeMs: seconds * 1_000 }]);
    expect(afterwards).toHaveLength(when === 'after' ? 1 : 0);
  });
});

describe('several changes', () => {
  it('are told those of it first, the newest first, and as many as there were', () => {
    const found = judge([
      change({ title: 'beside', where: ['db'], at: at(-61) }),
      change({ title: 'older', at: at(-600) }),
      change({ title: 'newer', at: at(-300) }),
      change({ title: 'afterwards', at: at(300) }),
    ]);
    expect(found.suspects.map(({ ref, title }) => [ref, title])).toEqual([
      ['c1', 'newer'],
      ['c2', 'older'],
      ['c3', 'beside'],
    ]);
    expect(found.afterwards).toMatchObject([{ ref: 'c4', title: 'afterwards' }]);
  });

  it('are no more than anybody weighs, and the rest is counted', () => {
    const found = judge(Array.from({ length: 50 }, (_, n) => change({ id: `${n}`, at: at(-100 - n) })));
    expect(found.suspects).toHaveLength(12);
    expect(found).toMatchObject({ others: 0, cut: 38 });
  });

  it.each<[string, Change, Change, number]>([
    [
      'one that a look saw, too',
      change({ where: ['api'], to: '1.4.2' }),
      look({ where: ['shop', 'api'], to: 'registry/api:v1.4.2' }),
      1,
    ],
    [
      'one of another version',
      change({ where: ['api'], to: '1.4' }),
      look({ where: ['shop', 'api'], to: 'registry/api:v1.4.2' }),
      2,
    ],
    [
      'one by its commit',
      change({ where: ['api'], to: '4f2a91c0d1e2f3a4b5c6d7e8f9a0b1c2d3e4f5a6' }),
      look({ where: ['shop', 'api'], to: 'api:4f2a91c' }),
      1,
    ],
    [
      'one of another thing',
      change({ where: ['shop'], to: '1.4.2' }),
      look({ where: ['db', 'api'], to: '1.4.2' }),
      2,
    ],
    [
      'one of another time',
      change({ where: ['api'], to: '1.4.2', at: at(-3_600) }),
      look({ where: ['shop', 'api'], to: '1.4.2' }),
      2,
    ],
    [
      'one that failed',
      change({ where: ['api'], to: '1.4.2', state: 'failed' }),
      look({ where: ['shop', 'api'], to: '1.4.2' }),
      1,
    ],
    [
      'one that a look saw, while the other is of another environment',
      change({ where: ['api'], to: '1.4.2', environment: 'staging' }),
      look({ where: ['shop', 'api'], to: 'registry/api:v1.4.2' }),
      1,
    ],
    [
      'one that began long ago and was followed by another',
      change({ state: 'started', at: at(-20 * 3_600), startedAt: at(-20 * 3_600) }),
      change({ at: at(-180) }),
      1,
    ],
    [
      'one that is still under way beside another',
      change({ state: 'started', at: at(-240), startedAt: at(-240), to: '1.4.3' }),
      change({ at: at(-180), to: '1.4.2' }),
      2,
    ],
    [
      'a setting',
      change({ where: ['shop'], to: '1.4.2' }),
      look({ where: ['shop'], from: '4MB', to: '64kB' }),
      2,
    ],
  ])('%s', (_, told, seen, suspects) => {
    const found = judge([told, seen], {
      neighbours: [{ name: 'db', names: ['db'], environment: null, changesFrom: null }],
    });
    expect(found.suspects).toHaveLength(suspects);
  });
});

describe('what is not to be hidden', () => {
  it('is what a look saw, by the word of one who does not count', () => {
    const seen = look({
      kind: 'deployment',
      where: ['shop', 'api'],
      to: 'registry/api:v1.4.2',
      title: 'seen',
    });
    const stranger = change({ source: 'slack', where: ['api'], to: '1.4.2' });
    const system = { name: 'shop', names: ['shop'], environment: 'production', changesFrom: ['argo-cd'] };
    expect(judge([seen, stranger], { system }).suspects.map(({ title }) => title)).toEqual(['seen']);
  });

  it('is an older change of another kind, or of a look, behind many of one', () => {
    const flags = Array.from({ length: 15 }, (_, n) =>
      change({ id: `f${n}`, kind: 'feature_flag', at: at(-61 - n) }),
    );
    const guilty = change({ title: 'guilty', kind: 'migration', at: at(-40 * MINUTE) });
    const seen = look({ title: 'seen', startedAt: at(-60 * MINUTE), at: at(-50 * MINUTE) });
    const found = judge([...flags, guilty, seen]);
    expect(found.suspects.slice(-2).map(({ title }) => title)).toEqual(['guilty', 'seen']);
    expect(found).toMatchObject({ cut: 5, others: 0 });
  });

  it('is not a system that has a container of this name', () => {
    const seen = look({ kind: 'infrastructure', where: ['dev-docker', 'shop'] });
    expect(judge([seen], nothingNamed).suspects).toEqual([]);
  });

  it('may be long, and the answer is not', () => {
    const text = 'x'.repeat(200);
    const commit = { sha: text, title: text, by: text, files: Array.from({ length: 20 }, () => text) };
    const where = ['shop', ...Array.from({ length: 19 }, (_, n) => `${n}`.repeat(150))];
    const changes = Array.from({ length: 30 }, (_, n) =>
      change({
        id: `${n}`,
        where,
        title: text,
        commits: Array.from({ length: 50 }, () => commit),
        url: `https://x/${'u'.repeat(2_900)}`,
        at: at((n < 20 ? -n - 2 : n) * MINUTE),
      }),
    );
    const { suspects, afterwards } = judge(changes, nothingNamed);
    expect([suspects.length, afterwards.length]).toEqual([12, 6]);
    expect(JSON.stringify([suspects, afterwards]).length).toBeLessThan(33_000);
  });
});

describe('the answer', () => {
  const told = { source: 'argo-cd', of: 'shop', from: at(-3_600), to: at(1_800) };
  it.each<[string, Partial<ReadChanges>, Change[], string]>([
    ['nobody was there', {}, [], 'could_not_look'],
    ['somebody tells of it', { looked: [told] }, [], 'nothing'],
    ['somebody tells of its service', { looked: [{ ...told, of: 'api' }] }, [], 'nothing'],
    ['somebody tells of a neighbour', { looked: [{ ...told, of: 'db' }] }, [], 'could_not_look'],
    ['somebody told of it only afterwards', { looked: [{ ...told, from: at(10) }] }, [], 'could_not_look'],
    ['somebody is there since shortly before', { looked: [{ ...told, from: at(-1) }] }, [], 'could_not_look'],
    ['somebody is there since long enough', { looked: [{ ...told, from: at(-1_800) }] }, [], 'nothing'],
    ['more were told than were read', { looked: [told], isCutShort: true }, [], 'could_not_look'],
    ['nobody looked since before', { looked: [{ ...told, to: at(-300) }] }, [], 'could_not_look'],
    ['there is one', {}, [change({})], 'changed'],
    ['there is one of a neighbour', {}, [change({ where: ['db'] })], 'changed'],
    ['there was one afterwards', {}, [change({ at: at(300) })], 'could_not_look'],
  ])('%s', (_, read, changes, answer) => {
    expect(judge(changes, {}, read).answer).toBe(answer);
  });

  it('of a neighbour alone is what is known of that', () => {
    const looked = [{ ...told, of: 'db' }];
    expect(judge([change({})], {}, { looked }, ['db'])).toMatchObject({ answer: 'nothing', suspects: [] });
    expect(judge([change({})], {}, { looked: [told] }, ['db']).answer).toBe('could_not_look');
  });
});
