import { BlockList, isIP, isIPv6 } from 'node:net';

/** Who calls, as far as the proxies in front of us are to be believed. */
export type ClientAddress = (peer: string, forwardedFor: string | undefined) => string;

/** A proxy wrote what is no address: such callers are one source, and not this machine. */
const UNKNOWN = 'unknown';

/**
 * @param proxies addresses, or networks as `10.0.0.0/8`; only what comes from them may say for whom. The last address in
 *   `X-Forwarded-For` that is none of them is the caller's: what stands before it the caller may have written.
 */
export function clientAddress(proxies: readonly string[]): ClientAddress {
  const trusted = new BlockList();
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/');
    if (bits === undefined) trusted.addAddress(address, family(address));
    else trusted.addSubnet(address, Number(bits), family(address));
  }
  const isTrusted = (address: string): boolean => {
    const plain = unmapped(address);
    return isIP(plain) !== 0 && trusted.check(plain, family(plain));
  };
  return (peer, forwardedFor) => {
    let client = peer;
    for (const hop of (forwardedFor ?? '').split(',').toReversed()) {
      if (!isTrusted(client)) break;
      const address = withoutPort(hop.trim());
      if (address === '') continue;
      if (isIP(address) === 0) return UNKNOWN;
      client = address;
    }
    return client;
  };
}

const family = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4');
const unmapped = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');
const withoutPort = (hop: string): string =>
  /^\[(.*)\](?::\d+)?$/.exec(hop)?.[1] ?? hop.replace(/^([\d.]+):\d+$/, '$1');
