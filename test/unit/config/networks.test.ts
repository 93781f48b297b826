import { expect, test } from 'vitest';
import { networks } from '../../../src/config/kinds.ts';

test.each([
  ['192.0.2.7', true],
  ['10.0.0.0/8', true],
  ['::1', true],
  ['2001:db8::/32', true],
  ['10.0.0.0/33', false],
  ['10.0.0.0/', false],
  ['10.0.0.0/8/8', false],
  ['proxy.example.com', false],
])('%j is an address or a network: %s', (text, isOne) => {
  expect(networks.safeParse(text).success).toBe(isOne);
});
