import type { SearchMemories } from '../../memory/context/search-memories.ts';
import type { Documents } from '../../memory/documents/documents.ts';
import type { Promotions } from '../../memory/promotion/promotions.ts';

/** What the memory tools work on. */
export interface MemoryToolsPort {
  readonly documents: Pick<Documents, 'read' | 'list' | 'history' | 'write' | 'patch'>;
  readonly search: SearchMemories;
  readonly promotions: Pick<Promotions, 'propose'>;
}
