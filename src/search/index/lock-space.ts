import type { Tx } from '../../core/sql.ts';

/** Makes the space when it is new, and holds off other writers of it until the transaction ends. */
export async function lockSpace(
  tx: Tx,
  name: string,
): Promise<{ readonly id: number; readonly nextNo: number; readonly entries: number }> {
  const locked = () => tx<{ id: number; next_no: number; entries: number }>`
    SELECT id, next_no, entries FROM search_space WHERE name = ${name} FOR UPDATE`;
  let [row] = await locked();
  if (!row) {
    await tx`INSERT INTO search_space (name) VALUES (${name}) ON CONFLICT (name) DO NOTHING`;
    [row] = await locked();
  }
  if (!row) throw new Error(`the space ${name} was removed while it was written`);
  return { id: row.id, nextNo: row.next_no, entries: row.entries };
}
