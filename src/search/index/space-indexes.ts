import type { Sql } from '../../core/sql.ts';
import { type ForwardIndex, readForwardIndex } from './forward-index.ts';

/** An entry as this process holds it to be searched. */
export interface IndexedEntry {
  /** The name of its space. */
  readonly space: string;
  readonly key: string;
  /** Grows with every write to the space. */
  readonly no: number;
  readonly terms: ForwardIndex;
}

/** A space as this process holds it to be searched. */
export interface SpaceIndex {
  readonly name: string;
  readonly entries: ReadonlyMap<string, IndexedEntry>;
  /** The entries that are found by a term. */
  having(hash: number): readonly IndexedEntry[];
}

/**
 * The inverted index in memory, kept in step with the rows in PostgreSQL, which every process writes: a search first reads
 * what was written since the last one.
 */
export interface SpaceIndexes {
  /** As they stand when it is called, or newer; what has no entries is left out. */
  open(names: readonly string[]): Promise<readonly SpaceIndex[]>;
}

interface SpaceRow extends Readonly<Record<string, unknown>> {
  readonly id: number;
  readonly name: string;
  readonly next_no: number;
  readonly entries: number;
}

export function createSpaceIndexes(sql: Sql): SpaceIndexes {
  const known = new Map<number, LoadedSpace>();
  // One at a time: what an older answer does not have yet must not be taken out of a newer index.
  let last: Promise<unknown> = Promise.resolve();

  async function open(names: readonly string[]): Promise<readonly SpaceIndex[]> {
    const rows = await sql<SpaceRow>`
      SELECT id, name, next_no, entries FROM search_space
       WHERE name IN (SELECT jsonb_array_elements_text(${sql.json(names)})) AND entries > 0`;
    const spaces = rows.map((row) => ({ row, space: known.get(row.id) ?? loadedSpace(row.name) }));
    for (const { row, space } of spaces) known.set(row.id, space);
    const stale = spaces.filter(({ row, space }) => space.nextNo !== row.next_no || hasOthers(row, space));
    await readNew(stale.map(({ row }) => row));
    await dropGone(stale.filter(({ row, space }) => hasOthers(row, space)).map(({ row }) => row));
    return spaces.map(({ space }) => space);
  }

  async function readNew(rows: readonly SpaceRow[]): Promise<void> {
    if (rows.length === 0) return;
    const from = rows.map(({ id }) => ({ id, first: known.get(id)?.nextNo ?? 0 }));
    const added = await sql<{ space_id: number; key: string; no: number; terms: Buffer }>`
      SELECT e.space_id, e.key, e.no, e.terms
        FROM jsonb_to_recordset(${sql.json(from)}) AS s (id integer, first integer)
        JOIN search_entry e ON e.space_id = s.id AND e.no >= s.first`;
    for (const { space_id, key, no, terms } of added)
      known.get(space_id)?.upsert({ key, no, terms: readForwardIndex(terms) });
    for (const { id, next_no } of rows) {
      const space = known.get(id);
      if (space) space.nextNo = next_no;
    }
  }

  async function dropGone(rows: readonly SpaceRow[]): Promise<void> {
    if (rows.length === 0) return;
    const kept = await sql<{ space_id: number; keys: readonly string[] }>`
      SELECT space_id, array_agg(key) AS keys FROM search_entry
       WHERE space_id IN (SELECT jsonb_array_elements_text(${sql.json(rows.map(({ id }) => id))})::integer)
       GROUP BY space_id`;
    const keysOf = new Map(kept.map(({ space_id, keys }) => [space_id, new Set(keys)]));
    for (const { id } of rows) {
      const space = known.get(id);
      const keys = keysOf.get(id);
      for (const key of space?.entries.keys() ?? []) if (!keys?.has(key)) space?.remove(key);
    }
  }

  return {
    open(names) {
      const opened = last.then(() => open(names));
      last = opened.catch(() => undefined);
      return opened;
    },
  };
}

/** The numbers tell of what was added and replaced, the count of what was removed. */
function hasOthers(row: SpaceRow, space: SpaceIndex): boolean {
  return space.entries.size !== row.entries;
}

interface LoadedSpace extends SpaceIndex {
  /** All with lower numbers have been read. */
  nextNo: number;
  /** The newer of two with the same key stays. */
  upsert(entry: Omit<IndexedEntry, 'space'>): void;
  remove(key: string): void;
}

function loadedSpace(name: string): LoadedSpace {
  const entries = new Map<string, IndexedEntry>();
  const lists = new Map<number, IndexedEntry[]>();
  const remove = (key: string): void => {
    const entry = entries.get(key);
    if (!entry) return;
    entries.delete(key);
    for (const hash of entry.terms.posted()) {
      const list = lists.get(hash) ?? [];
      list.splice(list.indexOf(entry), 1);
      if (list.length === 0) lists.delete(hash);
    }
  };
  return {
    name,
    nextNo: 0,
    entries,
    having: (hash) => lists.get(hash) ?? [],
    upsert(given) {
      if ((entries.get(given.key)?.no ?? -1) >= given.no) return;
      remove(given.key);
      const entry = { ...given, space: name };
      entries.set(entry.key, entry);
      for (const hash of entry.terms.posted()) {
        const list = lists.get(hash);
        if (list) list.push(entry);
        else lists.set(hash, [entry]);
      }
    },
    remove,
  };
}
