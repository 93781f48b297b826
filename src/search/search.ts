import type { Log } from '../core/log.ts';
import type { Sql, Tx } from '../core/sql.ts';
import {
  type Candidate,
  type OpenSpace,
  openSpaces,
  readEntries,
  readEntriesByKey,
  readPostings,
} from './index/read-index.ts';
import { titleHash } from './index/term-hash.ts';
import { findNearest, type Nearest } from './meaning/nearest.ts';
import type { Patience } from './meaning/patience.ts';
import type { Embedder, VectorStore } from './ports.ts';
import { bestOf, chooseLists } from './query/find-candidates.ts';
import { inverseFrequency, telling } from './query/rarity.ts';
import { scoreEntry } from './query/score-entry.ts';
import type { TermCounts } from './query/term-counts.ts';
import { weighQuery } from './query/weigh-query.ts';
import { type SearchAnswer, type SearchHit, type SearchRequest, spaceName, spaceOf } from './types.ts';

const K = 10;
/** A person waits for the answer, words alone are nearly as good, and 60 ms are promised for all of it. */
const MEANING_WITHIN_MS = 45;

export interface SearchDeps {
  readonly sql: Sql;
  readonly vectors: VectorStore;
  /** Of queries: one that is not busy with documents. */
  readonly embedder: Embedder;
  readonly counts: TermCounts;
  readonly patience: Patience;
  readonly log: Log;
}

/**
 * Words find and rank, meaning adds to it when it answers in time. Read in one snapshot: an entry that is being replaced
 * is found as it was or as it is.
 */
export async function search(deps: SearchDeps, request: SearchRequest): Promise<SearchAnswer> {
  const { text, spaces, k = K, meaningWithinMs = MEANING_WITHIN_MS, withText = false } = request;
  const asked = findNearest(deps, text, spaces, meaningWithinMs);
  const names = [...new Set(spaces.map(spaceName))];
  // Who has more time than a few milliseconds does not spend it on a connection that others want.
  if (meaningWithinMs > MEANING_WITHIN_MS) await asked;
  return deps.sql.begin('isolation level repeatable read read only', async (tx) => {
    const [ranking, nearest] = await ranked(deps, tx, text, names, asked);
    const hits = ranking.slice(0, k);
    return { hits: withText ? await withTexts(tx, hits) : hits, meaning: nearest.state };
  });
}

async function ranked(
  { counts }: SearchDeps,
  tx: Tx,
  text: string,
  names: readonly string[],
  asked: Promise<Nearest>,
): Promise<readonly [readonly SearchHit[], Nearest]> {
  const open = await openSpaces(tx, names);
  const entries = open.reduce((sum, space) => sum + space.entries, 0);
  const terms = weighQuery(text);
  const hashes = terms.flatMap(({ hash, of }) => [hash, titleHash(hash), ...(of ?? [])]);
  const counted = await counts.now(tx, open, [...new Set(hashes)]);
  const having = totals(counted);
  const weighed = telling(terms, entries, (hash) => having.get(hash) ?? 0);
  const wanted = chooseLists(weighed, counted);
  const found = await readEntries(tx, bestOf(await readPostings(tx, wanted), wanted, open));

  const nearest = await asked;
  const all = [...found, ...(await readEntriesByKey(tx, unseen(nearest, open, found)))];
  const titleWords = new Set(all.flatMap(({ forward }) => forward.titleWords()));
  for (const hash of having.keys()) titleWords.delete(hash);
  for (const [hash, n] of totals(await counts.recent(tx, open, [...titleWords]))) having.set(hash, n);
  const rarity = (hash: number) => inverseFrequency(entries, having.get(hash) ?? 1);

  const nameOf = new Map(open.map(({ id, name }) => [id, name]));
  const hits = all.map((entry): SearchHit => {
    const name = nameOf.get(entry.spaceId) ?? '';
    const meant = nearest.bySpace.get(name);
    const nearness = meant ? (meant.near.get(entry.key) ?? meant.others) : null;
    const { score, ...shares } = scoreEntry(entry.forward, weighed, rarity, nearness);
    const { key, title, metadata, updatedAt } = entry;
    return { space: spaceOf(name), key, title, metadata, updatedAt, text: '', score, shares };
  });
  // Equal scores in a fixed order: the same question has the same answer.
  hits.sort((a, b) => b.score - a.score || (a.key < b.key ? -1 : 1));
  return [hits, nearest];
}

function totals(counted: readonly { readonly hash: number; readonly entries: number }[]) {
  const sums = new Map<number, number>();
  for (const { hash, entries } of counted) sums.set(hash, (sums.get(hash) ?? 0) + entries);
  return sums;
}

/** What is near in meaning and shares no telling word. */
function unseen(nearest: Nearest, open: readonly OpenSpace[], found: readonly Candidate[]) {
  const seen = new Set(found.map(({ spaceId, key }) => `${spaceId} ${key}`));
  return open.flatMap(({ id, name }) =>
    [...(nearest.bySpace.get(name)?.near.keys() ?? [])]
      .filter((key) => !seen.has(`${id} ${key}`))
      .map((key) => ({ spaceId: id, key })),
  );
}

async function withTexts(tx: Tx, hits: readonly SearchHit[]): Promise<readonly SearchHit[]> {
  const rows = await tx<{ name: string; key: string; body: string }>`
    SELECT s.name, e.key, e.body
      FROM unnest(${tx.array(hits.map(({ space }) => spaceName(space)))}::text[],
                  ${tx.array(hits.map(({ key }) => key))}::text[]) AS w (name, key)
      JOIN search_space s ON s.name = w.name
      JOIN search_entry e ON e.space_id = s.id AND e.key = w.key`;
  const texts = new Map(rows.map(({ name, key, body }) => [`${name} ${key}`, body]));
  return hits.map((hit) => ({ ...hit, text: texts.get(`${spaceName(hit.space)} ${hit.key}`) ?? '' }));
}
