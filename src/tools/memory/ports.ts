import type { Documents } from '../../memory/documents/documents.ts';
import type { Promotions } from '../../memory/promotion/promotions.ts';

/** What the memory tools work on. */
export interface MemoryToolsPort {
  readonly documents: Pick<Documents, 'search' | 'read' | 'list' | 'history' | 'write' | 'patch'>;
  readonly promotions: Pick<Promotions, 'propose'>;
}
