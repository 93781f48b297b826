import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

test('every table of the schema has one owner in docs/architecture.md', () => {
  const tables = [...read('prisma/schema.prisma').matchAll(/@@map\("(\w+)"\)/g)].map(([, table]) => table);
  const rows = [...read('docs/architecture.md').matchAll(/^\| `src\/\w+` \| ([^(\n]*)/gm)];
  const owned = rows.flatMap(([, cell = '']) => [...cell.matchAll(/`(\w+)`/g)].map(([, table]) => table));
  expect(owned).toHaveLength(tables.length);
  expect(new Set(owned)).toEqual(new Set(tables));
});
