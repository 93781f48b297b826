import { isSuspicion, scan } from '../../safety/screen/scan.ts';
import type { Reader } from '../documents/access.ts';
import { createDecide, type DecideDeps, type Decided, type PromotionDecision } from './decide.ts';
import { ensureDryRun, findDryRun, stepsOf } from './dry-runs.ts';
import { loadPromotion } from './load-promotion.ts';
import type { DryRun, Promotion } from './ports.ts';
import { type Proposal, type ProposeDeps, type Proposed, propose } from './propose.ts';

/** A proposal with what the checks say of it now. */
export interface Review {
  readonly promotion: Promotion;
  /** Kinds that the safety scanner finds in text or rationale, as strict as for the workspace. */
  readonly findings: readonly string[];
  /** Parts of it read like orders to the linear model alone: nothing in the way, but to be looked at. */
  readonly suspicious: boolean;
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
  /** See `propose`. */
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
  /** Tries the steps of what is proposed, unless they have passed; for a proposal without steps, or decided, nothing. */
  rehearse(jobId: string): Promise<void>;
  /** Pending ones whose steps nobody has tried yet: proposed by a process that died or by a command. */
  untried(): Promise<readonly string[]>;
  /** Oldest first: those that wait longest come first. */
  list(options?: { readonly pending?: boolean; readonly limit?: number }): Promise<readonly Promotion[]>;
}

export type PromotionsDeps = DecideDeps & ProposeDeps;

export function createPromotions(deps: PromotionsDeps): Promotions {
  const { sql } = deps;

  async function review(jobId: string): Promise<Review | null> {
    const promotion = await loadPromotion(sql, jobId);
    if (!promotion) return null;
    const { content, rationale, sha256, target } = promotion;
    const found = [content, rationale].flatMap((text) => scan(text, { scope: 'workspace' }).findings);
    const certain = found.filter((one) => !isSuspicion(one));
    const findings = [...new Set(certain.map(({ category }) => category.replaceAll('_', ' ')))];
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
      suspicious: certain.length < found.length,
      runbook,
      dryRun,
      mayApprove: promotion.state === 'pending' && findings.length === 0 && runs,
    };
  }

  const decide = createDecide(deps);

  return {
    propose: (reader, proposal) => propose(deps, reader, proposal),
    decide,
    review,
    async rehearse(jobId) {
      const promotion = await loadPromotion(sql, jobId);
      if (promotion?.state !== 'pending' || !deps.dryRun) return;
      const { incidentId, target, content } = promotion;
      await ensureDryRun(deps, { jobId, incidentId, path: target.path, content });
    },
    async untried() {
      const rows = await sql<{ id: string; content: string; target_path: string }>`
        SELECT j.id, v.content, i.target_path FROM dream_job j
        JOIN dream_review_item i ON i.job_id = j.id
        JOIN memory_version v ON v.document_id = i.document_id AND v.number = i.version
        WHERE j.kind = 'promotion' AND j.state = 'pending'
          AND NOT EXISTS (SELECT FROM memory_dry_run d WHERE d.job_id = j.id AND d.sha256 = v.sha256)`;
      return rows
        .filter((row) => {
          const steps = stepsOf(row.target_path, row.content, deps.runbooks);
          return steps !== null && !('ok' in steps);
        })
        .map(({ id }) => id);
    },
    get: (jobId) => sql.begin('isolation level repeatable read read only', (tx) => loadPromotion(tx, jobId)),
    async list({ pending = false, limit = 50 } = {}) {
      const rows = pending
        ? await sql<{ id: string }>`
            SELECT id FROM dream_job WHERE state = 'pending' AND kind = 'promotion' ORDER BY proposed_at LIMIT ${limit}`
        : await sql<{ id: string }>`
            SELECT id FROM dream_job WHERE kind = 'promotion' ORDER BY proposed_at LIMIT ${limit}`;
      const all = await Promise.all(rows.map(({ id }) => loadPromotion(sql, id)));
      return all.filter((one) => one !== null);
    },
  };
}
