import type { Tx } from '../../core/sql.ts';
import type { Forward } from './forward.ts';
import { readForward } from './forward.ts';
import { POSTING_BYTES } from './postings.ts';

/** A space as it stands in the reading transaction. */
export interface OpenSpace {
  readonly id: number;
  readonly name: string;
  readonly nextNo: number;
  readonly entries: number;
}

export async function openSpaces(tx: Tx, names: readonly string[]): Promise<readonly OpenSpace[]> {
  const rows = await tx<{ id: number; name: string; next_no: number; entries: number }>`
    SELECT id, name, next_no, entries FROM search_space
     WHERE name = ANY(${tx.array(names)}::text[]) AND entries > 0`;
  return rows.map(({ id, name, next_no, entries }) => ({ id, name, nextNo: next_no, entries }));
}

/** Rows of a term that are read to count it: up to 20,480 entries exactly, beyond that by their density. */
const COUNTED_BLOCKS = 40;

/** How many entries have each term, by space; absent is none. */
export async function countTerms(
  tx: Tx,
  spaces: readonly OpenSpace[],
  hashes: readonly number[],
): Promise<readonly { readonly spaceId: number; readonly hash: number; readonly entries: number }[]> {
  if (hashes.length === 0 || spaces.length === 0) return [];
  const rows = await tx<{ space_id: number; term: number; bytes: number; blocks: number; last: number }>`
    SELECT space_id, term, seen.bytes, seen.blocks, seen.last
      FROM unnest(${tx.array(spaces.map(({ id }) => id))}::int[]) AS s (space_id)
     CROSS JOIN unnest(${tx.array(hashes)}::int[]) AS t (term)
     CROSS JOIN LATERAL (
       SELECT sum(octet_length(list)) AS bytes, count(*) AS blocks, max(block) AS last
         FROM (SELECT list, block FROM search_posting p WHERE p.space_id = s.space_id AND p.term = t.term
                ORDER BY block LIMIT ${COUNTED_BLOCKS}) first_blocks) AS seen
     WHERE seen.blocks > 0`;
  const blocksOf = new Map(spaces.map(({ id, nextNo }) => [id, Math.ceil(nextNo / 512)]));
  return rows.map(({ space_id, term, bytes, blocks, last }) => {
    const counted = bytes / POSTING_BYTES;
    const all = blocksOf.get(space_id) ?? 1;
    const whole = blocks < COUNTED_BLOCKS ? counted : (counted * all) / (last + 1);
    return { spaceId: space_id, hash: term, entries: whole };
  });
}

/** All postings of the given terms: number and weight (of 255), packed as they are stored. */
export async function readPostings(
  tx: Tx,
  wanted: readonly { readonly spaceId: number; readonly hash: number }[],
): Promise<readonly { readonly spaceId: number; readonly hash: number; readonly list: Buffer }[]> {
  if (wanted.length === 0) return [];
  const rows = await tx<{ space_id: number; term: number; list: Buffer }>`
    SELECT w.space_id, w.term, all_blocks.list
      FROM unnest(${tx.array(wanted.map(({ spaceId }) => spaceId))}::int[],
                  ${tx.array(wanted.map(({ hash }) => hash))}::int[]) AS w (space_id, term)
     CROSS JOIN LATERAL (SELECT string_agg(list, ''::bytea) AS list FROM search_posting p
                          WHERE p.space_id = w.space_id AND p.term = w.term) AS all_blocks
     WHERE all_blocks.list IS NOT NULL`;
  return rows.map(({ space_id, term, list }) => ({ spaceId: space_id, hash: term, list }));
}

export interface Candidate {
  readonly spaceId: number;
  readonly no: number;
  readonly key: string;
  readonly title: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly updatedAt: string;
  readonly forward: Forward;
}

interface CandidateRow extends Readonly<Record<string, unknown>> {
  readonly space_id: number;
  readonly no: number;
  readonly key: string;
  readonly title: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly updated_at: string;
  readonly terms: Buffer;
}

/** Those of the numbers that are still entries. */
export async function readEntries(
  tx: Tx,
  wanted: readonly { readonly spaceId: number; readonly no: number }[],
): Promise<readonly Candidate[]> {
  if (wanted.length === 0) return [];
  const rows = await tx<CandidateRow>`
    SELECT e.space_id, e.no, e.key, e.title, e.metadata, e.updated_at, e.terms
      FROM unnest(${tx.array(wanted.map(({ spaceId }) => spaceId))}::int[],
                  ${tx.array(wanted.map(({ no }) => no))}::int[]) AS w (space_id, no)
      JOIN search_entry e ON e.space_id = w.space_id AND e.no = w.no`;
  return rows.map(toCandidate);
}

export async function readEntriesByKey(
  tx: Tx,
  wanted: readonly { readonly spaceId: number; readonly key: string }[],
): Promise<readonly Candidate[]> {
  if (wanted.length === 0) return [];
  const rows = await tx<CandidateRow>`
    SELECT e.space_id, e.no, e.key, e.title, e.metadata, e.updated_at, e.terms
      FROM unnest(${tx.array(wanted.map(({ spaceId }) => spaceId))}::int[],
                  ${tx.array(wanted.map(({ key }) => key))}::text[]) AS w (space_id, key)
      JOIN search_entry e ON e.space_id = w.space_id AND e.key = w.key`;
  return rows.map(toCandidate);
}

function toCandidate({ space_id, updated_at, terms, ...rest }: CandidateRow): Candidate {
  return { ...rest, spaceId: space_id, updatedAt: updated_at, forward: readForward(terms) };
}
