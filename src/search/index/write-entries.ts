import type { Sql, Tx } from '../../core/sql.ts';
import { sha256 } from '../../safety/sha256.ts';
import { type Entry, type Space, spaceName } from '../types.ts';
import { encodeForward } from './forward.ts';
import { lockSpace } from './lock-space.ts';
import { insertPostings, postingsOf } from './postings.ts';
import { ANALYSIS_VERSION, weighEntry } from './weigh-entry.ts';

/** Entries a transaction: about 20 ms, for which other writers of the space wait. */
const BATCH = 50;

export interface Written {
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
}

/** Writes or replaces by key; what is there already is left alone. Findable when it returns, for every process. */
export async function writeEntries(sql: Sql, space: Space, entries: readonly Entry[]): Promise<Written> {
  // The last of equal keys wins, as if they had come one after the other.
  const unique = [...new Map(entries.map((entry) => [entry.key, entry])).values()].map(storable);
  const total = { added: 0, changed: 0, unchanged: 0 };
  for (let i = 0; i < unique.length; i += BATCH) {
    const some = unique.slice(i, i + BATCH).map((entry) => ({ entry, hash: contentHash(entry) }));
    const written = await sql.begin((tx) => writeBatch(tx, spaceName(space), some));
    for (const key of ['added', 'changed', 'unchanged'] as const) total[key] += written[key];
  }
  return total;
}

/** Unknown keys are passed over; returns how many were there. */
export async function removeEntries(sql: Sql, space: Space, keys: readonly string[]): Promise<number> {
  return keys.length === 0 ? 0 : sql.begin((tx) => removeEntriesIn(tx, space, keys));
}

/** The same in a transaction of the caller's: what is forgotten there is not found afterwards. */
export async function removeEntriesIn(tx: Tx, space: Space, keys: readonly string[]): Promise<number> {
  const { id } = await lockSpace(tx, spaceName(space));
  const gone = await tx<{ key: string }>`
    DELETE FROM search_entry WHERE space_id = ${id} AND key = ANY(${tx.array(keys)}::text[]) RETURNING key`;
  await tx`UPDATE search_space SET entries = entries - ${gone.length} WHERE id = ${id}`;
  await tx`INSERT INTO search_gone (space_id, key)
           SELECT ${id}, unnest(${tx.array(gone.map(({ key }) => key))}::text[])
           ON CONFLICT (space_id, key) DO UPDATE SET at = clock_timestamp()`;
  return gone.length;
}

export async function listEntries(
  sql: Sql,
  space: Space,
): Promise<readonly { readonly key: string; readonly metadata: Readonly<Record<string, unknown>> }[]> {
  return sql<{ key: string; metadata: Readonly<Record<string, unknown>> }>`
    SELECT e.key, e.metadata FROM search_space s JOIN search_entry e ON e.space_id = s.id
     WHERE s.name = ${spaceName(space)} ORDER BY e.key`;
}

interface Hashed {
  readonly entry: Required<Entry>;
  readonly hash: string;
}

async function writeBatch(tx: Tx, name: string, batch: readonly Hashed[]): Promise<Written> {
  const space = await lockSpace(tx, name);
  const keys = batch.map(({ entry }) => entry.key);
  const there = new Map(
    (
      await tx<{ key: string; content_hash: string }>`
        SELECT key, content_hash FROM search_entry
         WHERE space_id = ${space.id} AND key = ANY(${tx.array(keys)}::text[])`
    ).map((row) => [row.key, row.content_hash]),
  );
  const differing = batch.filter(({ entry, hash }) => there.get(entry.key) !== hash);
  const replaced = differing.map(({ entry }) => entry.key).filter((key) => there.has(key));
  const counts = {
    added: differing.length - replaced.length,
    changed: replaced.length,
    unchanged: batch.length - differing.length,
  };
  if (differing.length === 0) return counts;
  await tx`DELETE FROM search_entry WHERE space_id = ${space.id} AND key = ANY(${tx.array(replaced)}::text[])`;
  const rows = differing.map(({ entry, hash }, n) => ({
    ...entry,
    hash,
    no: space.nextNo + n,
    terms: encodeForward(weighEntry(entry.title, entry.text)),
  }));
  const column = (of: (row: (typeof rows)[number]) => unknown) => tx.array(rows.map(of));
  await tx`
    INSERT INTO search_entry (space_id, no, key, title, body, metadata, content_hash, terms)
    SELECT ${space.id}, no, key, title, body, metadata::jsonb, hash, decode(hex, 'hex')
      FROM unnest(${column(({ no }) => no)}::int[], ${column(({ key }) => key)}::text[],
                  ${column(({ title }) => title)}::text[], ${column(({ text }) => text)}::text[],
                  ${column(({ metadata }) => JSON.stringify(metadata))}::text[],
                  ${column(({ hash }) => hash)}::text[], ${column(({ terms }) => terms.toString('hex'))}::text[])
        AS new (no, key, title, body, metadata, hash, hex)`;
  await insertPostings(
    tx,
    space.id,
    rows.flatMap(({ no, terms }) => postingsOf(no, terms)),
  );
  await tx`UPDATE search_space SET next_no = ${space.nextNo + rows.length}, entries = entries + ${counts.added} WHERE id = ${space.id}`;
  return counts;
}

/** PostgreSQL's text takes every character but NUL. */
function storable({ key, title, text, metadata }: Entry): Required<Entry> {
  const clean = (value: string) => value.replaceAll('\0', ' ');
  return { key: clean(key), title: clean(title), text: clean(text), metadata: metadata ?? {} };
}

function contentHash({ title, text, metadata }: Required<Entry>): string {
  const content = JSON.stringify([ANALYSIS_VERSION, title, text, metadata]);
  return sha256(content, 'base64url');
}
