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
          { beside: 5, concurrency, size, patienceMs: 1 },
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
    { beside: 5, concurrency: 1, size: 10, patienceMs: 1 },
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
    { beside: 5, concurrency: 1, size: 10, patienceMs: 1 },
    rows,
  );
  const results = await Promise.allSettled([1, 2, 3].map(run));
  expect(results.every(({ status }) => status === 'rejected')).toBe(true);
  // They were asked for in one turn of the event loop, and go together.
  expect(calls).toBe(1);
});

test('a batch that hangs holds up nobody else', async () => {
  const run = inBatches<number, number>(
    (batch) => (batch.includes(0) ? new Promise(() => undefined) : Promise.resolve(batch)),
    { beside: 5, concurrency: 2, size: 10, patienceMs: 20 },
    rows,
  );
  void run(0);
  // What is asked for in the same turn of the event loop shares its batch. Immediates keep their order; a timer may come first.
  await new Promise((resolve) => setImmediate(resolve));
  expect(await Promise.all([1, 2, 3].map(run))).toEqual([1, 2, 3]);
  expect(await run(4)).toBe(4);
});
