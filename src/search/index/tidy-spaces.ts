import type { Sql, Tx } from '../../core/sql.ts';
import { lockSpace } from './lock-space.ts';
import { BLOCK, insertPostings, postingsOf } from './postings.ts';

/** Of a block's numbers; below it the lists cost little more than they should. */
const DEAD_SHARE = 0.5;

/**
 * Blocks of numbers of which most are gone: what is left gets new numbers, and their lists are removed. One block a
 * transaction, so that writers wait for some tens of milliseconds at most.
 */
export async function tidySpaces(sql: Sql): Promise<number> {
  const spaces = await sql<{ name: string }>`
    SELECT name FROM search_space WHERE next_no - entries > ${BLOCK * DEAD_SHARE} ORDER BY id`;
  let moved = 0;
  for (const { name } of spaces) {
    for (const block of await sparseBlocks(sql, name))
      moved += await sql.begin((tx) => moveBlock(tx, name, block));
  }
  return moved;
}

/** Blocks that still have lists and few entries; never the one that is being filled. */
async function sparseBlocks(sql: Sql, name: string): Promise<readonly number[]> {
  const rows = await sql<{ block: number }>`
    SELECT listed.block
      FROM search_space s
     CROSS JOIN LATERAL (SELECT DISTINCT block FROM search_posting WHERE space_id = s.id) listed
      LEFT JOIN LATERAL (SELECT count(*) AS living FROM search_entry e WHERE e.space_id = s.id
                            AND e.no >= listed.block * ${BLOCK} AND e.no < (listed.block + 1) * ${BLOCK}) e ON true
     WHERE s.name = ${name} AND (listed.block + 1) * ${BLOCK} <= s.next_no
       AND e.living < ${BLOCK * (1 - DEAD_SHARE)}
     ORDER BY listed.block`;
  return rows.map(({ block }) => block);
}

async function moveBlock(tx: Tx, name: string, block: number): Promise<number> {
  const space = await lockSpace(tx, name);
  const entries = await tx<{ no: number; terms: Buffer }>`
    SELECT no, terms FROM search_entry
     WHERE space_id = ${space.id} AND no >= ${block * BLOCK} AND no < ${(block + 1) * BLOCK} ORDER BY no`;
  const renumbered = entries.map(({ no, terms }, n) => ({ from: no, to: space.nextNo + n, terms }));
  await tx`
    UPDATE search_entry e SET no = moved.target
      FROM unnest(${tx.array(renumbered.map(({ from }) => from))}::int[],
                  ${tx.array(renumbered.map(({ to }) => to))}::int[]) AS moved (source, target)
     WHERE e.space_id = ${space.id} AND e.no = moved.source`;
  await tx`DELETE FROM search_posting WHERE space_id = ${space.id} AND block = ${block}`;
  await insertPostings(
    tx,
    space.id,
    renumbered.flatMap(({ to, terms }) => postingsOf(to, terms)),
  );
  await tx`UPDATE search_space SET next_no = ${space.nextNo + renumbered.length} WHERE id = ${space.id}`;
  return renumbered.length;
}
