import type { SqlRow } from '../../core/sql.ts';
import { readFacts } from '../systems/system-facts.ts';
import {
  type Entities,
  type MemoryContent,
  type MemoryDocument,
  type MemoryVersion,
  noEntities,
  type SourceRef,
} from './document.ts';

/** A row of `memory_document` joined with its store's `owner`. */
export function toDocument(row: SqlRow): MemoryDocument {
  return {
    id: row['id'],
    store: row['store'],
    scope: row['scope'],
    owner: row['owner'] ?? null,
    incidentId: row['incident_id'] ?? null,
    path: row['path'],
    version: row['version'],
    ...toContent(row),
    createdAt: row['created_at'],
    updatedAt: row['updated_at'],
    retiredAt: row['retired_at'] ?? null,
  } as MemoryDocument;
}

export function toVersion(row: SqlRow, sources: readonly SourceRef[]): MemoryVersion {
  return {
    number: row['number'],
    ...toContent(row),
    writer: row['writer'],
    at: row['at'],
    sources,
  } as MemoryVersion;
}

function toContent(row: SqlRow): MemoryContent {
  return {
    sha256: row['sha256'],
    title: row['title'],
    content: row['content'],
    docType: row['doc_type'],
    trust: row['trust'],
    domain: row['domain'] ?? null,
    entities: { ...noEntities, ...(row['entities'] as Partial<Entities>) },
    system: readFacts(row['system']),
    author: row['author'],
  } as MemoryContent;
}
