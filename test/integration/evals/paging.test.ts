import { expect, test } from 'vitest';
import { formatPaging } from '../../../evals/paging/score.ts';
import { situations } from '../../../evals/paging/situations.ts';
import { playPaging } from '../../support/paging-scene.ts';
import { patience } from '../../support/patience.ts';

/** `PAGING_ALERTS=500` plays the whole set. */
const ALERTS = Number(process.env['PAGING_ALERTS'] ?? 60);
const PLAYING_MS = 1_200_000 * patience;

test('what needs nobody ends without a page, and no page that somebody needs is lost', {
  timeout: PLAYING_MS,
}, async () => {
  const score = await playPaging(situations(ALERTS));
  console.log(formatPaging(score));
  expect(score.lost.map(({ id, kind }) => `${id}: ${kind}`)).toEqual([]);
  expect(score.unpaged / score.routine).toBeGreaterThanOrEqual(0.9);
});
