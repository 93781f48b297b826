import { lookup } from 'node:dns/promises';
import { messageOf, type Refusal, refuse } from '../../core/errors.ts';
import { isPublicAddress } from './public-address.ts';

export interface Address {
  readonly address: string;
  readonly family: number;
}

/** All addresses of a host name. */
export type Resolver = (host: string) => Promise<readonly Address[]>;

/** IPv4 first: a broken IPv6 route is commoner than a host without IPv4. */
export const systemResolver: Resolver = (host) => lookup(host, { all: true, verbatim: false });

/**
 * The one address a request will go to, however often the name is asked again. A name with any address that is not
 * public is refused as a whole: that is what rebinding and a poisoned resolver look like.
 */
export async function pinHost(
  host: string,
  resolve: Resolver,
): Promise<({ readonly ok: true } & Address) | Refusal> {
  let addresses: readonly Address[];
  try {
    addresses = await resolve(host);
  } catch (error) {
    return refuse('URL_UNRESOLVED', `${host} cannot be resolved: ${messageOf(error)}`);
  }
  const [first] = addresses;
  if (!first) return refuse('URL_UNRESOLVED', `${host} has no address.`);
  const inner = addresses.find(({ address }) => !isPublicAddress(address));
  if (inner)
    return refuse(
      'URL_PRIVATE',
      `${host} resolves to ${inner.address}, which is not on the public internet.`,
    );
  return { ok: true, ...first };
}
