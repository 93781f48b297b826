import type { Domain } from '../../core/incident.ts';
import type { Tx } from '../../core/sql.ts';
import { chunkRunbook, type RunbookChunk } from '../../runbooks/chunk-runbook.ts';
import type { Runbook } from '../../runbooks/runbook.ts';
import { runbooksOf } from '../../search/collections.ts';
import type { VectorMetadata } from '../../search/ports.ts';
import type { MemoryDocument } from '../documents/document.ts';

/** What marks a chunk in Chroma as promoted: the seeding of files leaves it alone. */
export const PROMOTED = 'promoted';

export interface VectorEntry {
  readonly id: string;
  readonly document: string;
  readonly metadata: VectorMetadata;
}

/** A promoted document as search finds it: in pieces, each under its trail of titles. */
export function promotedChunks(document: MemoryDocument, runbook: Runbook | null): readonly VectorEntry[] {
  return chunkRunbook(runbook ?? asProse(document)).map((chunk, n) => ({
    id: chunkId(document.id, n),
    document: textOf(chunk),
    metadata: {
      runbook_id: runbook?.id ?? document.path,
      title: chunk.title,
      heading: chunk.heading,
      hash: document.sha256.slice(0, 32),
      source: PROMOTED,
      document_id: document.id,
      version: document.version,
      // As past incidents have it: Chroma takes no nested metadata.
      ...(document.system === null ? {} : { system_fingerprint: JSON.stringify(document.system) }),
    },
  }));
}

/**
 * Queues a promoted version for Chroma in the transaction that makes it: it is there when the version is, whether Chroma is
 * up or not. Pieces that an earlier version had beyond those of this one leave.
 */
export async function queueChunks(
  tx: Tx,
  document: MemoryDocument,
  domain: Domain,
  runbook: Runbook | null,
): Promise<void> {
  const chunks = promotedChunks(document, runbook);
  const collection = runbooksOf(domain);
  for (const { id, document: text, metadata } of chunks)
    await tx`
      INSERT INTO memory_outbox (collection, id, document, metadata)
      VALUES (${collection}, ${id}, ${text}, ${tx.json(metadata)})
      ON CONFLICT (collection, id) DO UPDATE SET document = EXCLUDED.document, metadata = EXCLUDED.metadata,
        removal = false, attempts = 0, next_at = clock_timestamp(), last_error = NULL`;
  await tx`
    SELECT memory_outbox_remove(d.chunk_collection, d.id || '#' || k)
    FROM memory_document d, generate_series(0, d.chunks - 1) AS k
    WHERE d.id = ${document.id} AND (k >= ${chunks.length} OR d.chunk_collection <> ${collection})`;
  await tx`UPDATE memory_document SET chunk_collection = ${collection}, chunks = ${chunks.length} WHERE id = ${document.id}`;
}

/** Its pieces leave Chroma. */
export async function unqueueChunks(tx: Tx, documentId: string): Promise<void> {
  await tx`
    SELECT memory_outbox_remove(d.chunk_collection, d.id || '#' || k)
    FROM memory_document d, generate_series(0, d.chunks - 1) AS k WHERE d.id = ${documentId}`;
  await tx`UPDATE memory_document SET chunk_collection = NULL, chunks = 0 WHERE id = ${documentId}`;
}

const chunkId = (documentId: string, n: number): string => `${documentId}#${n}`;

function textOf({ title, heading, text }: RunbookChunk): string {
  return heading === title || heading === '' ? `${title}\n${text}` : `${title} › ${heading}\n${text}`;
}

/** A text without steps, in the shape that runbooks are cut up in. */
function asProse(document: MemoryDocument): Runbook {
  return {
    id: document.path,
    title: document.title,
    domains: document.domain === null ? [] : [document.domain],
    version: document.version,
    type: document.docType,
    matches: { alerts: [], text: [], labels: {} },
    ignoreWhenHealthy: false,
    steps: [],
    verify: {},
    body: document.content,
    file: '',
  };
}
