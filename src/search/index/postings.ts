import type { Tx } from '../../core/sql.ts';
import { readForward } from './forward.ts';
import { titleHash } from './term-hash.ts';

/** Numbers a row of `search_posting`. */
export const BLOCK = 512;
/** 4 bytes entry number, 1 byte weight (of 255). */
export const POSTING_BYTES = 5;

export interface Posting {
  readonly hash: number;
  readonly no: number;
  readonly weight: number;
}

/** What the entry is found by. */
export function postingsOf(no: number, terms: Buffer): readonly Posting[] {
  const forward = readForward(terms);
  return forward.posted().flatMap(({ hash, weight, inTitle }) => {
    const posting = { hash, no, weight };
    return inTitle ? [posting, { ...posting, hash: titleHash(hash) }] : [posting];
  });
}

/** Appends; the space must be locked, and no number may be posted twice. */
export async function insertPostings(tx: Tx, spaceId: number, postings: readonly Posting[]): Promise<void> {
  const lists = new Map<string, Posting[]>();
  for (const posting of postings) {
    const place = `${posting.hash} ${Math.floor(posting.no / BLOCK)}`;
    const list = lists.get(place);
    if (list) list.push(posting);
    else lists.set(place, [posting]);
  }
  const rows = [...lists.values()];
  const blocks = rows.map((list) => Math.floor((list[0]?.no ?? 0) / BLOCK));
  await tx`
    INSERT INTO search_posting AS there (space_id, term, block, list)
    SELECT ${spaceId}, term, block, decode(hex, 'hex')
      FROM unnest(${tx.array(rows.map((list) => list[0]?.hash ?? 0))}::int[], ${tx.array(blocks)}::int[],
                  ${tx.array(rows.map(encode))}::text[]) AS new (term, block, hex)
    ON CONFLICT (space_id, term, block) DO UPDATE SET list = there.list || EXCLUDED.list`;
}

function encode(list: readonly Posting[]): string {
  const bytes = Buffer.alloc(list.length * POSTING_BYTES);
  list.forEach(({ no, weight }, i) => {
    bytes.writeUInt32BE(no, i * POSTING_BYTES);
    bytes[i * POSTING_BYTES + 4] = weight;
  });
  return bytes.toString('hex');
}
