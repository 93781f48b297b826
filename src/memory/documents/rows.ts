import type { RowOf } from '../../core/sql.ts';
import { readFacts } from '../systems/system-facts.ts';
import {
  type MemoryContent,
  type MemoryDocument,
  type MemoryVersion,
  noEntities,
  type SourceRef,
} from './document.ts';

/** A row of `memory_document` joined with its store's `owner`. */
export type DocumentRow = RowOf<MemoryDocument>;
export type VersionRow = RowOf<Omit<MemoryVersion, 'sources'>>;

export function toDocument(row: DocumentRow): MemoryDocument {
  return {
    id: row.id,
    store: row.store,
    scope: row.scope,
    owner: row.owner,
    incidentId: row.incident_id,
    path: row.path,
    version: row.version,
    ...toContent(row),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    retiredAt: row.retired_at,
  };
}

export function toVersion(row: VersionRow, sources: readonly SourceRef[]): MemoryVersion {
  return { number: row.number, ...toContent(row), writer: row.writer, at: row.at, sources };
}

function toContent(row: RowOf<MemoryContent>): MemoryContent {
  return {
    sha256: row.sha256,
    title: row.title,
    content: row.content,
    docType: row.doc_type,
    trust: row.trust,
    domain: row.domain,
    entities: { ...noEntities, ...row.entities },
    system: readFacts(row.system),
    author: row.author,
  };
}
