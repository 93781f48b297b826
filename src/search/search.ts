import type { Log } from '../core/log.ts';
import type { Sql } from '../core/sql.ts';
import type { IndexedEntry, SpaceIndex, SpaceIndexes } from './index/space-indexes.ts';
import { findNearest, type Nearest } from './meaning/nearest.ts';
import type { Embedder, VectorStore } from './ports.ts';
import { findCandidates } from './query/find-candidates.ts';
import { inverseFrequency, telling } from './query/rarity.ts';
import { scoreEntry } from './query/score-entry.ts';
import { weighQuery } from './query/weigh-query.ts';
import {
  type SearchAnswer,
  type SearchHit,
  type SearchRequest,
  type Shares,
  spaceName,
  spaceOf,
} from './types.ts';

const K = 10;

export interface SearchDeps {
  readonly sql: Sql;
  readonly indexes: SpaceIndexes;
  readonly vectors: VectorStore;
  readonly embedder: Embedder;
  readonly log: Log;
}

/** Words find and rank; nearness in meaning adds to it where an embedding is configured and answers in time. */
export async function search(
  deps: SearchDeps,
  { text, spaces, k = K, meaningWithinMs }: SearchRequest,
): Promise<SearchAnswer> {
  const nearest = await findNearest(deps, text, spaces, meaningWithinMs);
  const open = await deps.indexes.open([...new Set(spaces.map(spaceName))]);
  return { hits: await readHits(deps.sql, rank(text, open, nearest).slice(0, k)), meaning: nearest.state };
}

interface Scored extends IndexedEntry {
  readonly score: number;
  readonly shares: Shares;
}

function rank(text: string, open: readonly SpaceIndex[], nearest: Nearest): readonly Scored[] {
  const entries = open.reduce((sum, space) => sum + space.entries.size, 0);
  const having = (hash: number) => open.reduce((sum, space) => sum + space.having(hash).length, 0);
  const rarity = (hash: number) => inverseFrequency(entries, having(hash) || 1);
  const terms = telling(weighQuery(text), entries, having);
  const candidates = new Set([...findCandidates(terms, open), ...nearIn(open, nearest)]);
  return (
    [...candidates]
      .map((entry): Scored => {
        const meant = nearest.bySpace.get(entry.space);
        const nearness = meant ? (meant.near.get(entry.key) ?? meant.others) : null;
        const { score, ...shares } = scoreEntry(entry.terms, terms, rarity, nearness);
        return { ...entry, score, shares };
      })
      // Equal scores in a fixed order: the same question has the same answer.
      .sort((a, b) => b.score - a.score || (a.key < b.key ? -1 : 1))
  );
}

/** What is near in meaning, also without a word in common. */
function nearIn(open: readonly SpaceIndex[], { bySpace }: Nearest): readonly IndexedEntry[] {
  return open.flatMap(({ name, entries }) =>
    [...(bySpace.get(name)?.near.keys() ?? [])].flatMap((key) => entries.get(key) ?? []),
  );
}

interface HitRow extends Readonly<Record<string, unknown>> {
  readonly name: string;
  readonly key: string;
  readonly title: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly updated_at: string;
  readonly body: string;
}

/** As they are now; what was removed meanwhile is left out. */
async function readHits(sql: Sql, best: readonly Scored[]): Promise<readonly SearchHit[]> {
  if (best.length === 0) return [];
  const wanted = best.map(({ space, key }) => ({ name: space, key }));
  const rows = await sql<HitRow>`
    SELECT s.name, e.key, e.title, e.metadata, e.updated_at, e.body
      FROM jsonb_to_recordset(${sql.json(wanted)}) AS w (name text, key text)
      JOIN search_space s ON s.name = w.name
      JOIN search_entry e ON e.space_id = s.id AND e.key = w.key`;
  const rowOf = new Map(rows.map((row) => [`${row.name} ${row.key}`, row]));
  return best.flatMap(({ space, key, score, shares }) => {
    const row = rowOf.get(`${space} ${key}`);
    if (!row) return [];
    const { title, metadata, updated_at: updatedAt, body } = row;
    return [{ space: spaceOf(space), key, title, metadata, updatedAt, text: body, score, shares }];
  });
}
