import { existsSync, readFileSync } from 'node:fs';
import postgres, { type Sql } from 'postgres';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import {
  parsePrismaSchema,
  plainDefault,
  type Schema,
  type SchemaTable,
} from '../../../support/prisma-schema.ts';

const schemaFile = new URL('../../../../prisma/schema.prisma', import.meta.url);

let database: ScratchDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await scratchDatabase({ migrate: true });
  sql = postgres(database.url, { max: 1, onnotice: () => undefined });
});
afterAll(async () => {
  await sql.end({ timeout: 1 });
  await database.drop();
});

/** The tables of the public schema as the database has them, apart from the bookkeeping of migrations. */
async function readDatabase(): Promise<Schema> {
  const columns = await sql<
    { table: string; column: string; type: string; nullable: boolean; fallback: string | null }[]
  >`
    SELECT c.relname AS table, a.attname AS column, format_type(a.atttypid, a.atttypmod) AS type,
           NOT a.attnotnull AS nullable, CASE WHEN a.attidentity <> '' THEN 'autoincrement()' ELSE pg_get_expr(d.adbin, d.adrelid) END AS fallback
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> '_prisma_migrations'
    ORDER BY c.relname, a.attnum`;
  // Partial and expression indexes are beyond Prisma's language: they live in the migrations alone.
  const keys = await sql<{ table: string; primary: boolean; columns: string[] }[]>`
    SELECT c.relname AS table, i.indisprimary AS primary,
           array(SELECT a.attname::text FROM unnest(i.indkey) WITH ORDINALITY AS k (attnum, position)
                 JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum ORDER BY k.position) AS columns
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
    WHERE c.relnamespace = 'public'::regnamespace AND i.indisunique AND i.indpred IS NULL AND i.indexprs IS NULL`;
  const indexes = await sql<{ table: string; name: string; columns: string }[]>`
    SELECT t.relname AS table, c.relname AS name,
           (SELECT string_agg(pg_get_indexdef(c.oid, n, false) || CASE WHEN i.indoption[n - 1] & 1 = 1 THEN ' desc' ELSE '' END,
                              ', ' ORDER BY n) FROM generate_series(1, i.indnkeyatts) n) AS columns
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
    WHERE c.relnamespace = 'public'::regnamespace AND NOT i.indisunique AND i.indpred IS NULL AND i.indexprs IS NULL`;
  const relations = await sql<
    { table: string; name: string; columns: string[]; to: string; onDelete: string }[]
  >`
    SELECT t.relname AS table, k.conname AS name, o.relname AS to, k.confdeltype AS "onDelete",
           array(SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY AS c (attnum, position)
                 JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = c.attnum ORDER BY c.position) AS columns
    FROM pg_constraint k JOIN pg_class t ON t.oid = k.conrelid JOIN pg_class o ON o.oid = k.confrelid
    WHERE k.contype = 'f' AND k.connamespace = 'public'::regnamespace AND k.conparentid = 0`;
  const tables: Record<string, SchemaTable> = {};
  for (const { table } of columns) {
    const own = keys.filter((key) => key.table === table);
    tables[table] = {
      columns: Object.fromEntries(
        columns
          .filter((row) => row.table === table)
          .map(({ column, type, nullable, fallback }) => [
            column,
            { type, nullable, fallback: fallback === null ? null : plainDefault(fallback) },
          ]),
      ),
      primaryKey: own.find((key) => key.primary)?.columns ?? [],
      unique: own
        .filter((key) => !key.primary)
        .map((key) => key.columns.join(','))
        .toSorted(),
      indexes: indexes
        .filter((index) => index.table === table)
        .map(({ name, columns }) => `${name}: ${columns}`)
        .toSorted(),
      relations: Object.fromEntries(
        relations
          .filter((relation) => relation.table === table)
          .map(({ name, columns, to, onDelete }) => [name, { columns, to, onDelete }]),
      ),
    };
  }
  return tables;
}

test('prisma/schema.prisma describes exactly the tables that the migrations make, with defaults, indexes and what a deletion does [S-mutations]', async () => {
  const described = parsePrismaSchema(readFileSync(schemaFile, 'utf8'));
  const real = await readDatabase();
  expect(Object.keys(described).toSorted()).toEqual(Object.keys(real).toSorted());
  // Table by table: a difference names its table.
  for (const [table, shape] of Object.entries(real))
    expect({ [table]: described[table] }).toEqual({ [table]: shape });
});

test('the address of the database stands where Prisma 7 looks for it, and not in the schema, which it refuses then [S-prisma]', async () => {
  expect(readFileSync(schemaFile, 'utf8')).not.toMatch(/^\s*(?:url|directUrl|shadowDatabaseUrl)\s*=/m);
  vi.stubEnv('DATABASE_URL', database.url);
  const { default: config } = await import('../../../../prisma.config.ts');
  vi.unstubAllEnvs();
  expect(config.datasource).toEqual({ url: database.url });
  for (const path of [config.schema, config.migrations.path])
    expect(existsSync(new URL(`../../../../${path}`, import.meta.url)), path).toBe(true);
});

describe('the reader of the schema', () => {
  test('understands maps, lists, native types, composite keys and relations', () => {
    const schema = parsePrismaSchema(`
      datasource db {
      }
      enum Mood {
        good
        @@map("mood")
      }
      model ToolCall {
        id        String    @id // the key
        incidentId String   @map("incident_id")
        incident  Incident  @relation(fields: [incidentId], references: [id])
        at        DateTime? @db.Timestamptz(6) @unique
        tags      String[]
        size      BigInt
        mood      Mood
        @@unique([incidentId, size])
        @@map("tool_call")
      }
      model Incident {
        a Int
        b Float
        calls ToolCall[]
        @@id([a, b])
      }`);
    expect(schema).toMatchObject({
      tool_call: {
        columns: {
          id: { type: 'text', nullable: false },
          incident_id: { type: 'text', nullable: false },
          at: { type: 'timestamp(6) with time zone', nullable: true },
          tags: { type: 'text[]', nullable: false },
          size: { type: 'bigint', nullable: false },
          mood: { type: 'mood', nullable: false },
        },
        primaryKey: ['id'],
        unique: ['at', 'incident_id,size'],
      },
      Incident: {
        columns: {
          a: { type: 'integer', nullable: false },
          b: { type: 'double precision', nullable: false },
        },
        primaryKey: ['a', 'b'],
        unique: [],
      },
    });
  });

  test('fails on what it does not understand instead of leaving it out', () => {
    expect(() => parsePrismaSchema('model A {\n  x Strange\n}')).toThrow('type not understood');
    expect(() => parsePrismaSchema('model A {\n  !!\n}')).toThrow('not understood');
  });
});
