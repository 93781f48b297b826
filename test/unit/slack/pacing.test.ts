import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { EDITS_PER_MINUTE, RateLimiter, RateLimiters } from '../../../src/slack/outbound/pacing.ts';

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

it('leaves tokens to what matters more, as far as its bucket goes', () => {
  let now = 0;
  const pace = new RateLimiter({ perSecond: 1, burst: 4, now: () => now });
  expect([pace.reserve(2), pace.reserve(2)]).toEqual([0, 0]);
  expect(pace.reserve(2)).toBe(1000);
  pace.giveBack();
  expect(pace.reserve()).toBe(0);
  now = 60_000;
  const small = new RateLimiter({ perSecond: 1, burst: 1, now: () => now });
  expect(small.reserve(2)).toBe(0);
});

it('no minute of edits sees more than its budget, however small, whatever is asked when', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 6, max: 200 }),
      fc.array(fc.integer({ min: 0, max: 40_000 }), { minLength: 1, maxLength: 300 }),
      (budget, gaps) => {
        let now = 0;
        const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
        const { edits } = new RateLimiters(1, undefined, budget);
        const sent = gaps.map((gap) => {
          now += gap % 3 === 0 ? gap : gap % 50;
          return now + edits.reserve();
        });
        clock.mockRestore();
        for (const from of sent)
          expect(sent.filter((at) => at >= from && at <= from + 59_999.999).length).toBeLessThanOrEqual(
            budget,
          );
      },
    ),
  );
  expect(EDITS_PER_MINUTE).toBe(45);
});
