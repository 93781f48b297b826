import type { LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { Address } from './resolve-host.ts';

/**
 * Connects to the pinned address whatever the host is called, with the host's name in SNI and in the certificate check;
 * the name is not looked up again.
 */
export function pinnedConnector(pinned: Address): buildConnector.connector {
  const lookup: LookupFunction = (_host, options, done) => {
    if (options.all) done(null, [{ address: pinned.address, family: pinned.family }]);
    else done(null, pinned.address, pinned.family);
  };
  return buildConnector({ lookup, timeout: 5000 });
}
