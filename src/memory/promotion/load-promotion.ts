import type { RowOf, Tx } from '../../core/sql.ts';
import { readFacts } from '../systems/system-facts.ts';
import type { Promotion } from './ports.ts';

/** A proposal with what it proposes and what stands in the workspace now; null when there is none of that id. */
export async function loadPromotion(tx: Tx, jobId: string): Promise<Promotion | null> {
  const [row] = await tx<PromotionRow>`
    SELECT j.*, i.document_id, i.version, i.target_store, i.target_path, i.current_sha256, i.result_id, i.result_version,
           v.title, v.doc_type, v.content, v.sha256, v.system, now.sha256 AS now_sha256, now.content AS now_content, made.sha256 AS made_sha256
    FROM dream_job j
    JOIN dream_review_item i ON i.job_id = j.id
    JOIN memory_version v ON v.document_id = i.document_id AND v.number = i.version
    LEFT JOIN memory_version made ON made.document_id = i.result_id AND made.number = i.result_version
    LEFT JOIN memory_document now ON now.store = i.target_store AND now.path = i.target_path AND coalesce(now.incident_id, '') = ''
    WHERE j.id = ${jobId} AND j.kind = 'promotion'`;
  if (!row) return null;
  const refs = await tx<Promotion['sources'][number]>`
    SELECT kind, ref FROM memory_source_ref
    WHERE document_id = ${row.document_id} AND version = ${row.version} ORDER BY kind, ref`;
  return toPromotion(row, refs);
}

/** A row of `dream_job` with its review item, the version it proposes and what stands at its target. */
type PromotionRow = RowOf<
  Omit<
    Promotion,
    'jobId' | 'sources' | 'target' | 'current' | 'currentSha256AtProposal' | 'result' | 'edited'
  >
> & {
  readonly id: string;
  readonly target_store: string;
  readonly target_path: string;
  readonly current_sha256: string | null;
  readonly result_id: string | null;
  readonly result_version: number;
  readonly now_sha256: string | null;
  readonly now_content: string;
  readonly made_sha256: string | null;
};

function toPromotion(row: PromotionRow, sources: Promotion['sources']): Promotion {
  return {
    jobId: row.id,
    state: row.state,
    incidentId: row.incident_id,
    domain: row.domain,
    rationale: row.rationale,
    proposedBy: row.proposed_by,
    proposedAt: row.proposed_at,
    decidedBy: row.decided_by,
    decidedAt: row.decided_at,
    reason: row.reason,
    documentId: row.document_id,
    version: row.version,
    title: row.title,
    docType: row.doc_type,
    content: row.content,
    sha256: row.sha256,
    system: readFacts(row.system),
    sources,
    target: { store: row.target_store, path: row.target_path },
    current: row.now_sha256 === null ? null : { sha256: row.now_sha256, content: row.now_content },
    currentSha256AtProposal: row.current_sha256,
    result: row.result_id === null ? null : { documentId: row.result_id, version: row.result_version },
    edited: row.made_sha256 !== null && row.made_sha256 !== row.sha256,
  };
}
