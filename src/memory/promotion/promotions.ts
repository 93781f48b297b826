import { refuse } from '../../core/errors.ts';
import { type Domain, domains } from '../../core/incident.ts';
import { storable } from '../../core/storable.ts';
import { scan } from '../../safety/screen/scan.ts';
import type { Reader } from '../documents/access.ts';
import { conventionsStore, type MemoryDocument, runbooksStore } from '../documents/document.ts';
import { type DocumentRef, type Documents, tellRefusal } from '../documents/documents.ts';
import type { DocumentWrite, WriteRefusal, Writer } from '../documents/write-document.ts';
import { denied } from '../policy.ts';
import { badRunbook, checkRunbook } from './check-runbook.ts';
import { createDecide, type DecideDeps, type Decided, type PromotionDecision } from './decide.ts';
import { ensureDryRun, findDryRun, stepsOf } from './dry-runs.ts';
import { loadPromotion } from './load-promotion.ts';
import type { DryRun, Promotion } from './ports.ts';

export interface Proposal {
  readonly ref: DocumentRef;
  /** Why everybody should have it. */
  readonly rationale: string;
  /** Which incidents it is for. */
  readonly domain: Domain;
  /** A role, or a Slack user id. */
  readonly by: string;
}

export type Proposed =
  /** `again`: this version has been waiting for a decision already. */
  { readonly ok: true; readonly jobId: string; readonly again: boolean } | WriteRefusal;

/** A proposal with what the checks say of it now. */
export interface Review {
  readonly promotion: Promotion;
  /** Kinds that the safety scanner finds in text or rationale, as strict as for the workspace. */
  readonly findings: readonly string[];
  /** `wrong`: it means to be a runbook and is none. `steps`: the playbook will follow them. */
  readonly runbook:
    | { readonly kind: 'prose' }
    | { readonly kind: 'steps'; readonly id: string; readonly steps: number }
    | { readonly kind: 'wrong'; readonly reason: string };
  /** Of exactly the proposed text. */
  readonly dryRun: DryRun | null;
  /** Nothing is in the way of approving it as it is. */
  readonly mayApprove: boolean;
}

/** Drafts of incidents on their way into the workspace: nothing gets there unless an admin has read it. */
export interface Promotions {
  /**
   * Asks admins for a draft of a conversation. Expected refusals: MEMORY_NOT_FOUND, MEMORY_POLICY_DENIED (not a
   * conversation's), MEMORY_WRITE_BLOCKED (the scanner, as strict as for the workspace, in text and rationale),
   * MEMORY_BAD_RUNBOOK (steps that would not run), MEMORY_BAD_INPUT.
   */
  propose(reader: Reader, proposal: Proposal): Promise<Proposed>;
  /**
   * Decides once. Approved: the version that was proposed, or the admin's edit of it, stands in the workspace as
   * `admin_approved` with its sources and is queued for Chroma, all in one transaction; scanned and checked again. Rejected:
   * the draft stays as it is. Refusals decide nothing: NOT_ADMIN, MEMORY_DECIDED, MEMORY_STALE, and those of `propose`.
   */
  decide(decision: PromotionDecision): Promise<Decided>;
  get(jobId: string): Promise<Promotion | null>;
  /** What an admin has to know before deciding; null when there is no such proposal. */
  review(jobId: string): Promise<Review | null>;
  /** Tries the steps of what is proposed, unless they have passed, and tells the notifier. For a proposal without steps, or decided, nothing. */
  rehearse(jobId: string): Promise<void>;
  /** Pending ones whose steps nobody has tried yet: proposed by a process that died or by a command. */
  untried(): Promise<readonly string[]>;
  /** Oldest first: those that wait longest come first. */
  list(options?: { readonly pending?: boolean; readonly limit?: number }): Promise<readonly Promotion[]>;
}

export interface PromotionsDeps extends DecideDeps {
  readonly documents: Pick<Documents, 'read'>;
  readonly enabled: boolean;
}

const RATIONALE_MAX = 1_000;

export function createPromotions(deps: PromotionsDeps): Promotions {
  const { sql, events, audit } = deps;

  async function propose(reader: Reader, { ref, by, domain, ...given }: Proposal): Promise<Proposed> {
    if (!deps.enabled) return denied('Memory is off (MEMORY_ENABLED=false).');
    const rationale = storable(given.rationale).trim();
    if (rationale === '' || rationale.length > RATIONALE_MAX || !domains.includes(domain))
      return refuse(
        'MEMORY_BAD_INPUT',
        `A proposal has a rationale of 1 to ${RATIONALE_MAX} characters and a domain.`,
      );
    const draft = await deps.documents.read(reader, ref);
    if (!draft) return refuse('MEMORY_NOT_FOUND', 'There is no such document that you may read.');
    const { incidentId } = draft;
    const answer = await sql.begin(async (tx): Promise<Proposed> => {
      const refusal = checkDraft(draft, draft.content, rationale);
      if (refusal) {
        await tellRefusal(tx, deps, writerFor(draft, by), targetWrite(draft, draft.content, domain), refusal);
        return refusal;
      }
      // Two proposals of one document at once: the second finds the first one's job.
      const [row] = await tx`SELECT version FROM memory_document WHERE id = ${draft.id} FOR UPDATE`;
      if (row?.['version'] !== draft.version)
        return refuse('MEMORY_STALE', 'The draft has been written again just now. Read it, then propose it.');
      const [waiting] = await tx`
        SELECT j.id FROM dream_job j JOIN dream_review_item i ON i.job_id = j.id
        WHERE i.document_id = ${draft.id} AND i.version = ${draft.version} AND j.state = 'pending'`;
      if (waiting) return { ok: true, jobId: String(waiting['id']), again: true };
      const target = targetOf(draft);
      const [job] = await tx`
        INSERT INTO dream_job (kind, incident_id, domain, rationale, proposed_by)
        VALUES ('promotion', ${incidentId}, ${domain}, ${rationale}, ${by}) RETURNING id`;
      const jobId = String(job?.['id']);
      await tx`
        INSERT INTO dream_review_item (job_id, document_id, version, target_store, target_path, current_sha256)
        VALUES (${jobId}, ${draft.id}, ${draft.version}, ${target.store}, ${target.path},
                (SELECT sha256 FROM memory_document WHERE store = ${target.store} AND path = ${target.path}))`;
      if (incidentId)
        await events.append(tx, incidentId, {
          type: 'memory.promotion.proposed',
          jobId,
          documentId: draft.id,
          path: draft.path,
          domain,
          rationale,
          by,
        });
      await audit.appendIn(tx, {
        kind: 'memory.promotion.proposed',
        actor: by,
        ...(incidentId ? { incidentId } : {}),
        details: { job: jobId, document: draft.id, version: draft.version, sha256: draft.sha256 },
      });
      return { ok: true, jobId, again: false };
    });
    if (answer.ok && !answer.again) deps.notifier.proposed(answer.jobId);
    return answer;
  }

  function checkDraft(draft: MemoryDocument, content: string, rationale: string): WriteRefusal | undefined {
    if (draft.scope !== 'conversation' || draft.retiredAt !== null)
      return denied('Only a draft in the conversation of an incident can be promoted.');
    // A model may plant in the rationale what it may not plant in the text.
    const found = [
      ...scan(rationale, { scope: 'workspace' }).findings,
      ...scan(content, { scope: 'workspace' }).findings,
    ];
    if (found.length > 0) {
      const kinds = [...new Set(found.map(({ category }) => category.replaceAll('_', ' ')))].join(', ');
      return {
        ...refuse('MEMORY_WRITE_BLOCKED', `Cannot be promoted: the safety scanner found ${kinds}.`),
        findings: found.map((one) => ({ ...one, where: 'content' as const })),
      };
    }
    const checked = checkRunbook(draft.path, content, deps.runbooks);
    return checked.kind === 'wrong' ? badRunbook(checked.problems) : undefined;
  }

  async function review(jobId: string): Promise<Review | null> {
    const promotion = await loadPromotion(sql, jobId);
    if (!promotion) return null;
    const { content, rationale, sha256, target } = promotion;
    const found = [content, rationale].flatMap((text) => scan(text, { scope: 'workspace' }).findings);
    const findings = [...new Set(found.map(({ category }) => category.replaceAll('_', ' ')))];
    const steps = stepsOf(target.path, content, deps.runbooks);
    const runbook: Review['runbook'] =
      steps === null
        ? { kind: 'prose' }
        : 'ok' in steps
          ? { kind: 'wrong', reason: steps.reason }
          : { kind: 'steps', id: steps.id, steps: steps.steps.length };
    const dryRun = await findDryRun(sql, jobId, sha256);
    const runs = runbook.kind === 'prose' || (runbook.kind === 'steps' && dryRun?.passed === true);
    return {
      promotion,
      findings,
      runbook,
      dryRun,
      mayApprove: promotion.state === 'pending' && findings.length === 0 && runs,
    };
  }

  const decide = createDecide(deps);

  return {
    propose,
    decide,
    review,
    async rehearse(jobId) {
      const promotion = await loadPromotion(sql, jobId);
      if (promotion?.state !== 'pending' || !deps.dryRun) return;
      const { incidentId, target, content } = promotion;
      await ensureDryRun(deps, { jobId, incidentId, path: target.path, content });
      deps.notifier.tried(jobId);
    },
    async untried() {
      const rows = await sql`
        SELECT j.id, v.content, i.target_path FROM dream_job j
        JOIN dream_review_item i ON i.job_id = j.id
        JOIN memory_version v ON v.document_id = i.document_id AND v.number = i.version
        WHERE j.kind = 'promotion' AND j.state = 'pending'
          AND NOT EXISTS (SELECT FROM memory_dry_run d WHERE d.job_id = j.id AND d.sha256 = v.sha256)`;
      return rows
        .filter((row) => {
          const steps = stepsOf(String(row['target_path']), String(row['content']), deps.runbooks);
          return steps !== null && !('ok' in steps);
        })
        .map((row) => String(row['id']));
    },
    get: (jobId) => sql.begin('isolation level repeatable read read only', (tx) => loadPromotion(tx, jobId)),
    async list({ pending = false, limit = 50 } = {}) {
      const rows = await sql`
        SELECT id FROM dream_job WHERE kind = 'promotion' AND (NOT ${pending} OR state = 'pending')
        ORDER BY proposed_at LIMIT ${limit}`;
      const all = await Promise.all(rows.map((row) => loadPromotion(sql, String(row['id']))));
      return all.filter((one) => one !== null);
    },
  };
}

/** Conventions have a store of their own; everything else that is promoted is with the runbooks. */
function targetOf({ docType, path }: MemoryDocument): Promotion['target'] {
  return { store: docType === 'convention' ? conventionsStore : runbooksStore, path };
}

function targetWrite(draft: MemoryDocument, content: string, domain: Domain): DocumentWrite {
  const { store, path } = targetOf(draft);
  return {
    place: { store, incidentId: null },
    document: { path, title: draft.title, content, docType: draft.docType, domain },
    sources: [],
  };
}

/** Whose thread hears that a proposal was refused. */
function writerFor({ incidentId }: MemoryDocument, by: string): Writer {
  return { kind: 'promotion', userId: by, incidentId };
}
