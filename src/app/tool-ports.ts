import type { Config } from '../config/config.ts';
import { fetchDocs } from '../safety/urls/fetch-docs.ts';
import type { Docs } from '../tools/ports.ts';

/** Ports of this very Sentry and its playground, whose answers are not for models. */
export function ownPorts(config: Config): readonly number[] {
  const workspace = config.slack.kind === 'playground' ? [config.slack.port] : [];
  const urls = [config.databaseUrl, config.chromaHost].flatMap((url) =>
    url ? [Number(new URL(url).port) || 5432] : [],
  );
  return [config.http.port, ...workspace, ...urls];
}

/** The pages that `fetch_docs` may read. */
export function docsOf(config: Pick<Config, 'docsHosts'>): Docs {
  return {
    hosts: config.docsHosts,
    fetch: (url, { timeoutMs, signal }) => fetchDocs(url, { allow: config.docsHosts, timeoutMs, signal }),
  };
}
