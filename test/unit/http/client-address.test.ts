import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clientAddress } from '../../../src/http/client-address.ts';

const behind = clientAddress(['192.0.2.7', '10.1.0.0/16', '2001:db8:1::/48']);

test.each([
  ['a stranger, who may write what he likes', '203.0.113.5', '127.0.0.1', '203.0.113.5'],
  ['a proxy that says for whom', '192.0.2.7', '203.0.113.5', '203.0.113.5'],
  ['the same over an IPv6 socket', '::ffff:192.0.2.7', '203.0.113.5', '203.0.113.5'],
  ['what the caller wrote before it', '192.0.2.7', '127.0.0.1, 203.0.113.5', '203.0.113.5'],
  ['two proxies, one behind the other', '192.0.2.7', '1.1.1.1, 203.0.113.5, 10.1.2.3', '203.0.113.5'],
  ['an address with its port', '192.0.2.7', '203.0.113.5:4711', '203.0.113.5'],
  ['an IPv6 address with its port', '2001:db8:1::9', '[2001:db8:2::1]:4711', '2001:db8:2::1'],
  ['a proxy that calls itself', '192.0.2.7', '', '192.0.2.7'],
  ['no address at all', '192.0.2.7', 'localhost', 'unknown'],
  ['no address behind a proxy', '192.0.2.7', 'evil, 10.1.2.3', 'unknown'],
  ['a hidden address', '192.0.2.7', '_gazonk, unknown', 'unknown'],
])('%s', (_, peer, forwarded, client) => {
  expect(behind(peer, forwarded)).toBe(client);
});

test('without declared proxies the header is not read', () => {
  expect(clientAddress([])('127.0.0.1', '203.0.113.5')).toBe('127.0.0.1');
});

test('what a caller writes never changes who it is', () => {
  fc.assert(
    fc.property(fc.string(), fc.ipV4(), (written, peer) => {
      fc.pre(!peer.startsWith('10.1.') && peer !== '192.0.2.7');
      expect(behind(peer, written)).toBe(peer);
      expect(behind('192.0.2.7', `${written}, ${peer}`)).toBe(peer);
    }),
  );
});
