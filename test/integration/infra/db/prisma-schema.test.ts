import { readFileSync } from 'node:fs';
import postgres, { type Sql } from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ScratchDatabase, scratchDatabase } from '../../../support/postgres.ts';
import { parsePrismaSchema, type Schema, type SchemaTable } from '../../../support/prisma-schema.ts';

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
  const columns = await sql<{ table: string; column: string; type: string; nullable: boolean }[]>`
    SELECT c.relname AS table, a.attname AS column, format_type(a.atttypid, a.atttypmod) AS type,
           NOT a.attnotnull AS nullable
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> '_prisma_migrations'
    ORDER BY c.relname, a.attnum`;
  // Partial and expression indexes are beyond Prisma's language: they live in the migrations alone.
  const keys = await sql<{ table: string; primary: boolean; columns: string[] }[]>`
    SELECT c.relname AS table, i.indisprimary AS primary,
           array(SELECT a.attname::text FROM unnest(i.indkey) WITH ORDINALITY AS k (attnum, position)
                 JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum ORDER BY k.position) AS columns
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
    WHERE c.relnamespace = 'public'::regnamespace AND i.indisunique AND i.indpred IS NULL AND i.indexprs IS NULL`;
  const tables: Record<string, SchemaTable> = {};
  for (const { table } of columns) {
    const own = keys.filter((key) => key.table === table);
    tables[table] = {
      columns: Object.fromEntries(
        columns
          .filter((row) => row.table === table)
          .map(({ column, type, nullable }) => [column, { type, nullable }]),
      ),
      primaryKey: own.find((key) => key.primary)?.columns ?? [],
      unique: own
        .filter((key) => !key.primary)
        .map((key) => key.columns.join(','))
        .toSorted(),
    };
  }
  return tables;
}

test('prisma/schema.prisma describes exactly the tables that the migrations make', async () => {
  const described = parsePrismaSchema(readFileSync(schemaFile, 'utf8'));
  const real = await readDatabase();
  expect(Object.keys(described).toSorted()).toEqual(Object.keys(real).toSorted());
  // Table by table: a difference names its table.
  for (const [table, shape] of Object.entries(real))
    expect({ [table]: described[table] }).toEqual({ [table]: shape });
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
    expect(schema).toEqual({
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
