import { statfs } from 'node:fs/promises';
import type { Config } from '../config/config.ts';
import { defaultCommandPolicy } from '../safety/commands/policy.ts';
import { runCommand } from '../safety/commands/run-command.ts';
import { applyPlan } from '../safety/diffs/apply-plan.ts';
import { planPatch } from '../safety/diffs/plan-patch.ts';
import { undoPatch } from '../safety/diffs/undo-patch.ts';
import { searchInside } from '../safety/grep/search-inside.ts';
import { checkPath } from '../safety/paths/check-path.ts';
import { readInside } from '../safety/paths/read-inside.ts';
import { walkInside } from '../safety/paths/walk-inside.ts';
import { fetchDocs } from '../safety/urls/fetch-docs.ts';
import type { Docs, HostAccess } from '../tools/ports.ts';

/** This machine, by the guards of `src/safety`. */
export const localAccess: HostAccess = {
  check: checkPath,
  read: readInside,
  walk: walkInside,
  search: searchInside,
  run: runCommand,
  plan: planPatch,
  apply: applyPlan,
  undo: undoPatch,
  async space(path) {
    const { bsize, blocks, bavail } = await statfs(path);
    return { size: blocks * bsize, free: bavail * bsize };
  },
};

/** Ports whose answers are not for models: the usual ones, and those of this very Sentry and its playground. */
export function deniedPorts(config: Config): readonly number[] {
  const workspace = config.slack.kind === 'playground' ? [config.slack.port] : [];
  const urls = [config.databaseUrl, config.chromaHost].flatMap((url) =>
    url ? [Number(new URL(url).port) || 5432] : [],
  );
  return [...defaultCommandPolicy.curlDeniedPorts, config.http.port, ...workspace, ...urls];
}

/** The pages that `fetch_docs` may read. */
export function docsOf(config: Pick<Config, 'docsHosts'>): Docs {
  return {
    hosts: config.docsHosts,
    fetch: (url, { timeoutMs, signal }) => fetchDocs(url, { allow: config.docsHosts, timeoutMs, signal }),
  };
}
