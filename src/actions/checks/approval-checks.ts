import type { Action, Risk } from '../../core/action.ts';
import { canonicalJson } from '../../core/canonical-json.ts';
import { type Refusal, refuse } from '../../core/errors.ts';
import type { ActionId } from '../../core/ids.ts';
import type { Sql } from '../../core/sql.ts';
import type { Json } from '../../core/tool-call.ts';
import type { TargetIdentity } from '../../targets/kind.ts';
import type { ActiveTool } from '../../tools/define.ts';
import type { GateDeps } from '../gate-deps.ts';
import { BY_POLICY, mayRunUnasked } from '../policy/autonomy.ts';
import type { Demands } from '../policy/rule.ts';
import { planHash } from '../proposals/plan-hash.ts';

/** An action that says it is approved, with all that is known of it when it is about to run. */
export interface Approved {
  /** As it stands in the ledger now. */
  readonly action: Action;
  readonly tool: ActiveTool<unknown, Json>;
  /** As parsed now: what would run. */
  readonly input: Json;
  /** All steps of its plan, in order, as they stand in the ledger. */
  readonly steps: readonly Action[];
}

/** Why it does not run. `void`: the approval no longer fits, another may be asked for. */
export type Objection = { readonly void: Refusal } | { readonly refused: Refusal } | undefined;

/** Check 9 up to the claim, one check a question, in this order. The claim repeats what can change until then. */
export interface ApprovalChecks {
  mayChange(deps: GateDeps, approved: Approved): Objection;
  inTime(deps: GateDeps, approved: Approved): Promise<Objection>;
  samePlan(deps: Pick<GateDeps, 'registry'>, approved: Approved): Objection;
  decided(deps: GateDeps, approved: Approved): Promise<Objection>;
  sameServer(deps: GateDeps, approved: Approved): Promise<Objection>;
  /** With the guard and the risk as the tool reads and judges them now: the approval was for those on the card. */
  sameState(approved: Approved, guard: Json, risk: Risk): Objection;
}

export const approvalChecks: ApprovalChecks = {
  /** Mode, STOP_SENTRY, and that it was proposed in earnest. The switch in the database is read by the claim. */
  mayChange({ killSwitch }, { action }) {
    const local = killSwitch.local();
    if (local) return { refused: local };
    return action.auditOnly
      ? { refused: refuse('AUDIT_ONLY', 'It was proposed while nothing may be changed, and cannot be run.') }
      : undefined;
  },

  async inTime({ sql }, { action }) {
    const [row] = await sql<{ in_time: boolean }>`
      SELECT expires_at > clock_timestamp() AS in_time FROM action WHERE id = ${action.id}`;
    return row?.in_time ? undefined : { refused: refuse('EXPIRED', 'The approval had expired.') };
  },

  /** What would run, by the code as it is now, is what the card showed and the hash was made of. */
  samePlan({ registry }, { action, tool, input, steps }) {
    const command = tool.command(input);
    const [first = action, ...later] = steps.map((step) =>
      step.id === action.id
        ? { ...action, tool: tool.name, input, command }
        : { ...step, command: commandOf(registry, step) },
    );
    const hash = planHash(first, later);
    return hash === action.planHash &&
      command === action.command &&
      canonicalJson(input) === canonicalJson(action.input)
      ? undefined
      : { void: refuse('PLAN_CHANGED', 'What would run is not what was approved.') };
  },

  /**
   * The approvals stand in the audit log, which cannot be changed: a state written into the ledger alone is none. As many as
   * the policy asks for now, and as it asked for when this was proposed, each by somebody else; or a rule's, which still may.
   */
  async decided({ sql, rules }, { action, steps }) {
    const left = steps.filter(({ step }) => step >= action.step);
    const asked = rules ? await demandsOf(rules, left) : [];
    if ('ok' in asked) return { void: asked };
    const rows = await sql<{ body: string }>`
      SELECT e.body FROM action a JOIN audit_entry e ON e.seq = ANY (a.approval_seqs || a.approval_seq) WHERE a.id = ${action.planId}`;
    const by = new Set(rows.flatMap((row) => approverOf(action, row.body) ?? []));
    const missing = {
      void: refuse('NOT_APPROVED', 'No approval of exactly this is on record in the audit log.'),
    };
    if (action.decidedBy === null || !by.has(action.decidedBy)) return missing;
    if (await hasEnded(sql, action))
      return {
        refused: refuse('NOT_APPROVED', 'What was approved has been done already, by the audit log.'),
      };
    if (action.decidedBy === BY_POLICY) {
      const may = await Promise.all(
        left.map(async (step, at) => {
          const demands = asked[at];
          const autonomy = demands?.approvals === 1 ? demands.autonomy : null;
          return autonomy ? mayRunUnasked(sql, step, autonomy) : false;
        }),
      );
      return may.every(Boolean)
        ? undefined
        : { void: refuse('NOT_APPROVED', 'It may no longer run without asking.') };
    }
    const needed = Math.max(action.approvalsNeeded, ...asked.map(({ approvals }) => approvals));
    const people = [...by].filter((who) => who !== BY_POLICY).length;
    return people >= needed
      ? undefined
      : {
          void: refuse(
            'NOT_APPROVED',
            `${people} of ${needed} approvals of exactly this are on record in the audit log.`,
          ),
        };
  },

  async sameServer({ sql, identity }, { action }) {
    if (await isServerOf(sql, action.id, await identity(action.target))) return undefined;
    return { void: failedOver(action.target, 'it was when this was proposed') };
  },

  sameState({ action }, guard, risk) {
    if (canonicalJson(guard) !== canonicalJson(action.guard))
      return { void: refuse('STATE_MOVED', 'The state has moved since this was proposed.') };
    const reason = `The state has moved: it is of ${risk} risk now, and was proposed as one of ${action.risk} risk.`;
    return rank[risk] > rank[action.risk] ? { void: refuse('STATE_MOVED', reason) } : undefined;
  },
};

/** Whether a target is, as it is known now, the server that an action was proposed for. Not where that is not on record. */
export async function isServerOf(sql: Sql, id: ActionId, now: TargetIdentity): Promise<boolean> {
  const [seen] = await sql<{ system_identifier: string | null; timeline_id: number | null }>`
    SELECT system_identifier, timeline_id FROM action WHERE id = ${id}`;
  return seen?.system_identifier === now.systemIdentifier && seen.timeline_id === now.timelineId;
}

export const failedOver = (target: string, which: string): Refusal =>
  refuse(
    'FAILED_OVER',
    `${target} is not the server ${which} (failover, restore, or another address), so nothing is run there.`,
  );

/** By the code as it is now; nothing like what was approved where there is no such tool any more. */
function commandOf({ get }: GateDeps['registry'], step: Action): string {
  const tool = get(step.tool);
  return tool?.kind === 'active' ? (tool as ActiveTool<unknown, Json>).command(step.input) : '';
}

/** What each step asks for now; a refusal when nobody may approve one of them. */
export async function demandsOf(
  rules: NonNullable<GateDeps['rules']>,
  steps: readonly Pick<Action, 'tool' | 'target' | 'risk' | 'runbookId'>[],
): Promise<readonly Demands[] | Refusal> {
  const asked: Demands[] = [];
  for (const step of steps) {
    const demands = await rules.demands(step);
    if ('ok' in demands) return demands;
    asked.push(demands);
  }
  return asked;
}

const rank: Readonly<Record<Risk, number>> = { low: 0, medium: 1, high: 2 };

/** An approval is for once: a row that was set back to approved has its end in the audit log, after the approval. */
async function hasEnded(sql: GateDeps['sql'], { id, planId }: Action): Promise<boolean> {
  const rows = await sql<{ body: string }>`
    SELECT body FROM audit_entry
     WHERE seq > (SELECT min(seq) FROM action a, unnest(a.approval_seqs || a.approval_seq) seq WHERE a.id = ${planId})
       AND body LIKE ${`%"${id}"%`}`;
  return rows.some((row) => {
    const { kind, details } = JSON.parse(row.body) as Record<string, Json>;
    const of = (details as Record<string, Json> | null)?.['action'];
    // As its run ended, or as somebody who looked has said.
    return of === id && (kind === 'gate.outcome' || kind === 'action.settled');
  });
}

/** Who approved exactly this action by this entry; undefined when it is no such approval. */
function approverOf(action: Action, body: string): string | undefined {
  const entry = JSON.parse(body) as Record<string, Json>;
  const details = entry['details'] as Record<string, Json> | null;
  const isApproval =
    entry['kind'] === 'approval.decided' &&
    entry['incident'] === action.incidentId &&
    details?.['action'] === action.planId &&
    details['decision'] === 'approve' &&
    details['planHash'] === action.planHash;
  return isApproval ? String(entry['actor']) : undefined;
}
