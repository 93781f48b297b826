import { describe, expect, test } from 'vitest';
import { OFFLINE } from '../../../src/infra/embeddings/embedder.ts';
import { calibrationIncidents } from '../../../src/search/distance/calibration.ts';
import { createDistanceCuts } from '../../../src/search/distance/distance-cuts.ts';
import { measureCuts } from '../../../src/search/distance/measure-cuts.ts';
import type { Embedder } from '../../../src/search/ports.ts';
import { quiet } from '../../support/quiet.ts';

/** Words are dimensions; `scale` makes another space of it, in which everything is nearer together. */
function wordEmbedder(fingerprint: string, common = 0): Embedder & { readonly asked: number[] } {
  const places = new Map<string, number>();
  const asked: number[] = [];
  return {
    fingerprint,
    asked,
    async embed(texts) {
      asked.push(texts.length);
      return texts.map((text) => {
        const vector = Array.from({ length: 2_000 }, () => 0);
        vector[0] = common;
        for (const word of text.toLowerCase().match(/[a-z]{3,}/g) ?? []) {
          const place = places.get(word) ?? places.size + 1;
          places.set(word, place);
          vector[place] = (vector[place] ?? 0) + 1;
        }
        return vector;
      });
    },
    close: async () => undefined,
  };
}

const settled = (cuts: () => { readonly sameKind: number }) => expect.poll(() => cuts().sameKind);

describe('how far a past incident may be', () => {
  test('is no further than the nearest stranger where nothing is known, and lets recurrences through where the kind is', async () => {
    const { own, strangers, sameKind, unnamed } = await measureCuts(wordEmbedder('words'));
    expect(own.p50).toBeLessThan(strangers.p50);
    expect(unnamed).toBe(strangers.min);
    expect(sameKind).toBeCloseTo(own.p95 + 0.05, 6);
    expect(own.min).toBeGreaterThan(0);
  });

  test('follows the embedding: where all texts are near to each other, the cuts are nearer too', async () => {
    const wide = await measureCuts(wordEmbedder('wide'));
    const narrow = await measureCuts(wordEmbedder('narrow', 12));
    expect(narrow.sameKind).toBeLessThan(wide.sameKind / 2);
    expect(narrow.unnamed).toBeLessThan(wide.unnamed / 2);
  });

  test('are measured for an embedding that is not known, once, and are the seed’s until then', async () => {
    const embedder = wordEmbedder('some/other');
    const cuts = createDistanceCuts({ embedder, log: quiet });
    expect(cuts()).toEqual({ sameKind: 0.75, unnamed: 0.4 });
    const measured = await measureCuts(wordEmbedder('some/other'));
    await settled(cuts).toBe(measured.sameKind);
    expect(cuts().unnamed).toBe(measured.unnamed);
    expect(embedder.asked).toEqual([calibrationIncidents.length * 3]);
  });

  test('are the recorded ones for the offline embedding, which is asked nothing', () => {
    const embedder = wordEmbedder(OFFLINE);
    expect(createDistanceCuts({ embedder, log: quiet })()).toEqual({ sameKind: 0.65, unnamed: 0.35 });
    expect(embedder.asked).toEqual([]);
  });

  test('are measured again after it could not be done', async () => {
    const whole = wordEmbedder('flaky');
    let fails = 1;
    const embedder: Embedder = {
      ...whole,
      async embed(texts, when) {
        if (fails-- > 0) throw new Error('429');
        return whole.embed(texts, when);
      },
    };
    const cuts = createDistanceCuts({ embedder, log: quiet });
    await settled(cuts).not.toBe(0.75);
  });

  test('of one embedding are not taken for another that takes over meanwhile', async () => {
    const first = wordEmbedder('first');
    let fingerprint = 'first';
    const embedder: Embedder = {
      get fingerprint() {
        return fingerprint;
      },
      async embed(texts, when) {
        const vectors = await first.embed(texts, when);
        fingerprint = OFFLINE;
        return vectors;
      },
      close: first.close,
    };
    const cuts = createDistanceCuts({ embedder, log: quiet });
    cuts();
    await expect.poll(() => cuts()).toEqual({ sameKind: 0.65, unnamed: 0.35 });
    fingerprint = 'first';
    expect(cuts()).toEqual({ sameKind: 0.75, unnamed: 0.4 });
  });
});
