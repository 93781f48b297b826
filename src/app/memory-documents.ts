import type { Sql } from '../domain/sql.ts';
import { createDocuments, type Documents } from '../memory/documents/documents.ts';
import type { MemoryAudit, MemoryEvents } from '../memory/documents/ports.ts';
import type { RunbookRules } from '../memory/promotion/check-runbook.ts';
import type { IsAdmin, PromotionNotifier } from '../memory/promotion/ports.ts';
import { createPromotions, type Promotions } from '../memory/promotion/promotions.ts';

/** Documents and promotion over one database, for the bot and for commands alike. */
export function createMemoryDocuments(deps: {
  readonly sql: Sql;
  readonly events: MemoryEvents;
  readonly audit: MemoryAudit;
  readonly enabled: boolean;
  readonly isAdmin: IsAdmin;
  readonly runbooks: RunbookRules;
  readonly notifier: PromotionNotifier;
}): { readonly documents: Documents; readonly promotions: Promotions } {
  const documents = createDocuments(deps);
  return { documents, promotions: createPromotions({ ...deps, documents }) };
}
