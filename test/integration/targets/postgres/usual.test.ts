import { afterAll, beforeAll, expect, test } from 'vitest';
import { blockedSessions } from '../../../../playground/faults/postgres/blocked-sessions.ts';
import { postgresUsual } from '../../../../src/targets/postgres/usual.ts';
import { readUsual } from '../../../../src/targets/read-usual.ts';
import { type ShopRig, startShopRig } from './shop-rig.ts';

let rig: ShopRig;
beforeAll(async () => {
  rig = await startShopRig();
});
afterAll(() => rig.stop());

async function look(only?: string) {
  const { target, system } = rig.targets.context('shop-db', 10_000);
  const { numbers, unread } = await readUsual(
    target,
    postgresUsual,
    system,
    new AbortController().signal,
    only,
  );
  expect(unread).toEqual([]);
  return Object.fromEntries(numbers.map(({ name, now }) => [name, now]));
}

test('the reading role reads every number of a database', async () => {
  const seen = await look();
  expect(Object.keys(seen)).toEqual([
    'connections',
    'longest_transaction',
    'waiting_sessions',
    'transactions',
    'cache_hits',
    'database_size',
    'dead_rows',
  ]);
  const { cache_hits: hits, ...others } = seen;
  // Where no block was asked for meanwhile, no share of them was found.
  expect(hits === null || (typeof hits === 'number' && hits >= 0 && hits <= 100)).toBe(true);
  for (const [name, now] of Object.entries(others)) expect([name, typeof now]).toEqual([name, 'number']);
  expect(seen['connections']).toBeGreaterThanOrEqual(1);
  expect(seen['database_size']).toBeGreaterThan(1);
});

test('one alone is read by its own read alone', async () => {
  expect(Object.keys(await look('connections'))).toEqual(['connections']);
  expect(await look('no such number')).toEqual({});
});

test('sessions that wait are counted', async () => {
  const held = await blockedSessions.cause(rig.shop);
  try {
    expect((await look('waiting_sessions'))['waiting_sessions']).toBe(4);
  } finally {
    await held.release();
  }
});
