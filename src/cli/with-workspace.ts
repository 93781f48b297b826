import type { WorkspaceSettings } from '../actions/policy/workspace-settings.ts';
import { createMemoryDocuments } from '../app/memory-documents.ts';
import { settingsInForce } from '../app/settings-in-force.ts';

import type { Promotions } from '../memory/promotion/promotions.ts';
import type { WorkspaceMemory } from '../memory/promotion/workspace-memory.ts';
import { createRecords } from '../record/record.ts';
import { readRunbookFiles } from '../runbooks/load-runbooks.ts';
import { createAuditLog } from '../safety/audit/audit-chain.ts';
import { allTools } from '../targets/all-tools.ts';
import { domainsOf } from '../targets/domains.ts';
import { kinds } from '../targets/kinds.ts';
import { createRegistry } from '../tools/registry.ts';
import { withStore } from './with-store.ts';

/** What everybody's memory says, and what waits to become part of it, for a command. */
export function withWorkspace<T>(
  use: (memory: { readonly promotions: Promotions; readonly workspace: WorkspaceMemory }) => Promise<T>,
): Promise<T> {
  return withStore(async ({ sql }, config) => {
    const settings = await settingsInForce(sql, config);
    return use(
      createMemoryDocuments({
        sql,
        events: createRecords(sql),
        audit: createAuditLog(sql),
        enabled: config.memory.enabled,
        isAdmin: async (user) => isNamedAdmin(settings, user),
        runbooks: {
          tools: createRegistry(allTools),
          domains: domainsOf(kinds),
          sources: await readRunbookFiles(config.runbooksDir),
        },
        dryRun: null,
      }),
    );
  });
}

/** Groups and channels can only be asked through Slack, which a command does not reach. */
function isNamedAdmin({ admins }: Pick<WorkspaceSettings, 'admins'>, user: string): boolean {
  return admins.some((principal) => principal.kind === 'user' && principal.id === user);
}

export const notAdminHint =
  'Name by --as somebody whom /sentry settings in Slack, or SENTRY_ADMINS, lists among the admins as a person (groups cannot be asked from here).';
