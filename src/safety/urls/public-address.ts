import { BlockList, isIP } from 'node:net';

/** IANA special-purpose registries (RFC 6890 and its updates), plus addresses where clouds answer for themselves. */
const refusedV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  // Carrier-grade NAT; 100.100.100.200 is Alibaba's metadata service.
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Link-local; 169.254.169.254 is the metadata service of most clouds.
  ['169.254.0.0', 16],
  // Azure's host: metadata and DNS under an address that looks public.
  ['168.63.129.16', 32],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  // Multicast, reserved, broadcast.
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Of IPv6 only global unicast (2000::/3) is public; these parts of it are not, or carry an IPv4 address inside. */
const refusedV6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
];

const refused = new BlockList();
for (const [net, prefix] of refusedV4) refused.addSubnet(net, prefix, 'ipv4');
for (const [net, prefix] of refusedV6) refused.addSubnet(net, prefix, 'ipv6');
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

/** Whether an IP address (as a resolver gives it) belongs to the public internet. Anything doubtful is not. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !refused.check(address, 'ipv4');
  if (family !== 6 || address.includes('%')) return false;
  return globalUnicast.check(address, 'ipv6') && !refused.check(address, 'ipv6');
}
