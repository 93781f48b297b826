import { OpsError } from '../../core/errors.ts';
import type { Sql } from '../../core/sql.ts';
import { conventions } from './conventions.ts';
import { conventionsStore, conversationStore, runbooksStore } from './document.ts';
import { writeDocument } from './write-document.ts';

const defaultStores = [
  { slug: conventionsStore, scope: 'workspace', title: 'How we work here' },
  { slug: runbooksStore, scope: 'workspace', title: 'Reviewed runbooks and what else was promoted' },
  { slug: conversationStore, scope: 'conversation', title: 'Drafts of incidents, each for its own thread' },
] as const;

/**
 * The three default stores, and the four documents of a convention store that is new. A store that is there already is
 * left as it is: what an admin has edited or retired stays so. Several processes may start at once.
 *
 * @returns how many stores and documents were made.
 */
export async function seedStores(sql: Sql): Promise<{ readonly stores: number; readonly documents: number }> {
  return sql.begin(async (tx) => {
    let documents = 0;
    const made = new Set<string>();
    for (const { slug, scope, title } of defaultStores) {
      const rows = await tx`
        INSERT INTO memory_store (slug, scope, title) VALUES (${slug}, ${scope}, ${title})
        ON CONFLICT (slug) DO NOTHING RETURNING slug`;
      if (rows.length > 0) made.add(slug);
    }
    for (const document of made.has(conventionsStore) ? conventions : []) {
      const written = await writeDocument(
        tx,
        { kind: 'system' },
        { place: { store: conventionsStore, incidentId: null }, document, sources: [] },
      );
      if (!written.ok)
        throw new OpsError('MEMORY_SEED', `${document.path} could not be seeded: ${written.reason}`, {
          hint: 'A document that ships with Sentry does not pass its own checks. Report this.',
        });
      documents += 1;
    }
    return { stores: made.size, documents };
  });
}
