import type { Sql, Tx } from '../../core/sql.ts';
import type { KeptItem, SeenPart } from './screened-item.ts';

/** How the looks at a target went. ISO 8601, by the database's clock. */
export interface LookRow {
  readonly target: string;
  /** The system that its name stood for; null: nothing of it was read yet. */
  readonly system: string | null;
  /** When the first and the last look began that read something of this system. */
  readonly first_at: string | null;
  readonly looked_at: string | null;
  /** When the last one was over. */
  readonly ended_at: string | null;
  readonly tried_at: string;
  /** Since when, and why, nothing is read; null: the last try read something. */
  readonly failing_since: string | null;
  readonly why: string | null;
  readonly unread: readonly UnreadPart[];
}

export interface UnreadPart {
  readonly part: string;
  readonly why: string;
}

/** What one look read. */
export interface SeenSystem {
  readonly system: string;
  readonly beganAt: string;
  readonly endedAt: string;
  readonly parts: readonly SeenPart[];
  readonly unread: readonly UnreadPart[];
}

/** A part as the last look that read it found it, where it found it otherwise than this one. */
export interface KnownPart {
  readonly part: string;
  readonly items: readonly KeptItem[];
  readonly readAt: string;
}

export async function lookRows(db: Sql | Tx, targets: readonly string[]): Promise<readonly LookRow[]> {
  return db<LookRow>`SELECT * FROM change_look WHERE target = ANY (${db.array(targets)}::text[]) ORDER BY target`;
}

/** The row of a target, made where there is none; nobody else writes of it until the transaction ends. */
export async function lockLook(tx: Tx, target: string, beganAt: string): Promise<LookRow> {
  await tx`INSERT INTO change_look (target, tried_at) VALUES (${target}, ${beganAt}) ON CONFLICT DO NOTHING`;
  const [row] = await tx<LookRow>`SELECT * FROM change_look WHERE target = ${target} FOR UPDATE`;
  if (!row) throw new Error(`the looks at ${target} were deleted meanwhile`);
  return row;
}

/** Of these parts those that were otherwise when they were last read. */
export async function otherParts(
  tx: Tx,
  target: string,
  parts: readonly SeenPart[],
): Promise<readonly KnownPart[]> {
  return tx<KnownPart>`
    SELECT known.part, known.items, known.read_at AS "readAt"
      FROM unnest(${tx.array(parts.map(({ part }) => part))}::text[],
                  ${tx.array(parts.map(({ digest }) => digest))}::text[]) AS seen (part, digest)
      JOIN change_part known ON known.target = ${target} AND known.part = seen.part AND known.digest <> seen.digest`;
}

/** What was known of another system that had this name says nothing of this one. */
export async function forgetParts(tx: Tx, target: string): Promise<void> {
  await tx`DELETE FROM change_part WHERE target = ${target}`;
}

export async function saveLook(
  tx: Tx,
  { target, system, first_at }: LookRow,
  seen: SeenSystem,
): Promise<void> {
  const firstAt = system === seen.system ? (first_at ?? seen.beganAt) : seen.beganAt;
  await tx`
    UPDATE change_look SET system = ${seen.system}, first_at = ${firstAt}, looked_at = ${seen.beganAt}, ended_at = ${seen.endedAt},
           tried_at = ${seen.beganAt}, failing_since = NULL, why = NULL, unread = ${tx.json(seen.unread)}
     WHERE target = ${target}`;
  for (const { part, digest, items } of seen.parts) {
    const same = await tx`
      UPDATE change_part SET read_at = ${seen.beganAt} WHERE target = ${target} AND part = ${part} AND digest = ${digest} RETURNING part`;
    if (same.length > 0) continue;
    const kept = tx.json(items.map(({ since: _since, by: _by, ...item }) => item));
    await tx`
      INSERT INTO change_part (target, part, digest, items, read_at) VALUES (${target}, ${part}, ${digest}, ${kept}, ${seen.beganAt})
      ON CONFLICT (target, part) DO UPDATE SET digest = EXCLUDED.digest, items = EXCLUDED.items, read_at = EXCLUDED.read_at`;
  }
}

/** The last look that read something stays as it is; one that was tried later is heard instead. */
export async function saveFailure(sql: Sql, target: string, beganAt: string, why: string): Promise<void> {
  await sql`
    INSERT INTO change_look AS known (target, tried_at, failing_since, why) VALUES (${target}, ${beganAt}, ${beganAt}, ${why})
    ON CONFLICT (target) DO UPDATE SET tried_at = EXCLUDED.tried_at, why = EXCLUDED.why,
           failing_since = coalesce(known.failing_since, EXCLUDED.failing_since)
     WHERE known.tried_at <= EXCLUDED.tried_at`;
}

/** Forgets targets that nobody has tried to look at for so many days. */
export async function deleteOldLooks(sql: Sql, days: number): Promise<void> {
  await sql`DELETE FROM change_look WHERE tried_at < statement_timestamp() - ${days} * interval '1 day'`;
}
