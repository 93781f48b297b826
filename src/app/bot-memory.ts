import type { Config } from '../config/config.ts';
import type { IncidentId } from '../core/ids.ts';
import type { Domain } from '../core/incident.ts';
import type { IncidentRecord } from '../core/incident-record.ts';
import type { Log } from '../core/log.ts';
import type { Sql } from '../core/sql.ts';
import type { Audiences } from '../memory/audiences.ts';
import { createPrepare } from '../memory/context/prepare.ts';
import { createRecordShown } from '../memory/context/record-shown.ts';
import {
  createSearchForPerson,
  createSearchMemories,
  createSearchWords,
  createSearchWorkspace,
} from '../memory/context/search-memories.ts';
import type { Documents } from '../memory/documents/documents.ts';
import type { MemoryAudit, MemoryEvents } from '../memory/documents/ports.ts';
import { seedStores } from '../memory/documents/seed-stores.ts';
import { createMemory, type FilesSeen, type Memory } from '../memory/memory.ts';
import { createIndexKeeper } from '../memory/sync/keep-index.ts';
import { syncRunbooks } from '../memory/sync/sync-runbooks.ts';
import type { Runbook } from '../runbooks/runbook.ts';
import type { Embedder, VectorStore } from '../search/ports.ts';
import { createRetrieval } from '../search/retrieval.ts';

/** All of memory as the bot uses it: recall, what a model's turns get, documents with search, and what runs behind it. */
export function createBotMemory(deps: {
  readonly sql: Sql;
  readonly records: MemoryEvents & { load(id: IncidentId): Promise<IncidentRecord | null> };
  readonly audit: MemoryAudit;
  readonly vectors: VectorStore;
  readonly embedder: Embedder;
  readonly documents: Documents;
  readonly audiences: Audiences;
  readonly runbooks: () => readonly Runbook[];
  readonly domains: readonly Domain[];
  readonly settings: Pick<Config['memory'], 'enabled' | 'tokenBudget' | 'trustThreshold'>;
  readonly redact: (text: string) => string;
  readonly log: Log;
  /** How long a turn waits for memory, see `PrepareDeps`. */
  readonly limitMs?: number;
}) {
  const { sql, records, settings, log } = deps;
  const { enabled } = settings;
  const retrieval = createRetrieval(deps);
  const keeper = createIndexKeeper({ sql, retrieval, load: (id) => records.load(id), log });
  const refresh = () => keeper.refreshDocuments();
  const memory: Memory = createMemory({ ...deps, retrieval, enabled });

  return {
    ...memory,
    enabled,
    prepare: createPrepare({ ...deps, ...settings, retrieval, refresh }),
    recordShown: createRecordShown({ ...deps, events: records }),
    /** While memory is off: documents alone, by words in common. */
    search: enabled
      ? createSearchMemories({ ...deps, retrieval, refresh })
      : createSearchWords(deps.documents),
    searchForPerson: createSearchForPerson({ ...deps, enabled, retrieval, refresh }),
    searchWorkspace: createSearchWorkspace({ ...deps, enabled, retrieval }),
    /** Promoted runbooks are found like those of the files. */
    async indexPromoted(runbooks: readonly Runbook[]): Promise<void> {
      if (!enabled) return;
      for (const domain of deps.domains)
        await syncRunbooks(retrieval, domain, runbooks, { origin: 'promoted' });
    },
    start(runbooks: readonly Runbook[], seen: FilesSeen = {}): void {
      memory.start(runbooks, seen);
      if (enabled) keeper.start();
    },
    /** The default stores; none while memory is off, so that nothing can be written. */
    async seedStores(): Promise<void> {
      if (enabled) await seedStores(sql);
    },
    async stop(): Promise<void> {
      // The embedder first: what waits for it ends.
      await memory.stop();
      await keeper.stop();
    },
  };
}
