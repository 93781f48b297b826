import { afterEach, expect, it, vi } from 'vitest';
import { alertSource } from '../../../src/sources/registry.ts';

afterEach(() => vi.restoreAllMocks());

// A second is what one of them gets: however many there are, a machine that is busy with something else refuses none.
it('many changes of one delivery are read on a machine where each step takes a millisecond', async () => {
  const change = Array.from({ length: 500 }, (_, n) => ({ id: `d-${n}`, title: 'shop-api deployed' }));
  let now = Date.parse('2026-01-01T00:00:00Z');
  vi.spyOn(Date, 'now').mockImplementation(() => (now += 1));
  const read = await alertSource('generic').read({ change }, { receivedAt: new Date(now) });
  expect(read.ok && read.changes?.map(({ id }) => id)).toEqual(change.map(({ id }) => id));
});
