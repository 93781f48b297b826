import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createChromaStore } from '../../../../src/infra/chroma/client.ts';
import { createChromaUpkeep } from '../../../../src/infra/chroma/upkeep.ts';
import { createChromaCoreEmbedder } from '../../../../src/infra/embeddings/chroma-core-embedder.ts';
import { embedderOf, openEmbedder } from '../../../../src/infra/embeddings/open-embedder.ts';
import type { Embedder } from '../../../../src/search/ports.ts';
import { type ReembedDeps, reembed } from '../../../../src/search/reembed/reembed.ts';
import { createSwitchingEmbedder } from '../../../../src/search/reembed/switching-embedder.ts';
import { type AcceptDatabase, acceptDatabase } from '../../../support/accept-database.ts';
import { scratchChroma } from '../../../support/chroma.ts';
import { quiet } from '../../../support/quiet.ts';

/** An embedding of so many dimensions: another count is another space, which Chroma itself would refuse. */
function embedding(fingerprint: string, dimensions: number, during = async () => {}): Embedder {
  return {
    fingerprint,
    embed: async (texts) => {
      await during();
      return texts.map((text) =>
        Array.from(
          { length: dimensions },
          (_, i) => ((text.charCodeAt(text.length - 1 - i) || 1) % 31) ** 3 / 1000 + 0.01,
        ),
      );
    },
    close: async () => undefined,
  };
}

let db: AcceptDatabase;
let host: string;
let name: string;
beforeAll(async () => {
  [db, { host }] = await Promise.all([acceptDatabase(2), scratchChroma()]);
});
afterAll(() => db.close());
beforeEach(() => {
  name = `runbooks-${randomUUID().slice(0, 8)}`;
});

const before = embedding('one', 3);
const vectors = () => createChromaStore({ host, log: quiet });
const upkeep = () => createChromaUpkeep({ host });
const text = (id: string) => ({ id, document: `text of ${id}`, metadata: { source: 'seed', n: 1 } });

async function put(embedder: Embedder, ids: readonly string[], into = name) {
  const embeddings = await embedder.embed(ids.map((id) => text(id).document));
  await vectors()
    .collection(into, embedder.fingerprint)
    .upsert(
      ids.map((id, i) => ({ ...text(id), embedding: embeddings[i] ?? [] })),
      5_000,
    );
}

async function found(embedder: Embedder, id: string): Promise<readonly string[]> {
  const [vector] = await embedder.embed([text(id).document]);
  const hits = await vectors()
    .collection(name, embedder.fingerprint)
    .query(vector ?? [], 1, 5_000);
  return hits.map((hit) => hit.id);
}

const change = (wanted: Embedder, more: Partial<ReembedDeps> = {}) =>
  reembed({
    sql: db.sql,
    upkeep: upkeep(),
    vectors: vectors(),
    wanted,
    collections: [name],
    takeOver: async () => undefined,
    signal: new AbortController().signal,
    log: quiet,
    ...more,
  });

describe('another embedding', () => {
  test('takes over everything, and the one before answers until then', async () => {
    await put(before, ['a', 'b', 'c']);
    const asked: (readonly string[])[] = [];
    const wanted = embedding('two', 5, async () => void asked.push(await found(before, 'b')));
    await change(wanted);
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.every((ids) => ids[0] === 'b')).toBe(true);
    expect(await upkeep().madeBy(name)).toBe('two');
    expect(await found(embedding('two', 5), 'b')).toEqual(['b']);
    expect(await upkeep().readAll(name)).toEqual(['a', 'b', 'c'].map(text));
    for (const rest of [`${name}.next`, `${name}.old`]) expect(await upkeep().madeBy(rest)).toBeNull();
  });

  test('is never mixed with the one before: asking with the old one says so', async () => {
    await put(before, ['a']);
    await change(embedding('two', 5));
    await expect(found(before, 'a')).rejects.toMatchObject({ code: 'CHROMA_OTHER_EMBEDDING' });
  });

  test('gets what is written and removed while it works', async () => {
    await put(before, ['a', 'b']);
    let first = true;
    const wanted = embedding('two', 5, async () => {
      if (!first) return;
      first = false;
      await put(before, ['late']);
      await vectors().collection(name, 'one').remove(['a'], 5_000);
    });
    await change(wanted);
    expect((await upkeep().readAll(name)).map(({ id }) => id).toSorted()).toEqual(['b', 'late']);
  });

  test('goes on where it was stopped, wherever that was', async () => {
    await put(before, ['a', 'b']);
    const broken = embedding('two', 5, async () => {
      throw new Error('quota');
    });
    await expect(change(broken)).rejects.toThrow('quota');
    expect(await found(before, 'a')).toEqual(['a']);
    // As it stands when a process ends between the two renames.
    await put(embedding('two', 5), ['a', 'b'], `${name}.next`);
    await upkeep().rename(name, `${name}.old`);
    await change(embedding('two', 5));
    expect(await found(embedding('two', 5), 'a')).toEqual(['a']);
    expect(await upkeep().readAll(name)).toHaveLength(2);
    for (const rest of [`${name}.next`, `${name}.old`]) expect(await upkeep().madeBy(rest)).toBeNull();
  });

  test('is done once by two processes', async () => {
    await put(before, ['a', 'b', 'c']);
    await Promise.all(
      [change(embedding('two', 5)), change(embedding('two', 5))].map((one) => one.catch(() => undefined)),
    );
    await change(embedding('two', 5));
    expect((await upkeep().readAll(name)).map(({ id }) => id).toSorted()).toEqual(['a', 'b', 'c']);
    expect(await found(embedding('two', 5), 'c')).toEqual(['c']);
  });

  test('nothing happens when it is the same', async () => {
    await put(before, ['a']);
    const wanted = embedding('one', 3, async () => expect.unreachable('something was embedded'));
    await change(wanted);
  });
});

describe('an embedding of a package', () => {
  class FakeEmbeddingFunction {
    static asked: string[][] = [];
    readonly options: { readonly modelName?: string };
    constructor(options: { readonly modelName?: string }) {
      this.options = options;
    }
    async generate(texts: string[]): Promise<number[][]> {
      FakeEmbeddingFunction.asked.push(texts);
      return texts.map((one) => [one.length, 1]);
    }
  }
  const load = async () => ({ FakeEmbeddingFunction });

  test('is taken by its name, asked in batches, and each text once', async () => {
    const embedder = createChromaCoreEmbedder({ packageName: '@chroma-core/fake', options: {}, load });
    const texts = Array.from({ length: 40 }, (_, i) => 'x'.repeat(i + 1));
    expect((await embedder.embed([...texts, 'x'])).map(([length]) => length)).toEqual(
      [...texts, 'x'].map((t) => t.length),
    );
    expect(FakeEmbeddingFunction.asked.map((batch) => batch.length)).toEqual([32, 8]);
    await embedder.embed(['xx']);
    expect(FakeEmbeddingFunction.asked).toHaveLength(2);
  });

  test('gets a text with something in it even where there is none, which providers refuse', async () => {
    class PickyEmbeddingFunction {
      async generate(texts: string[]): Promise<unknown> {
        if (texts.some((one) => one.trim() === '')) throw new Error("400 '$.input' is invalid");
        return texts.map(() => Float32Array.of(1, 0.5));
      }
    }
    const embedder = createChromaCoreEmbedder({
      packageName: '@chroma-core/picky',
      options: {},
      load: async () => ({ PickyEmbeddingFunction }),
    });
    expect(await embedder.embed(['', ' \n', 'a'])).toEqual([1, 2, 3].map(() => [1, 0.5]));
  });

  test('that makes sparse vectors is refused', async () => {
    class SparseEmbeddingFunction {
      async generate(texts: string[]): Promise<unknown> {
        return texts.map(() => ({ indices: [1], values: [0.5] }));
      }
    }
    const embedder = createChromaCoreEmbedder({
      packageName: '@chroma-core/sparse',
      options: {},
      load: async () => ({ SparseEmbeddingFunction }),
    });
    await expect(embedder.embed(['a'])).rejects.toMatchObject({
      code: 'EMBEDDINGS_FAILED',
      message: expect.stringContaining('no dense vectors'),
    });
  });

  test('has its options in its fingerprint, but no key and no login', () => {
    const { fingerprint } = openEmbedder(
      {
        name: 'openai',
        options: {
          modelName: 'small',
          apiKey: 'hidden',
          apiBase: 'https://me:hidden@gateway.example.com/v1',
        },
      },
      quiet,
    );
    expect(fingerprint).toBe(
      '@chroma-core/openai {"apiBase":"https://gateway.example.com/v1","modelName":"small"}',
    );
    expect(embedderOf(fingerprint, quiet)?.fingerprint).toBe(fingerprint);
    expect(embedderOf('something else', quiet)).toBeNull();
  });

  test('that is not installed says what to install', async () => {
    const embedder = openEmbedder({ name: 'not-there', options: {} }, quiet);
    await expect(embedder.embed(['a'])).rejects.toMatchObject({
      code: 'EMBEDDINGS_MISSING',
      hint: expect.stringContaining('npm install @chroma-core/not-there'),
    });
  });
});

test('a text asked while the embedding changes is embedded by one of the two, whole', async () => {
  const switching = createSwitchingEmbedder(before);
  const asked = switching.embed(['a', 'b']);
  await switching.switchTo(embedding('two', 5));
  expect((await asked).map((vector) => vector.length)).toEqual([3, 3]);
  expect((await switching.embed(['a'])).map((vector) => vector.length)).toEqual([5]);
});
