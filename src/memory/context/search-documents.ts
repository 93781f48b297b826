import type { Documents } from '../documents/documents.ts';
import { entitiesOf } from '../ranking/entities-of.ts';
import { type FindDeps, findMemories } from './find-memories.ts';
import { documentSpacesOf } from './spaces.ts';

/** A person or a role waits for it: words answer at once, meaning may take this long. */
const MEANING_MS = 500;

/**
 * `Documents.search` by the retrieval that also prepares a model's turns: best first, every document as it is now and
 * readable by whoever asks.
 */
export function createSearchDocuments(
  deps: Omit<FindDeps, 'documents'> & {
    readonly documents: Pick<Documents, 'read'>;
    readonly refresh: () => Promise<void>;
  },
): Documents['search'] {
  return async (reader, text, limit) => {
    await deps.refresh();
    const { found } = await findMemories(deps, {
      reader,
      spaces: await documentSpacesOf(deps.sql, reader),
      texts: [text],
      entities: entitiesOf(text),
      domain: null,
      limit,
      meaningWithinMs: MEANING_MS,
    });
    const documents = await Promise.all(
      found.map(({ memory }) => deps.documents.read(reader, { id: memory.id })),
    );
    return documents.filter((document) => document !== null);
  };
}
