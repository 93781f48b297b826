import type { Sql } from '../core/sql.ts';
import { createDocuments, type Documents } from '../memory/documents/documents.ts';
import type { MemoryAudit, MemoryEvents } from '../memory/documents/ports.ts';
import type { RunbookRules } from '../memory/promotion/check-runbook.ts';
import type { IsAdmin, RunDry } from '../memory/promotion/ports.ts';
import { createPromotions, type Promotions } from '../memory/promotion/promotions.ts';
import { createWorkspaceMemory, type WorkspaceMemory } from '../memory/promotion/workspace-memory.ts';

/** Documents and promotion over one database, for commands. */
export function createMemoryDocuments(deps: {
  readonly sql: Sql;
  readonly events: MemoryEvents;
  readonly audit: MemoryAudit;
  readonly enabled: boolean;
  readonly isAdmin: IsAdmin;
  readonly runbooks: RunbookRules;
  /** Null: no system can be read from here. */
  readonly dryRun: RunDry | null;
}): { readonly documents: Documents; readonly promotions: Promotions; readonly workspace: WorkspaceMemory } {
  const documents = createDocuments({ ...deps, domains: deps.runbooks.domains });
  return {
    documents,
    promotions: createPromotions({ ...deps, documents }),
    workspace: createWorkspaceMemory({ ...deps, documents }),
  };
}
