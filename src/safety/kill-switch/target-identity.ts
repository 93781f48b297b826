import type { Sql, Tx } from '../../core/sql.ts';
import type { Target } from '../../core/target.ts';

/** Puts on record which system a name stands for, as it was just read. */
export async function recordIdentity(
  sql: Sql,
  { name, domain }: Pick<Target, 'name' | 'domain'>,
  identity: string,
): Promise<void> {
  await sql`
    INSERT INTO target_identity AS t (target, identity, domain) VALUES (${name}, ${identity}, ${domain})
    ON CONFLICT (target) DO UPDATE SET identity = excluded.identity, domain = excluded.domain, seen_at = clock_timestamp()
     WHERE t.identity <> excluded.identity OR t.domain <> excluded.domain`;
}

/** These names, and all others on record of the systems they stand for. */
export async function namesOfSame(sql: Sql | Tx, names: readonly string[]): Promise<readonly string[]> {
  const rows = await sql<{ target: string }>`
    SELECT o.target FROM target_identity t JOIN target_identity o USING (identity)
     WHERE t.target = ANY (${sql.array([...names])}::text[])`;
  return [...new Set([...names, ...rows.map(({ target }) => target)])];
}

/** Scopes of the switch, and those of all other names on record of the same systems. */
export async function scopesOfSame(sql: Sql | Tx, scopes: readonly string[]): Promise<readonly string[]> {
  const rows = await sql<{ target: string; domain: string }>`
    SELECT o.target, o.domain FROM target_identity t JOIN target_identity o USING (identity)
     WHERE 'target:' || t.target = ANY (${sql.array([...scopes])}::text[])`;
  const others = rows.flatMap(({ target, domain }) => [`target:${target}`, `domain:${domain}`]);
  return [...new Set([...scopes, ...others])];
}

/** Whether it is on record which system a name stands for. */
export async function isIdentityKnown(sql: Sql, name: string): Promise<boolean> {
  const rows = await sql`SELECT FROM target_identity WHERE target = ${name}`;
  return rows.length > 0;
}
