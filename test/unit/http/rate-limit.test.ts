import { expect, test } from 'vitest';
import { createRateLimit } from '../../../src/http/rate-limit.ts';

let now = 0;
const limit = (known = 60, strangers = 6) => {
  now = 0;
  return createRateLimit({ known, strangers, now: () => now });
};
const passes = (ask: () => { readonly ok: boolean }, times: number): number =>
  Array.from({ length: times }, ask).filter(({ ok }) => ok).length;

test('a minute’s worth at once, then the rate, and it says when to come again', () => {
  const ask = limit();
  expect(passes(() => ask({ peer: '192.0.2.1', kind: 'known' }), 100)).toBe(60);
  expect(ask({ peer: '192.0.2.1', kind: 'known' })).toEqual({ ok: false, retryAfterSeconds: 1 });
  now += 10_000;
  expect(passes(() => ask({ peer: '192.0.2.1', kind: 'known' }), 100)).toBe(10);
  now += 3_600_000;
  expect(passes(() => ask({ peer: '192.0.2.1', kind: 'known' }), 100)).toBe(60);
});

test('whoever guesses behind the same proxy does not keep out who knows the secret', () => {
  const ask = limit();
  expect(passes(() => ask({ peer: '192.0.2.1', kind: 'stranger' }), 100)).toBe(6);
  expect(ask({ peer: '192.0.2.1', kind: 'stranger' })).toMatchObject({ ok: false, retryAfterSeconds: 10 });
  expect(ask({ peer: '192.0.2.1', kind: 'known' })).toEqual({ ok: true });
});

test('sources are counted apart, and all addresses of an IPv6 /64 are one', () => {
  const ask = limit();
  const stranger = (peer: string) => passes(() => ask({ peer, kind: 'stranger' }), 6);
  expect(stranger('192.0.2.1')).toBe(6);
  expect(stranger('::ffff:192.0.2.1')).toBe(0);
  expect(stranger('192.0.2.2')).toBe(6);
  expect(stranger('2001:db8:1:2::1')).toBe(6);
  expect(stranger('2001:db8:1:2:ffff::7')).toBe(0);
  expect(stranger('2001:DB8:0001:2:a:b:c:d%eth0')).toBe(0);
  expect(stranger('2001:db8:1:3::1')).toBe(6);
});

test('a flood of made-up sources takes no more memory, and frees nobody who keeps asking', () => {
  const ask = limit();
  expect(passes(() => ask({ peer: '192.0.2.1', kind: 'stranger' }), 10)).toBe(6);
  for (let n = 0; n < 30_000; n += 1) {
    ask({ peer: `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`, kind: 'stranger' });
    if (n % 1_000 === 0) expect(ask({ peer: '192.0.2.1', kind: 'stranger' }).ok).toBe(false);
  }
});

test('of several processes each allows its share, as many as there are now [C10]', () => {
  now = 0;
  let processes = 3;
  const shared = () =>
    createRateLimit({ known: 60, strangers: 6, processes: () => processes, now: () => now });
  const bots = [shared(), shared(), shared()];
  const all = () =>
    bots.reduce((sum, ask) => sum + passes(() => ask({ peer: '192.0.2.1', kind: 'known' }), 100), 0);
  expect(all()).toBe(60);
  now += 10_000;
  expect(all()).toBe(9);
  // Two of them have died: what is left has their share.
  processes = 1;
  now += 60_000;
  expect(passes(() => bots[0]?.({ peer: '192.0.2.1', kind: 'known' }) ?? { ok: false }, 100)).toBe(60);
  // However many there are, nobody is kept out for ever.
  processes = 100;
  now += 60_000;
  expect(passes(() => bots[1]?.({ peer: '192.0.2.1', kind: 'stranger' }) ?? { ok: false }, 100)).toBe(1);
});
