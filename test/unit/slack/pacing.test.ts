import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RateLimiter } from '../../../src/slack/outbound/pacing.ts';

it('lets a burst through at once and then one a second, in order', () => {
  let now = 0;
  const pace = new RateLimiter({ perSecond: 1, burst: 4, now: () => now });
  expect(Array.from({ length: 6 }, () => Math.round(pace.reserve()))).toEqual([0, 0, 0, 0, 1000, 2000]);
  now = 10_000;
  expect(pace.reserve()).toBe(0);
});

it('never lets more through than burst + rate × time, whatever is asked when', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 1, maxLength: 60 }), (gaps) => {
      let now = 0;
      const pace = new RateLimiter({ perSecond: 1, burst: 4, now: () => now });
      const sent = gaps.map((gap) => {
        now += gap;
        return now + pace.reserve();
      });
      for (const from of sent) {
        const within = sent.filter((at) => at >= from && at < from + 10_000).length;
        expect(within).toBeLessThanOrEqual(4 + 10 + 1);
      }
    }),
  );
});

it('sends nothing before the moment Slack named', async () => {
  let now = 0;
  const pace = new RateLimiter({ perSecond: 1, burst: 4, now: () => now });
  await pace.block(30_000);
  expect(pace.reserve()).toBe(30_000);
  expect(pace.available()).toBe(0);
  now = 30_000;
  expect(pace.reserve()).toBe(0);
});
