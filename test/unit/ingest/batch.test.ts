import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inBatches } from '../../../src/ingest/batch.ts';

const rows = (error: unknown) => error instanceof RangeError;

test('every item gets its own result, once, in batches no larger than allowed', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(), { maxLength: 60 }),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 9 }),
      async (items, concurrency, size) => {
        const seen: number[] = [];
        let running = 0;
        const run = inBatches<number, number>(
          async (batch) => {
            running += 1;
            expect(running).toBeLessThanOrEqual(concurrency);
            expect(batch.length).toBeLessThanOrEqual(size);
            seen.push(...batch);
            await new Promise((resolve) => setImmediate(resolve));
            running -= 1;
            return batch.map((n) => n * 2);
          },
          { concurrency, size },
          rows,
        );
        expect(await Promise.all(items.map(run))).toEqual(items.map((n) => n * 2));
        const inOrder = (a: number, b: number) => a - b;
        expect(seen.toSorted(inOrder)).toEqual(items.toSorted(inOrder));
      },
    ),
    { numRuns: 50 },
  );
});

test('an item that is to blame fails alone', async () => {
  const run = inBatches<number, number>(
    async (batch) => {
      if (batch.includes(3)) throw new RangeError('three');
      return batch;
    },
    { concurrency: 1, size: 10 },
    rows,
  );
  const results = await Promise.allSettled([1, 2, 3, 4].map(run));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
});

test('when the way is broken the batch fails as a whole, without trying each item', async () => {
  let calls = 0;
  const run = inBatches<number, number>(
    async () => {
      calls += 1;
      throw new Error('connection refused');
    },
    { concurrency: 1, size: 10 },
    rows,
  );
  const results = await Promise.allSettled([1, 2, 3].map(run));
  expect(results.every(({ status }) => status === 'rejected')).toBe(true);
  // The first goes alone, the two that waited for it together.
  expect(calls).toBe(2);
});
