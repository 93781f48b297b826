import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../../src/infra/db/client.ts';
import { stem } from '../../../src/search/text/stem.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';

let scratch: ScratchDatabase;
let db: Database;
beforeAll(async () => {
  scratch = await scratchDatabase();
  db = openDatabase(scratch.url, { max: 1 });
  // PostgreSQL's own dictionary leaves stop words out; this one is Snowball alone.
  await db.sql`CREATE TEXT SEARCH DICTIONARY snowball_only (TEMPLATE = snowball, LANGUAGE = english)`;
});
afterAll(async () => {
  await db.close();
  await scratch.drop();
});

const endings =
  's es ed ing ly edly ingly er ers ation ations ational tional ization izations izer ize ized izing ness fulness ful fully ousness ous ously iveness ive ively ivity ability able ably al ally ality alism ical icate ative ment ments ement ance ancy ence ency ent ently ant ion ist ism y ies ied logy less'.split(
    ' ',
  );

test('stems words as Snowball does, of documentation and of every ending', async () => {
  const root = join(import.meta.dirname, '../../..');
  const texts = await Promise.all(
    ['README.md', 'docs/architecture.md', 'CONTRIBUTING.md', 'bench/README.md'].map((file) =>
      readFile(join(root, file), 'utf8'),
    ),
  );
  const plain = new Set(
    texts
      .join(' ')
      .toLowerCase()
      .match(/[a-z]+/g),
  );
  const built = [...plain]
    .filter((word) => word.length > 3)
    .flatMap((word) => endings.map((end) => word + end));
  const words = [...new Set([...plain, ...built])];
  const rows = await db.sql<{ word: string; stem: string }>`
    SELECT word, (ts_lexize('snowball_only', word))[1] AS stem
      FROM unnest(${db.sql.array(words)}::text[]) AS word`;
  expect(rows.length).toBeGreaterThan(20_000);
  const different = rows
    .filter((row) => stem(row.word) !== row.stem)
    .map((row) => `${row.word}: ${stem(row.word)}, not ${row.stem}`);
  expect(different).toEqual([]);
});
