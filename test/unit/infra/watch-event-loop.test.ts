import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { type LoopWatch, watchEventLoop } from '../../../src/infra/process/watch-event-loop.ts';
import { quiet } from '../../support/quiet.ts';

let watch: LoopWatch | undefined;
afterEach(() => watch?.stop());

it('says when the event loop was held for more than a second, and for how long [F5]', async () => {
  const said: object[] = [];
  watch = watchEventLoop({ ...quiet, warn: (fields) => void said.push(fields) });
  await delay(10);
  const until = performance.now() + 1_600;
  while (performance.now() < until);
  await delay(10);
  expect(said).toEqual([{ heldMs: expect.any(Number) }]);
  const { longestMs, stalls } = watch.delay();
  expect([longestMs > 1_000, stalls]).toEqual([true, 1]);
});
