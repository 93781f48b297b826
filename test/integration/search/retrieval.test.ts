import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Sql } from '../../../src/core/sql.ts';
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
let offline: Embedder;
/** The same model in the place of one that somebody configured. */
let embedder: Embedder;
beforeAll(async () => {
  [scratch, { host: chromaHost }] = await Promise.all([scratchDatabase({ migrate: true }), scratchChroma()]);
  db = openDatabase(scratch.url);
  offline = createEmbedder({ log: quiet });
  embedder = { ...offline, fingerprint: 'configured' };
});
afterAll(async () => {
  await offline.close();
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
    expect(await retrieval.upsert(postgres, [locks, bloat, wal])).toEqual({
      added: 3,
      changed: 0,
      unchanged: 0,
    });
    const { hits } = await retrieval.search({
      text: 'dead rows: autovacuum lags behind',
      spaces: [postgres],
      meaningWithinMs: 0,
    });
    expect(hits[0]).toMatchObject({ key: 'bloat', title: 'Table bloat', text: bloat.text, space: postgres });
    expect(hits[0]?.shares.terms.map(({ term }) => term)).toContain('autovacuum');
  });

  test('is found by another process, also after it was replaced or removed there', async () => {
    const other = openDatabase(scratch.url);
    try {
      const [here, there] = [retrievalOf(), retrievalOf(ownVectors(), other.sql)];
      await there.upsert(postgres, [locks, wal]);
      // Asked before, so that whatever this process remembers is in play.
      expect(await byWords(here, 'lock')).toEqual(['locks']);
      expect(await byWords(here, 'zookeeper')).toEqual([]);
      await there.upsert(postgres, [entry('locks', 'Zookeeper', 'Elects.')]);
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
    await retrieval.upsert(postgres, [locks, bloat]);
    expect(await retrieval.upsert(postgres, [locks, { ...bloat, text: 'Other.' }])).toEqual({
      added: 0,
      changed: 1,
      unchanged: 1,
    });
  });

  test('may hold anything', async () => {
    const retrieval = retrievalOf();
    const odd = entry('o\'dd"{},\\ key', 'N\0ul "quoted" {braces} \\', 'Ünïcode 日本 \\x00 {"a":[1,2]}');
    await retrieval.upsert(postgres, [odd, entry('empty', '')]);
    expect(await byWords(retrieval, 'quoted braces')).toEqual([odd.key]);
    expect(await byWords(retrieval, "'; DROP TABLE search_entry; --")).toEqual([]);
    expect(await byWords(retrieval, '')).toEqual([]);
    expect((await retrieval.list(postgres)).map(({ key }) => key).sort()).toEqual(['empty', odd.key].sort());
  });
});

test('only the spaces that are named are looked into', async () => {
  const retrieval = retrievalOf();
  const private_: Space = { kind: 'document', scope: 'user:U2' };
  await retrieval.upsert(postgres, [locks]);
  await retrieval.upsert(docker, [entry('container', 'Container holds a lock')]);
  await retrieval.upsert(private_, [entry('secret', 'My lock notes')]);
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
          retrieval.upsert(postgres, [
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
    await retrieval.upsert(postgres, [locks]);
    let writing = true;
    const writer = (async () => {
      for (let n = 0; writing; n += 1)
        await retrieval.upsert(postgres, [{ ...locks, text: `Version ${n}.` }]);
    })();
    for (let i = 0; i < 50; i += 1) expect(await byWords(retrieval, 'blocked sessions')).toEqual(['locks']);
    writing = false;
    await writer;
  });
});

/** The database with each statement's answer in the hands of the test. */
function watched(through: (text: string, answer: PromiseLike<unknown>) => PromiseLike<unknown>): Sql {
  const query = (strings: TemplateStringsArray, ...values: readonly unknown[]) =>
    through(strings.join('?'), db.sql(strings, ...values));
  return Object.assign(query, { json: db.sql.json, array: db.sql.array, begin: db.sql.begin }) as Sql;
}

test('only what a process has not read yet is read, and what is gone leaves its memory', async () => {
  const read: string[] = [];
  const counting = watched((text, answer) => {
    read.push(text);
    return answer;
  });
  const reads = () => read.splice(0).filter((text) => /e\.terms|array_agg/.test(text)).length;
  const [here, there] = [retrievalOf(ownVectors(), counting), retrievalOf()];
  await there.upsert(postgres, [locks, bloat, wal]);
  expect(await byWords(here, 'lock')).toEqual(['locks']);
  expect(reads()).toBe(1);
  expect(await byWords(here, 'autovacuum')).toEqual(['bloat']);
  expect(reads()).toBe(0);
  // Removed, replaced and added between two searches: the count alone is as before.
  await there.remove(postgres, ['bloat']);
  await there.upsert(postgres, [entry('locks', 'Zookeeper', 'Elects.'), entry('new', 'Autovacuum is off')]);
  expect(await byWords(here, 'autovacuum')).toEqual(['new']);
  expect(await byWords(here, 'lock')).toEqual([]);
  expect(await byWords(here, 'zookeeper')).toEqual(['locks']);
});

test('what is gone takes no place among the best', async () => {
  const [here, there] = [retrievalOf(), retrievalOf()];
  await there.upsert(postgres, [
    locks,
    entry('both', 'Blocked sessions, blocked locks'),
    entry('other', 'Locks'),
  ]);
  const best = async () =>
    (await here.search({ text: 'blocked sessions', spaces: [postgres], k: 1, meaningWithinMs: 0 })).hits.map(
      ({ key }) => key,
    );
  expect(await best()).toEqual(['locks']);
  await there.remove(postgres, ['locks']);
  expect(await best()).toEqual(['both']);
});

test('an answer that comes late takes nothing out that came in meanwhile', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const slow = watched(async (text, answer) => {
    const rows = await answer;
    if (text.includes('array_agg')) await held;
    return rows;
  });
  const [here, there] = [retrievalOf(ownVectors(), slow), retrievalOf()];
  await there.upsert(postgres, [locks, bloat]);
  expect(await byWords(here, 'lock')).toEqual(['locks']);
  await there.remove(postgres, ['bloat']);
  const first = byWords(here, 'lock');
  await sleep(50);
  await there.upsert(postgres, [wal]);
  const second = byWords(here, 'disk');
  await Promise.race([second, sleep(200)]);
  release();
  expect([await first, await second]).toEqual([['locks'], ['wal']]);
  expect(await byWords(here, 'disk')).toEqual(['wal']);
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
    await retrieval.upsert(postgres, [entry('cat', 'Feline', 'A kitten purrs on the sofa.'), locks]);
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
    await retrieval.upsert(mine, [entry('same', 'Groceries', 'Apples.')]);
    await retrieval.upsert(theirs, [entry('same', 'Feline', 'A kitten purrs on the sofa.')]);
    await embedAll(retrieval, mine, theirs);
    const { hits } = await found(retrieval, 'my little cats', [mine]);
    expect(hits.every(({ title, space }) => title === 'Groceries' && space.scope === 'user:U1')).toBe(true);
  });

  test('follows replacements, and forgets the vectors of what is removed', async () => {
    const vectors = ownVectors();
    const retrieval = retrievalOf(vectors);
    const long = ['# One', 'a kitten', '# Two', 'a cat', '# Three', 'a dog'].join('\n\n');
    await retrieval.upsert(postgres, [entry('pets', 'Pets', long), locks]);
    await embedAll(retrieval, postgres);
    const stored = async () =>
      (await vectors.collection('runbooks-postgres', embedder.fingerprint).list(5_000))
        .map(({ id }) => id)
        .sort();
    expect(await stored()).toEqual(['locks#0', 'pets#0', 'pets#1', 'pets#2']);
    await retrieval.upsert(postgres, [entry('pets', 'Pets', 'Only a parrot.')]);
    await embedAll(retrieval, postgres);
    expect(await stored()).toEqual(['locks#0', 'pets#0']);
    await retrieval.remove(postgres, ['pets']);
    await embedAll(retrieval, postgres);
    expect(await stored()).toEqual(['locks#0']);
  });

  test('that does not answer leaves the words', async () => {
    const retrieval = retrievalOf();
    await retrieval.upsert(postgres, [locks]);
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

  test('of the offline embedding is not asked for', async () => {
    const vectors: VectorStore = { collection: () => expect.unreachable('Chroma was asked') };
    const retrieval = createRetrieval({ sql: db.sql, vectors, embedder: offline, log: quiet });
    await retrieval.upsert(postgres, [locks]);
    expect(await found(retrieval, 'blocked sessions')).toMatchObject({
      meaning: 'none',
      hits: [{ key: 'locks' }],
    });
  });

  test('that is away while embedding leaves everything pending', async () => {
    const away = retrievalOf(ownVectors('http://127.0.0.1:9'));
    await away.upsert(postgres, [locks]);
    expect(await away.embedPending([postgres])).toBe(0);
    const back = retrievalOf();
    expect(await back.embedPending([postgres])).toBe(1);
  });
});
