import { type Refusal, refuse } from '../../core/errors.ts';
import type { Sql, Tx } from '../../core/sql.ts';
import { storable } from '../../core/storable.ts';
import type { Runbook } from '../../runbooks/runbook.ts';
import { scan } from '../../safety/screen/scan.ts';
import { sha256 } from '../../safety/sha256.ts';
import type { MemoryDocument, SourceRef } from '../documents/document.ts';
import { tellRefusal, versionsOf } from '../documents/documents.ts';
import type { NewDocument } from '../documents/new-document.ts';
import type { MemoryAudit, MemoryEvents } from '../documents/ports.ts';
import {
  type DocumentWrite,
  type WriteRefusal,
  type Writer,
  writeDocument,
} from '../documents/write-document.ts';
import { badRunbook, checkRunbook, type RunbookRules } from './check-runbook.ts';
import { type DryRunDeps, ensureDryRun, findDryRun } from './dry-runs.ts';
import { loadPromotion } from './load-promotion.ts';
import type { IsAdmin, Promotion } from './ports.ts';
import { queueChunks } from './promoted-chunks.ts';

export interface PromotionDecision {
  readonly jobId: string;
  /** A Slack user id. */
  readonly by: string;
  readonly decision: /** `content`: the admin's edited text; left out, the proposed version as it is. */
    | { readonly kind: 'approve'; readonly content?: string }
    | { readonly kind: 'reject'; readonly reason: string };
  /**
   * The SHA-256 of the workspace document that the admin saw beside the draft, null for none; left out, what stood there
   * when it was proposed. Something else stands there now: nothing is decided.
   */
  readonly currentSha256?: string | null;
}

export type Decided =
  | { readonly ok: true; readonly promotion: Promotion; readonly document: MemoryDocument | null }
  | WriteRefusal;

export interface DecideDeps extends DryRunDeps {
  readonly sql: Sql;
  readonly events: MemoryEvents;
  readonly audit: MemoryAudit;
  readonly isAdmin: IsAdmin;
  readonly runbooks: RunbookRules;
}

const REASON_MAX = 1_000;

/** See `Promotions.decide`. */
export function createDecide(deps: DecideDeps): (decision: PromotionDecision) => Promise<Decided> {
  const { sql, audit } = deps;
  return async (decision) => {
    const { jobId, by } = decision;
    if (!(await deps.isAdmin(by))) {
      await sql.begin((tx) =>
        audit.appendIn(tx, {
          kind: 'memory.promotion.refused',
          actor: by,
          details: { job: jobId.slice(0, 60), decision: decision.decision.kind, code: 'NOT_ADMIN' },
        }),
      );
      return refuse('NOT_ADMIN', 'Only admins decide what everybody’s memory says.');
    }
    const reason = reasonOf(decision);
    if (typeof reason !== 'string') return reason;
    const untried = await tried(deps, decision);
    if (untried) return untried;
    let undone: Undone | undefined;
    const answer = await sql
      .begin((tx) => settle(tx, deps, decision, reason))
      .catch((error: unknown): Decided => {
        if (!(error instanceof Undone)) throw error;
        undone = error;
        return error.refusal;
      });
    // The decision is taken back with everything in it; that it was refused is on record all the same.
    if (undone) {
      const { writer, write, refusal } = undone;
      await sql.begin((tx) => tellRefusal(tx, deps, writer, write, refusal));
    }
    return answer;
  };
}

/** Before the transaction: reading a live system takes seconds. Whether it may be decided at all is the transaction's to say. */
async function tried(deps: DecideDeps, { jobId, decision }: PromotionDecision): Promise<Refusal | undefined> {
  if (decision.kind === 'reject') return undefined;
  const promotion = await loadPromotion(deps.sql, jobId);
  if (promotion?.state !== 'pending') return undefined;
  const { incidentId, target } = promotion;
  const content = decision.content ?? promotion.content;
  // What the scanner would refuse, or is no document at all, is not run either; the write says so.
  if (content.trim() === '' || scan(content, { scope: 'workspace', byPerson: true }).blocked)
    return undefined;
  return ensureDryRun(deps, { jobId, incidentId, path: target.path, content });
}

/** Empty for an approval. */
function reasonOf({ decision }: PromotionDecision): string | Refusal {
  if (decision.kind === 'approve') return '';
  const reason = storable(decision.reason).trim().slice(0, REASON_MAX);
  if (reason === '')
    return refuse('MEMORY_BAD_INPUT', 'Say why it is rejected; whoever proposed it will read it.');
  return scan(reason, { scope: 'workspace', byPerson: true }).blocked
    ? refuse('MEMORY_WRITE_BLOCKED', 'The reason holds something that must not be kept.')
    : reason;
}

async function settle(tx: Tx, deps: DecideDeps, given: PromotionDecision, reason: string): Promise<Decided> {
  const { jobId, by, decision } = given;
  const state = decision.kind === 'approve' ? 'approved' : 'rejected';
  // The one decision: whoever comes second waits here and then finds no pending job.
  const [job] = await tx`
    UPDATE dream_job SET state = ${state}, decided_by = ${by}, decided_at = clock_timestamp(), reason = ${reason}
    WHERE id = ${jobId} AND kind = 'promotion' AND state = 'pending' RETURNING id`;
  const promotion = await loadPromotion(tx, jobId);
  if (!promotion) return refuse('MEMORY_NOT_FOUND', 'There is no such proposal.');
  if (!job)
    return refuse(
      'MEMORY_DECIDED',
      `<@${promotion.decidedBy ?? ''}> ${promotion.state} it already, at ${promotion.decidedAt ?? ''}.`,
    );
  const document =
    decision.kind === 'approve' ? await copy(tx, deps, given, promotion, decision.content) : null;
  await tell(tx, deps, given, promotion, reason);
  return { ok: true, promotion: (await loadPromotion(tx, jobId)) ?? promotion, document };
}

/** Throws Undone, and with it the transaction away, when it cannot stand in the workspace. */
async function copy(
  tx: Tx,
  deps: DecideDeps,
  { jobId, by, currentSha256 }: PromotionDecision,
  promotion: Promotion,
  edited: string | undefined,
): Promise<MemoryDocument> {
  const { target, incidentId, domain } = promotion;
  const content = edited ?? promotion.content;
  const draft = (await versionsOf(tx, promotion.documentId)).find(
    ({ number }) => number === promotion.version,
  );
  const write: DocumentWrite = {
    place: { store: target.store, incidentId: null },
    document: {
      path: target.path,
      title: promotion.title,
      content,
      docType: promotion.docType,
      domain,
      entities: structuredClone(draft?.entities) as NewDocument['entities'],
    },
    sources: sourcesOf(promotion, draft?.sources ?? []),
    system: draft?.system ?? null,
    base: currentSha256 === undefined ? promotion.currentSha256AtProposal : currentSha256,
  };
  const writer: Writer = { kind: 'promotion', userId: by, incidentId };
  const checked = checkRunbook(target.path, content, deps.runbooks);
  const written =
    checked.kind === 'wrong'
      ? badRunbook(checked.problems)
      : checked.kind === 'runbook' && !(await mayRun(tx, jobId, checked.runbook, content))
        ? refuse('MEMORY_DRY_RUN', 'Its steps have not been tried yet.')
        : await writeDocument(tx, writer, write);
  if (!written.ok) throw new Undone(writer, write, written);
  const { document } = written;
  await tx`
    UPDATE dream_review_item SET result_id = ${document.id}, result_version = ${document.version}
    WHERE job_id = ${jobId}`;
  await queueChunks(tx, document, domain, checked.kind === 'runbook' ? checked.runbook : null);
  return document;
}

/** The steps of exactly this text have been tried and worked, or it has none. */
async function mayRun(tx: Tx, jobId: string, { steps }: Runbook, content: string): Promise<boolean> {
  return steps.length === 0 || (await findDryRun(tx, jobId, sha256(content)))?.passed === true;
}

async function tell(
  tx: Tx,
  { events, audit }: DecideDeps,
  { jobId, by, decision }: PromotionDecision,
  { incidentId, target, documentId, version, sha256 }: Promotion,
  reason: string,
): Promise<void> {
  if (incidentId)
    await events.append(tx, incidentId, {
      type: 'memory.promotion.decided',
      jobId,
      path: target.path,
      decision: decision.kind === 'approve' ? 'approved' : 'rejected',
      by,
      reason,
    });
  await audit.appendIn(tx, {
    kind: 'memory.promotion.decided',
    actor: by,
    incidentId,
    details: {
      job: jobId,
      decision: decision.kind,
      edited: decision.kind === 'approve' && decision.content !== undefined,
      draft: `${documentId}@${version}`,
      sha256,
    },
  });
}

/** The draft's own, and where it was: the version that an admin read. */
function sourcesOf(
  { documentId, version, incidentId }: Promotion,
  own: readonly SourceRef[],
): readonly SourceRef[] {
  return [
    ...own,
    { kind: 'document', ref: `${documentId}@${version}` },
    ...(incidentId ? [{ kind: 'incident', ref: incidentId } as const] : []),
  ];
}

/** Rolls the decision back: it was made, but what it decides cannot be. */
class Undone extends Error {
  readonly writer: Writer;
  readonly write: DocumentWrite;
  readonly refusal: WriteRefusal;

  constructor(writer: Writer, write: DocumentWrite, refusal: WriteRefusal) {
    super(refusal.reason);
    this.writer = writer;
    this.write = write;
    this.refusal = refusal;
  }
}
