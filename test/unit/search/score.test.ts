import { describe, expect, test } from 'vitest';
import { computeTermWeights } from '../../../src/search/index/compute-term-weights.ts';
import { encodeForwardIndex, readForwardIndex } from '../../../src/search/index/forward-index.ts';
import type { IndexedEntry, SpaceIndex } from '../../../src/search/index/space-indexes.ts';
import { termHash } from '../../../src/search/index/term-hash.ts';
import { findCandidates } from '../../../src/search/query/find-candidates.ts';
import { inverseFrequency, telling } from '../../../src/search/query/rarity.ts';
import { PARTS, scoreEntry } from '../../../src/search/query/score-entry.ts';
import { weighQuery } from '../../../src/search/query/weigh-query.ts';

/** Scores of texts against a query, all of them being the whole collection. */
function scores(
  query: string,
  entries: readonly (readonly [title: string, text: string])[],
  nearness: number | null = null,
) {
  const weighed = entries.map(([title, text]) => computeTermWeights(title, text));
  const having = new Map<number, number>();
  for (const terms of weighed)
    for (const { term, posted } of terms)
      if (posted) having.set(termHash(term), (having.get(termHash(term)) ?? 0) + 1);
  const count = (hash: number) => having.get(hash) ?? 0;
  const terms = telling(weighQuery(query), entries.length, count);
  return weighed.map((entry) =>
    scoreEntry(
      readForwardIndex(encodeForwardIndex(entry)),
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

test('the budget is spent on rare terms first, in all spaces, and at least one list is looked at', () => {
  const found = (lookups: number, ...spaces: Readonly<Record<number, number>>[]) => {
    const opened = spaces.map((lists, n): SpaceIndex => {
      const entries = Array.from(
        { length: 1_000 },
        (_, no) => ({ space: `${n}`, key: `${no}`, no }) as IndexedEntry,
      );
      return { name: `${n}`, entries: new Map(), having: (hash) => entries.slice(0, lists[hash]) };
    });
    return findCandidates([{ hash: 1 }, { hash: 2 }], opened, lookups).size;
  };
  expect(found(2_000, { 1: 10, 2: 500 })).toBe(500);
  expect(found(200, { 1: 10, 2: 500 })).toBe(10);
  expect(found(200, { 1: 700, 2: 500 })).toBe(500);
  expect(found(200, { 1: 10, 2: 500 }, { 1: 500, 2: 20 })).toBe(30);
  expect(found(200, {}, { 1: 5 })).toBe(5);
  expect(found(200)).toBe(0);
});
