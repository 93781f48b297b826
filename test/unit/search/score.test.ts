import { describe, expect, test } from 'vitest';
import { encodeForward, readForward } from '../../../src/search/index/forward.ts';
import { termHash } from '../../../src/search/index/term-hash.ts';
import { weighEntry } from '../../../src/search/index/weigh-entry.ts';
import { bestOf, chooseLists } from '../../../src/search/query/find-candidates.ts';
import { inverseFrequency, telling } from '../../../src/search/query/rarity.ts';
import { PARTS, scoreEntry } from '../../../src/search/query/score-entry.ts';
import { weighQuery } from '../../../src/search/query/weigh-query.ts';

/** Scores of texts against a query, all of them being the whole collection. */
function scores(
  query: string,
  entries: readonly (readonly [title: string, text: string])[],
  nearness: number | null = null,
) {
  const weighed = entries.map(([title, text]) => weighEntry(title, text));
  const having = new Map<number, number>();
  for (const terms of weighed)
    for (const { term, posted } of terms)
      if (posted) having.set(termHash(term), (having.get(termHash(term)) ?? 0) + 1);
  const count = (hash: number) => having.get(hash) ?? 0;
  const terms = telling(weighQuery(query), entries.length, count);
  return weighed.map((entry) =>
    scoreEntry(
      readForward(encodeForward(entry)),
      terms,
      (hash) => inverseFrequency(entries.length, count(hash)),
      nearness,
    ),
  );
}
const order = (query: string, entries: readonly (readonly [string, string])[]) =>
  scores(query, entries)
    .map(({ score }, i) => [score, i] as const)
    .sort((a, b) => b[0] - a[0])
    .map(([, i]) => i);

const filler = Array.from(
  { length: 20 },
  (_, i) => [`Note ${i}`, 'The cluster and the pod are described here.'] as const,
);

describe('an entry comes first', () => {
  test('when it has the rare word, not the common one', () => {
    const rare = ['Etcd', 'The wal fsync of etcd is slow.'] as const;
    const common = ['Pods', 'The pod, the pod and again the pod of the cluster.'] as const;
    expect(order('pod of etcd', [common, rare, ...filler])[0]).toBe(1);
  });

  test('when the word is in its title', () => {
    const titled = ['Deadlocks', 'What to do about them.'] as const;
    const told = ['Locks', 'Sometimes there are deadlocks.'] as const;
    expect(order('deadlocks', [told, titled, ...filler])[0]).toBe(1);
  });

  test('when the query covers all of its title, not a part', () => {
    const whole = ['KubeJobFailed', 'A job.'] as const;
    const part = ['KubeJobFailedOnSpotNodesWithVolumes', 'A job.'] as const;
    expect(order('job failed', [part, whole, ...filler])[0]).toBe(1);
  });

  test('when it says so shortly, not among much else', () => {
    const short = ['One', 'Replication slots fill the disk.'] as const;
    const long = ['Two', `Replication slots. ${'Something else entirely happens. '.repeat(200)}`] as const;
    expect(order('replication slots', [long, short, ...filler])[0]).toBe(1);
  });

  test('when its heading says so', () => {
    const long = 'Look at them one by one. '.repeat(100);
    const headed = ['One', `## Replication slots\n\n${long}`] as const;
    const told = ['Two', `Look at replication slots. ${long}`] as const;
    expect(order('replication slots', [told, headed, ...filler])[0]).toBe(1);
  });
});

test('shares are what the score is the sum of, and never above their part', () => {
  for (const entry of scores(
    'pod crash looping',
    [['Pod crash looping', 'pod crash looping'], ...filler],
    1,
  )) {
    expect(entry.body + entry.title + entry.meaning).toBeCloseTo(entry.score, 6);
    expect(entry.body).toBeLessThanOrEqual(PARTS.body);
    expect(entry.title).toBeLessThanOrEqual(PARTS.title + 1e-9);
    expect(entry.terms.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(entry.body + entry.title, 6);
    expect(entry.score).toBeLessThanOrEqual(1);
  }
});

test('placeholders of a rule do not count', () => {
  const terms = weighQuery('Pod <namespace>/<pod> on {{ $labels.instance }} is down').map(({ term }) => term);
  expect(terms).toContain('pod');
  expect(terms).not.toContain('namespac');
  expect(terms).not.toContain('instanc');
});

test('a word said ten times counts no more than one said three times', () => {
  const weight = (times: number) => weighQuery('disk '.repeat(times))[0]?.weight;
  expect(weight(10)).toBe(weight(3));
  expect(weight(3)).toBeGreaterThan(weight(1) ?? 0);
});

test('the budget is spent on rare words first, and at least one list is read', () => {
  const terms = [
    { term: 'rare', hash: 1, kind: 'word', weight: 1, of: null, mass: 5 },
    { term: 'common', hash: 2, kind: 'word', weight: 1, of: null, mass: 1 },
  ] as const;
  const chosen = (rare: number, common: number) =>
    chooseLists(terms, [
      { spaceId: 1, hash: 2, entries: common },
      { spaceId: 1, hash: 1, entries: rare },
    ]).map(({ hash }) => hash);
  expect(chosen(10, 100)).toEqual([1, 2]);
  expect(chosen(10, 1_000_000)).toEqual([1]);
  expect(chosen(1_000_000, 1_000_000)).toHaveLength(1);
});

test('the most promising of very many are kept, in any number of spaces', () => {
  const list = (first: number, weight: (no: number) => number) => {
    const bytes = Buffer.alloc(1_000 * 5);
    for (let i = 0; i < 1_000; i += 1) {
      bytes.writeUInt32BE(first + i, i * 5);
      bytes[i * 5 + 4] = weight(first + i);
    }
    return bytes;
  };
  const best = bestOf(
    [
      { spaceId: 1, hash: 7, list: list(0, (no) => (no === 500 ? 255 : 1)) },
      { spaceId: 2, hash: 7, list: list(0, (no) => (no < 300 ? 100 : 1)) },
    ],
    [
      { spaceId: 1, hash: 7, gives: 1 },
      { spaceId: 2, hash: 7, gives: 1 },
    ],
    [
      { id: 1, nextNo: 1_000 },
      { id: 2, nextNo: 1_000 },
    ],
  );
  expect(best).toContainEqual({ spaceId: 1, no: 500 });
  expect(best.filter(({ spaceId }) => spaceId === 1)).toHaveLength(1);
  expect(best.length).toBeGreaterThanOrEqual(100);
  expect(best.length).toBeLessThanOrEqual(200);
});
