import { asIncidentId } from '../../core/ids.ts';
import type { Domain } from '../../core/incident.ts';
import type { SqlRow, Tx } from '../../core/sql.ts';
import { readFacts } from '../systems/system-facts.ts';
import type { Promotion } from './ports.ts';

/** A proposal with what it proposes and what stands in the workspace now; null when there is none of that id. */
export async function loadPromotion(tx: Tx, jobId: string): Promise<Promotion | null> {
  const [row] = await tx`
    SELECT j.*, i.document_id, i.version, i.target_store, i.target_path, i.current_sha256, i.result_id, i.result_version,
           v.title, v.doc_type, v.content, v.sha256, v.system, now.sha256 AS now_sha256, now.content AS now_content, made.sha256 AS made_sha256
    FROM dream_job j
    JOIN dream_review_item i ON i.job_id = j.id
    JOIN memory_version v ON v.document_id = i.document_id AND v.number = i.version
    LEFT JOIN memory_version made ON made.document_id = i.result_id AND made.number = i.result_version
    LEFT JOIN memory_document now ON now.store = i.target_store AND now.path = i.target_path AND now.incident_id IS NULL
    WHERE j.id = ${jobId} AND j.kind = 'promotion'`;
  if (!row) return null;
  const refs = await tx`
    SELECT kind, ref FROM memory_source_ref
    WHERE document_id = ${String(row['document_id'])} AND version = ${Number(row['version'])} ORDER BY kind, ref`;
  return toPromotion(row, refs);
}

function toPromotion(row: SqlRow, refs: readonly SqlRow[]): Promotion {
  const text = (column: string): string => String(row[column]);
  const orNull = (column: string): string | null => (row[column] == null ? null : text(column));
  const incident = orNull('incident_id');
  const nowSha256 = orNull('now_sha256');
  const resultId = orNull('result_id');
  return {
    jobId: text('id'),
    state: row['state'] as Promotion['state'],
    incidentId: incident === null ? null : asIncidentId(incident),
    domain: row['domain'] as Domain,
    rationale: text('rationale'),
    proposedBy: text('proposed_by'),
    proposedAt: text('proposed_at'),
    decidedBy: orNull('decided_by'),
    decidedAt: orNull('decided_at'),
    reason: orNull('reason'),
    documentId: text('document_id'),
    version: Number(row['version']),
    title: text('title'),
    docType: row['doc_type'] as Promotion['docType'],
    content: text('content'),
    sha256: text('sha256'),
    system: readFacts(row['system']),
    sources: refs.map(({ kind, ref }) => ({ kind: String(kind), ref: String(ref) })),
    target: { store: text('target_store'), path: text('target_path') },
    current: nowSha256 === null ? null : { sha256: nowSha256, content: text('now_content') },
    currentSha256AtProposal: orNull('current_sha256'),
    result: resultId === null ? null : { documentId: resultId, version: Number(row['result_version']) },
    edited: row['made_sha256'] != null && row['made_sha256'] !== row['sha256'],
  };
}
