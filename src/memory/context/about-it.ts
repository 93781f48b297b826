import type { Domain } from '../../core/incident.ts';
import type { Sql } from '../../core/sql.ts';
import type { SearchHit, Space } from '../../search/types.ts';
import type { Entities } from '../documents/document.ts';
import { documentSpace } from '../sync/sync-documents.ts';

/** Of one service: what has more of them than a turn can hold is pruned by whoever approves them. */
const MOST = 20;

interface Row extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly store: string;
  readonly title: string;
  readonly content: string;
  readonly updated_at: string;
  readonly all: number;
}

export interface AboutIt {
  readonly hits: readonly SearchHit[];
  /** How many there are beyond the bound. */
  readonly leftOut: number;
}

/**
 * Documents that an admin approved and that say of themselves to be about one of these names, as hits of no score, so that they are there
 * also where they share no word with what is asked: at most 20, newest first. `shop` is not `shop-api`.
 *
 * @param names of the service and the target
 */
export async function documentsAbout(
  sql: Sql,
  { spaces, domain }: { readonly spaces: readonly Space[]; readonly domain: Domain | null },
  names: readonly string[],
): Promise<AboutIt> {
  if (names.length === 0) return { hits: [], leftOut: 0 };
  const open = spaces.flatMap(({ kind, scope }) => (kind === 'document' ? [scope] : []));
  const wanted = names.map((name) => name.toLowerCase());
  const rows = await sql<Row>`
    SELECT d.id, d.store, d.title, d.content, d.updated_at, count(*) OVER ()::int AS all FROM memory_document d
     WHERE d.scope = 'workspace' AND d.trust = 'admin_approved' AND d.retired_at IS NULL AND coalesce(d.domain = ${domain}, true)
       AND d.store IN (SELECT jsonb_array_elements_text(${sql.json(open)})) AND EXISTS (
       SELECT FROM jsonb_array_elements_text(
                coalesce(d.entities->'service', '[]') || coalesce(d.entities->'resource', '[]')) AS name
        WHERE lower(name) IN (SELECT jsonb_array_elements_text(${sql.json(wanted)})))
     ORDER BY d.updated_at DESC, d.id LIMIT ${MOST}`;
  const hits = rows.map(({ id, store, title, content, updated_at }) => ({
    space: documentSpace(store, null),
    key: id,
    title,
    metadata: {},
    updatedAt: updated_at,
    text: content,
    score: 0,
    shares: { body: 0, title: 0, meaning: 0, terms: [] },
  }));
  return { hits, leftOut: (rows[0]?.all ?? 0) - hits.length };
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
