import type { Sql } from '../../core/sql.ts';
import { type SearchHit, type Space, spaceName } from '../../search/types.ts';
import type { Entities } from '../documents/document.ts';
import { documentSpace } from '../sync/sync-documents.ts';

/** Of one service; newest first. */
const MOST = 20;

interface Row extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly store: string;
  readonly title: string;
  readonly content: string;
  readonly updated_at: string;
}

/**
 * Documents that an admin approved and that say of themselves to be about one of these names, as hits of no score, so that they are there
 * also where they share no word with what is asked. `shop` is not `shop-api`.
 *
 * @param names of the service and the target
 */
export async function documentsAbout(
  sql: Sql,
  spaces: readonly Space[],
  names: readonly string[],
): Promise<readonly SearchHit[]> {
  if (names.length === 0) return [];
  const open = new Set(spaces.map(spaceName));
  const wanted = names.map((name) => name.toLowerCase());
  const rows = await sql<Row>`
    SELECT d.id, d.store, d.title, d.content, d.updated_at FROM memory_document d
     WHERE d.scope = 'workspace' AND d.trust = 'admin_approved' AND d.retired_at IS NULL AND EXISTS (
       SELECT FROM jsonb_array_elements_text(
                coalesce(d.entities->'service', '[]') || coalesce(d.entities->'resource', '[]')) AS name
        WHERE lower(name) IN (SELECT jsonb_array_elements_text(${sql.json(wanted)})))`;
  return rows
    .map(({ id, store, title, content, updated_at }) => ({
      space: documentSpace(store, null),
      key: id,
      title,
      metadata: {},
      updatedAt: updated_at,
      text: content,
      score: 0,
      shares: { body: 0, title: 0, meaning: 0, terms: [] },
    }))
    .filter(({ space }) => open.has(spaceName(space)))
    .toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
    .slice(0, MOST);
}

/** Whether a hit is a document that an admin approved and that is about one of these names: it says so, or its title has the very name. */
export function isAboutIt({ title, metadata }: SearchHit, names: readonly string[]): boolean {
  if (metadata['trust'] !== 'admin_approved') return false;
  const { service = [], resource = [] } = (metadata['entities'] ?? {}) as Partial<Entities>;
  const said = [...service, ...resource].map((name) => name.toLowerCase());
  // A name goes on over these: what `shop` is said of is not said of `shop-api`.
  const inTitle = title.toLowerCase().split(/[^a-z0-9_.-]+/);
  return names
    .map((name) => name.toLowerCase())
    .some((name) => said.includes(name) || inTitle.includes(name));
}
