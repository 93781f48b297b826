import postgres from 'postgres';
import { afterAll, expect, test } from 'vitest';
import { scratchChroma } from '../../../support/chroma.ts';
import { scratchDatabase } from '../../../support/postgres.ts';

const cleanUp: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const step of cleanUp) await step();
});

test('two scratch databases do not see each other, and a migrated one has the tables of prisma/migrations', async () => {
  const [empty, migrated] = await Promise.all([scratchDatabase(), scratchDatabase({ migrate: true })]);
  cleanUp.push(empty.drop, migrated.drop);
  const tables = async (url: string): Promise<number> => {
    const sql = postgres(url, { max: 1 });
    const rows = await sql`SELECT 1 FROM pg_tables WHERE schemaname = 'public'`;
    await sql.end();
    return rows.length;
  };
  expect(await tables(empty.url)).toBe(0);
  expect(await tables(migrated.url)).toBeGreaterThan(1);
});

test('the scratch Chroma server answers', async () => {
  const { host } = await scratchChroma();
  const answer = await fetch(`${host}/api/v2/version`);
  expect(answer.status).toBe(200);
});
