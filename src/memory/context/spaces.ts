import type { Domain } from '../../core/incident.ts';
import type { Sql } from '../../core/sql.ts';
import type { Space } from '../../search/types.ts';
import { type Reader, reachOf } from '../documents/access.ts';
import { conversationStore, userStore } from '../documents/document.ts';
import { documentSpace } from '../sync/sync-documents.ts';

/** Where the documents stand that somebody may read. What is found there is held against `mayRead` once more. */
export async function documentSpacesOf(sql: Sql, reader: Reader): Promise<readonly Space[]> {
  const { all, owners, incidents } = reachOf(reader);
  if (all) {
    const rows = await sql<{ store: string; incident_id: string | null }>`
      SELECT DISTINCT store, incident_id FROM memory_document`;
    return rows.map(({ store, incident_id }) => documentSpace(store, incident_id));
  }
  const rows = await sql<{
    slug: string;
  }>`SELECT slug FROM memory_store WHERE scope = 'workspace' ORDER BY slug`;
  return [
    ...rows.map(({ slug }) => documentSpace(slug, null)),
    ...incidents.map((id) => documentSpace(conversationStore, id)),
    ...owners.map((owner) => documentSpace(userStore(owner), null)),
  ];
}

/** Runbooks and past incidents of the incident's own domain, and of no other. */
export function domainSpaces(domain: Domain): readonly Space[] {
  return [
    { kind: 'runbook', scope: domain },
    { kind: 'incident', scope: domain },
  ];
}
