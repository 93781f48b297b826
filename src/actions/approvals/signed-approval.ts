import type { Action } from '../../core/action.ts';
import type { Sql, Tx } from '../../core/sql.ts';
import type { Json } from '../../core/tool-call.ts';
import type { ApprovalSeal, ApprovalStatement } from '../../safety/vault/approval-seal.ts';

/** The first step of a plan: what is decided of the plan stands there. */
type Head = Pick<Action, 'planId' | 'incidentId' | 'planHash' | 'expiresAt'>;

const statementOf = (head: Head, by: string, after: number): ApprovalStatement => ({
  action: head.planId,
  incident: head.incidentId,
  planHash: head.planHash,
  by,
  expiresAt: head.expiresAt,
  after,
});

/** What an approval's entry in the audit log carries, beside what it says. */
export async function signApproval(
  tx: Tx,
  seal: ApprovalSeal,
  head: Head,
  by: string,
): Promise<{ readonly after: number; readonly signature: string }> {
  const [row] = await tx<{ after: number }>`SELECT coalesce(max(seq), 0)::float8 AS after FROM audit_entry`;
  const after = row?.after ?? 0;
  return { after, signature: seal.sign(statementOf(head, by, after)) };
}

/** Who has approved exactly this plan, by signed entries of the audit log, each with the number its approval came after. */
export async function readApprovals(
  sql: Sql | Tx,
  seal: ApprovalSeal,
  head: Head,
): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ body: string }>`
    SELECT e.body FROM action a JOIN audit_entry e ON e.seq = ANY (a.approval_seqs || a.approval_seq) WHERE a.id = ${head.planId}`;
  return new Map(rows.flatMap(({ body }) => approvalIn(seal, head, body)));
}

/** Empty where the entry is no approval of this plan. */
function approvalIn(seal: ApprovalSeal, head: Head, body: string): readonly (readonly [string, number])[] {
  const { kind, actor, details } = JSON.parse(body) as Record<string, Json>;
  const { decision, after, signature } = (details ?? {}) as Record<string, Json>;
  if (kind !== 'approval.decided' || decision !== 'approve') return [];
  if (typeof actor !== 'string' || typeof after !== 'number') return [];
  return seal.isSigned(statementOf(head, actor, after), signature) ? [[actor, after]] : [];
}
