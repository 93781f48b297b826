import { afterAll, beforeAll, expect, it } from 'vitest';
import { judge } from '../play/judge.ts';
import { inOrder } from '../play/order.ts';
import { playFaults, stageIn } from '../play/play-faults.ts';
import { tellPlayed } from '../play/tell-played.ts';
import { patience } from '../support/patience.ts';
import { type Product, startProduct } from '../support/product.ts';
import { scratchDir } from '../support/scratch-dir.ts';

/** Those that end within half a minute; `npm run play` plays them all. */
const FAULTS = ['blocked_sessions', 'idle_in_transaction', 'service_down'];
const SEED = 5;

const dataDir = scratchDir();
let product: Product;
beforeAll(async () => {
  product = await startProduct({ dataDir });
});
afterAll(() => product?.stop());

// Held against the systems themselves, as the faults server reads them: the end of one must not be taken for that of the other.
it('brings two faults at once each to its true end', { timeout: 150_000 * patience }, async () => {
  const two = inOrder(FAULTS, SEED).slice(0, 2);
  const played = await playFaults(stageIn(dataDir), two, {
    endsWithinMs: 120_000 * patience,
    settledMs: 3_000,
  });
  // As one text, with its thread: of a list, a failed test shows only its length.
  const wrong = played.filter((each) => judge(each).length > 0);
  expect(wrong.map((each) => tellPlayed(each, true)).join('\n')).toBe('');
  expect(played.map(({ fault, sights }) => [fault, sights.at(-1)?.end])).toEqual(
    two.map((fault) => [fault, 'confirmed']),
  );
});
