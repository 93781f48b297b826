import type { Config } from '../config/config.ts';
import type { FetchPage } from '../incidents/context/status-pages.ts';
import { fetchDocs } from '../safety/urls/fetch-docs.ts';
import type { Docs } from '../tools/ports.ts';
import type { Parts } from './parts.ts';

/** Ports on which this very Sentry, its own servers and its playground listen now: their answers are not for models. */
export function ownPorts({
  config,
  store,
  chromaHost,
  slack,
  playgroundPorts,
}: Pick<Parts, 'config' | 'store' | 'chromaHost' | 'slack' | 'playgroundPorts'>): readonly number[] {
  const servers = [store.url, chromaHost, slack.apiUrl].flatMap((url) => (url ? [portOf(url)] : []));
  return [config.http.port, ...servers, ...playgroundPorts];
}

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return Number(port) || (protocol === 'https:' ? 443 : protocol === 'http:' ? 80 : 5432);
}

/** The pages that `fetch_docs` may read. */
export function docsOf(config: Pick<Config, 'docsHosts'>): Docs {
  return {
    hosts: config.docsHosts,
    fetch: (url, { timeoutMs, signal }) => fetchDocs(url, { allow: config.docsHosts, timeoutMs, signal }),
  };
}

/** A page of a service that others run: at its own host alone, and at a public address. */
export const fetchPage: FetchPage = (host, path) =>
  fetchDocs(`https://${host}${path}`, { allow: [host], timeoutMs: 8_000 });
