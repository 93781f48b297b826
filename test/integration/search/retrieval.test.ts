import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createChromaStore } from '../../../src/infra/chroma/client.ts';
import { type Database, openDatabase } from '../../../src/infra/db/client.ts';
import { createEmbedder } from '../../../src/infra/embeddings/embedder.ts';
import type { Embedder, VectorStore } from '../../../src/search/ports.ts';
import { createRetrieval, type Retrieval } from '../../../src/search/retrieval.ts';
import type { Entry, Space } from '../../../src/search/types.ts';
import { scratchChroma } from '../../support/chroma.ts';
import { type ScratchDatabase, scratchDatabase } from '../../support/postgres.ts';
import { quiet } from '../../support/quiet.ts';

const postgres: Space = { kind: 'runbook', scope: 'postgres' };
const docker: Space = { kind: 'runbook', scope: 'docker' };
const entry = (key: string, title: string, text = ''): Entry => ({ key, title, text });

let scratch: ScratchDatabase;
let db: Database;
let chromaHost: string;
let embedder: Embedder;
beforeAll(async () => {
  [scratch, { host: chromaHost }] = await Promise.all([scratchDatabase({ migrate: true }), scratchChroma()]);
  db = openDatabase(scratch.url);
  embedder = createEmbedder({ log: quiet });
});
afterAll(async () => {
  await embedder.close();
  await db.close();
  await scratch.drop();
});
beforeEach(async () => {
  await db.sql`TRUNCATE search_space CASCADE`;
});

/** Collections of its own in the shared server. */
function ownVectors(host = chromaHost): VectorStore {
  const store = createChromaStore({ host, log: quiet });
  const run = randomUUID().slice(0, 8);
  return { collection: (name, fingerprint) => store.collection(`${run}-${name}`, fingerprint) };
}
const retrievalOf = (vectors = ownVectors(), sql = db.sql) =>
  createRetrieval({ sql, vectors, embedder, log: quiet });
/** By words alone: what these tests are about does not depend on meaning. */
const byWords = async (retrieval: Retrieval, text: string, spaces: readonly Space[] = [postgres]) =>
  (await retrieval.search({ text, spaces, meaningWithinMs: 0 })).hits.map(({ key }) => key);

const locks = entry('locks', 'Blocked sessions', 'A session holds a lock and others wait for it.');
const bloat = entry('bloat', 'Table bloat', 'Dead tuples pile up where autovacuum does not come by.');
const wal = entry('wal', 'PostgresWalFilling', 'The write-ahead log fills the disk.');

describe('what was written', () => {
  test('is found at once, best first, with why', async () => {
    const retrieval = retrievalOf();
    expect(await retrieval.put(postgres, [locks, bloat, wal])).toEqual({
      added: 3,
      changed: 0,
      unchanged: 0,
    });
    const { hits } = await retrieval.search({
      text: 'dead rows: autovacuum lags behind',
      spaces: [postgres],
      meaningWithinMs: 0,
      withText: true,
    });
    expect(hits[0]).toMatchObject({ key: 'bloat', title: 'Table bloat', text: bloat.text, space: postgres });
    expect(hits[0]?.shares.terms.map(({ term }) => term)).toContain('autovacuum');
  });

  test('is found by another process, also after it was replaced or removed there', async () => {
    const other = openDatabase(scratch.url);
    try {
      const [here, there] = [retrievalOf(), retrievalOf(ownVectors(), other.sql)];
      await there.put(postgres, [locks, wal]);
      // Asked before, so that whatever this process remembers is in play.
      expect(await byWords(here, 'lock')).toEqual(['locks']);
      expect(await byWords(here, 'zookeeper')).toEqual([]);
      await there.put(postgres, [entry('locks', 'Zookeeper', 'Elects.')]);
      expect(await byWords(here, 'zookeeper')).toEqual(['locks']);
      expect(await byWords(here, 'blocked sessions')).toEqual([]);
      expect(await there.remove(postgres, ['locks', 'never there'])).toBe(1);
      expect(await byWords(here, 'zookeeper')).toEqual([]);
    } finally {
      await other.close();
    }
  });

  test('again is left alone', async () => {
    const retrieval = retrievalOf();
    await retrieval.put(postgres, [locks, bloat]);
    expect(await retrieval.put(postgres, [locks, { ...bloat, text: 'Other.' }])).toEqual({
      added: 0,
      changed: 1,
      unchanged: 1,
    });
  });

  test('may hold anything', async () => {
    const retrieval = retrievalOf();
    const odd = entry('o\'dd"{},\\ key', 'N\0ul "quoted" {braces} \\', 'Ünïcode 日本 \\x00 {"a":[1,2]}');
    await retrieval.put(postgres, [odd, entry('empty', '')]);
    expect(await byWords(retrieval, 'quoted braces')).toEqual([odd.key]);
    expect(await byWords(retrieval, "'; DROP TABLE search_entry; --")).toEqual([]);
    expect(await byWords(retrieval, '')).toEqual([]);
    expect((await retrieval.list(postgres)).map(({ key }) => key).sort()).toEqual(['empty', odd.key].sort());
  });
});

test('only the spaces that are named are looked into', async () => {
  const retrieval = retrievalOf();
  const private_: Space = { kind: 'document', scope: 'user:U2' };
  await retrieval.put(postgres, [locks]);
  await retrieval.put(docker, [entry('container', 'Container holds a lock')]);
  await retrieval.put(private_, [entry('secret', 'My lock notes')]);
  expect(await byWords(retrieval, 'lock', [postgres])).toEqual(['locks']);
  expect((await byWords(retrieval, 'lock', [postgres, docker])).sort()).toEqual(['container', 'locks']);
  expect(await byWords(retrieval, 'lock', [{ kind: 'document', scope: 'user:U1' }])).toEqual([]);
  expect(await byWords(retrieval, 'lock', [])).toEqual([]);
});

describe('many writers', () => {
  test('lose nothing and leave one entry a key', async () => {
    const others = [1, 2, 3].map(() => openDatabase(scratch.url, { max: 3 }));
    try {
      const work = others.flatMap(({ sql }, n) => {
        const retrieval = retrievalOf(ownVectors(), sql);
        return Array.from({ length: 30 }, (_, i) =>
          retrieval.put(postgres, [
            // A third are written by all, under the same key.
            entry(
              i % 3 === 0 ? `shared-${i}` : `own-${n}-${i}`,
              `Fault number${i}`,
              'The common text of all.',
            ),
          ]),
        );
      });
      await Promise.all(work);
      const retrieval = retrievalOf();
      const keys = (await retrieval.list(postgres)).map(({ key }) => key);
      expect(keys).toHaveLength(10 + 3 * 20);
      for (const key of keys) {
        const number = /\d+$/.exec(key)?.[0];
        expect(await byWords(retrieval, `number${number}`)).toContain(key);
      }
      const [space] = await db.sql<{ entries: number }>`SELECT entries FROM search_space`;
      expect(space?.entries).toBe(keys.length);
    } finally {
      await Promise.all(others.map(({ close }) => close()));
    }
  });

  test('never keep a search from seeing an entry that is being replaced', async () => {
    const retrieval = retrievalOf();
    await retrieval.put(postgres, [locks]);
    let writing = true;
    const writer = (async () => {
      for (let n = 0; writing; n += 1) await retrieval.put(postgres, [{ ...locks, text: `Version ${n}.` }]);
    })();
    for (let i = 0; i < 50; i += 1) expect(await byWords(retrieval, 'blocked sessions')).toEqual(['locks']);
    writing = false;
    await writer;
  });
});

test('tidying removes the lists of what is gone and changes no answer', async () => {
  const retrieval = retrievalOf();
  const all = Array.from({ length: 700 }, (_, i) =>
    entry(`k${i}`, `Fault zq${i}`, `Text of zq${i} and others.`),
  );
  await retrieval.put(postgres, all);
  await retrieval.remove(
    postgres,
    all.slice(0, 450).map(({ key }) => key),
  );
  const postings = async () =>
    (await db.sql<{ n: number }>`SELECT sum(octet_length(list)) AS n FROM search_posting`)[0]?.n ?? 0;
  const before = await postings();
  // Of the first 512 numbers 62 are left.
  expect(await retrieval.tidy()).toBe(62);
  expect(await postings()).toBeLessThan(before / 2);
  expect(await byWords(retrieval, 'zq460')).toEqual(['k460']);
  expect(await byWords(retrieval, 'zq100')).toEqual([]);
  expect(await byWords(retrieval, 'zq650')).toEqual(['k650']);
  expect(await retrieval.tidy()).toBe(0);
  await retrieval.put(postgres, [entry('k460', 'Other qz')]);
  expect(await byWords(retrieval, 'zq460')).toEqual([]);
});

describe('meaning', () => {
  const embedAll = async (retrieval: Retrieval, ...spaces: Space[]) => {
    for (let rounds = 0; (await retrieval.embedPending(spaces)) > 0; rounds += 1)
      expect(rounds).toBeLessThan(20);
  };
  const found = (retrieval: Retrieval, text: string, spaces: readonly Space[] = [postgres]) =>
    retrieval.search({ text, spaces, meaningWithinMs: 10_000 });

  test('finds what shares no word, once it is embedded', async () => {
    const retrieval = retrievalOf();
    await retrieval.put(postgres, [entry('cat', 'Feline', 'A kitten purrs on the sofa.'), locks]);
    expect(await found(retrieval, 'my little cats')).toEqual({ hits: [], meaning: 'none' });
    await embedAll(retrieval, postgres);
    const { hits, meaning } = await found(retrieval, 'my little cats');
    expect(meaning).toBe('used');
    expect(hits[0]).toMatchObject({ key: 'cat', shares: { body: 0, title: 0 } });
    expect(hits[0]?.shares.meaning).toBeGreaterThan(0);
  });

  test('never reaches into another store, although documents share a collection', async () => {
    const retrieval = retrievalOf();
    const [mine, theirs] = ['user:U1', 'user:U2'].map((scope): Space => ({ kind: 'document', scope })) as [
      Space,
      Space,
    ];
    await retrieval.put(mine, [entry('same', 'Groceries', 'Apples.')]);
    await retrieval.put(theirs, [entry('same', 'Feline', 'A kitten purrs on the sofa.')]);
    await embedAll(retrieval, mine, theirs);
    const { hits } = await found(retrieval, 'my little cats', [mine]);
    expect(hits.every(({ title, space }) => title === 'Groceries' && space.scope === 'user:U1')).toBe(true);
  });

  test('follows replacements, and forgets the vectors of what is removed', async () => {
    const vectors = ownVectors();
    const retrieval = retrievalOf(vectors);
    const long = ['# One', 'a kitten', '# Two', 'a cat', '# Three', 'a dog'].join('\n\n');
    await retrieval.put(postgres, [entry('pets', 'Pets', long), locks]);
    await embedAll(retrieval, postgres);
    const stored = async () =>
      (await vectors.collection('runbooks-postgres', embedder.fingerprint).list(5_000))
        .map(({ id }) => id)
        .sort();
    expect(await stored()).toEqual(['locks#0', 'pets#0', 'pets#1', 'pets#2']);
    await retrieval.put(postgres, [entry('pets', 'Pets', 'Only a parrot.')]);
    await embedAll(retrieval, postgres);
    expect(await stored()).toEqual(['locks#0', 'pets#0']);
    await retrieval.remove(postgres, ['pets']);
    await embedAll(retrieval, postgres);
    expect(await stored()).toEqual(['locks#0']);
  });

  test('that does not answer leaves the words', async () => {
    const retrieval = retrievalOf();
    await retrieval.put(postgres, [locks]);
    const away = retrievalOf(ownVectors('http://127.0.0.1:9'));
    const answer = await found(away, 'blocked sessions');
    expect(answer).toMatchObject({ meaning: 'away', hits: [{ key: 'locks' }] });
    const hanging = createRetrieval({
      sql: db.sql,
      vectors: ownVectors(),
      embedder: { ...embedder, embed: () => new Promise(() => undefined) },
      log: quiet,
    });
    const late = await hanging.search({ text: 'blocked sessions', spaces: [postgres], meaningWithinMs: 50 });
    expect(late).toMatchObject({ meaning: 'late', hits: [{ key: 'locks' }] });
  });

  test('that is away while embedding leaves everything pending', async () => {
    const away = retrievalOf(ownVectors('http://127.0.0.1:9'));
    await away.put(postgres, [locks]);
    expect(await away.embedPending([postgres])).toBe(0);
    const back = retrievalOf();
    expect(await back.embedPending([postgres])).toBe(1);
  });
});
