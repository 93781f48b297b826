import { type Action, isRiskier, type Risk } from '../../core/action.ts';
import { canonicalJson } from '../../core/canonical-json.ts';
import { type Refusal, refuse } from '../../core/errors.ts';
import type { ActionId } from '../../core/ids.ts';
import type { Incident } from '../../core/incident.ts';
import type { Sql } from '../../core/sql.ts';
import type { Json } from '../../core/tool-call.ts';
import type { TargetIdentity } from '../../targets/kind.ts';
import type { ActiveTool } from '../../tools/define.ts';
import type { ApproverDirectory } from '../approvals/ports.ts';
import { readApprovals } from '../approvals/signed-approval.ts';
import type { GateDeps } from '../gate-deps.ts';
import { planMs } from '../ledger/ledger.ts';
import { BY_POLICY, mayRunUnasked } from '../policy/autonomy.ts';
import { autonomyKey, versionedRunbook } from '../policy/autonomy-key.ts';
import type { ApprovalPolicy } from '../policy/policy.ts';
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

/** Why it does not run. `void`: the approval no longer fits, another may be asked for; `later`: nobody can tell just now. */
export type Objection =
  | { readonly void: Refusal }
  | { readonly refused: Refusal }
  | { readonly later: Refusal }
  | undefined;

/** Check 9 up to the claim, one check a question, in this order. The claim repeats what can change until then. */
export interface ApprovalChecks {
  mayChange(deps: GateDeps, approved: Approved): Objection;
  inTime(deps: GateDeps, approved: Approved): Promise<Objection>;
  samePlan(deps: Pick<GateDeps, 'registry'>, approved: Approved): Objection;
  decided(deps: GateDeps, approved: Approved): Promise<Objection>;
  sameServer(deps: GateDeps, approved: Approved): Promise<Objection>;
  /** With guard, risk and objection (as a card would have its line) as the tool reads and judges them now: the approval was for those on the card. */
  sameState(approved: Approved, guard: Json, risk: Risk, objection: string | undefined): Objection;
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

  /** A later step's own time is no approver's word: it lies within a plan's time of what they signed. */
  async inTime({ sql, registry }, { action, steps }) {
    const planned =
      action.step === 1 ? 0 : planMs(steps.map(({ tool }) => registry.get(tool) ?? { timeoutMs: 0 }));
    const [row] = await sql<{ in_time: boolean }>`
      SELECT a.expires_at > clock_timestamp() AND h.expires_at + ${planned} * interval '1 millisecond' > clock_timestamp() AS in_time
        FROM action a JOIN action h ON h.id = a.plan_id WHERE a.id = ${action.id}`;
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
   * The approvals stand in the audit log, which cannot be changed, and are signed: a state or an entry written into the database
   * alone is none. As many as the policy asks for now, and as it asked for when this was proposed, each by somebody else who
   * may still give it; or a rule's, which still may.
   */
  async decided(deps, { action, steps }) {
    const { sql, rules } = deps;
    const left = steps.filter(({ step }) => step >= action.step);
    const asked = rules ? await demandsOf(rules, left) : [];
    if ('ok' in asked) return { void: asked };
    const by = await readApprovals(sql, deps.seal, steps[0] ?? action);
    const missing = {
      void: refuse('NOT_APPROVED', 'No signed approval of exactly this is on record in the audit log.'),
    };
    if (action.decidedBy === null || !by.has(action.decidedBy)) return missing;
    if (await hasEnded(sql, action, Math.min(...by.values())))
      return {
        refused: refuse(
          'NOT_APPROVED',
          'What was approved has been done already or taken back, by the audit log.',
        ),
      };
    if (action.decidedBy === BY_POLICY) return (await stillUnasked(deps, left, asked)) ? undefined : unasked;
    const standing = await stillApproving(
      deps,
      [...by.keys()].filter((who) => who !== BY_POLICY),
      left,
    );
    if ('ok' in standing) return { later: standing };
    const needed = Math.max(action.approvalsNeeded, ...asked.map(({ approvals }) => approvals));
    const { length } = standing;
    if (length >= needed) return undefined;
    const reason = `${length} of ${needed} approvals of exactly this, by people who may still give them, are on record in the audit log.`;
    return { void: refuse('NOT_APPROVED', reason) };
  },

  async sameServer({ sql, identity }, { action }) {
    if (await isServerOf(sql, action.id, await identity(action.target))) return undefined;
    return { void: failedOver(action.target, 'it was when this was proposed') };
  },

  sameState({ action }, guard, risk, objection) {
    if (canonicalJson(guard) !== canonicalJson(action.guard))
      return { void: refuse('STATE_MOVED', 'The state has moved since this was proposed.') };
    const reason = `The state has moved: it is of ${risk} risk now, and was proposed as one of ${action.risk} risk.`;
    if (isRiskier(risk, action.risk)) return { void: refuse('STATE_MOVED', reason) };
    return objection === undefined || action.preflight.includes(objection)
      ? undefined
      : { void: refuse('STATE_MOVED', `The state has moved: something speaks against it now. ${objection}`) };
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

/** An approval is for once: a row that was set back to approved has its end in the audit log, after what the approval was signed after. */
async function hasEnded(sql: GateDeps['sql'], { id, planId }: Action, after: number): Promise<boolean> {
  const rows = await sql<{ body: string }>`
    SELECT body FROM audit_entry
     WHERE seq > ${after} AND (body LIKE ${`%"${id}"%`} OR body LIKE ${`%"${planId}"%`})`;
  return rows.some((row) => {
    const { kind, details } = JSON.parse(row.body) as Record<string, Json>;
    const of = (details as Record<string, Json> | null)?.['action'];
    // Taken back before it began: with it all its steps.
    if (of === planId && ['approval.void', 'approval.expired'].includes(String(kind))) return true;
    // As its run ended, or as somebody who looked has said.
    return of === id && (kind === 'gate.outcome' || kind === 'action.settled');
  });
}

const unasked: Objection = { void: refuse('NOT_APPROVED', 'It may no longer run without asking.') };

async function stillUnasked(
  { sql: tx, seal, registry, runbookVersion }: GateDeps,
  left: readonly Action[],
  asked: readonly Demands[],
): Promise<boolean> {
  const may = await Promise.all(
    left.map(async (step, at) => {
      const demands = asked[at];
      const autonomy = demands?.approvals === 1 ? demands.autonomy : null;
      const tool = registry.get(step.tool);
      // As its runbook and its tool are now: a runbook that was changed since has earned nothing.
      const key =
        tool?.kind === 'active'
          ? autonomyKey(tool, step.input, versionedRunbook(runbookVersion, step.runbookId))
          : null;
      return autonomy && key === step.autonomyKey ? mayRunUnasked({ tx, seal }, step, autonomy) : false;
    }),
  );
  return may.every(Boolean);
}

/** Those of them who may approve every step that is left, as of now; a refusal while nobody can tell. */
async function stillApproving(
  { approvers, records }: GateDeps,
  people: readonly string[],
  left: readonly Action[],
): Promise<readonly string[] | Refusal> {
  const [step] = left;
  const incident = step && (await records.incident(step.incidentId));
  if (!incident) return [];
  const now = approvers.asOfNow();
  const standing: string[] = [];
  for (const who of people) {
    const mayNot = await mayNotGive(approvers, who, left, incident, now);
    if (mayNot && cannotTell(mayNot)) return mayNot;
    if (!mayNot) standing.push(who);
  }
  return standing;
}

/** Why somebody's approval of a plan does not count as of now; undefined when it does. */
export async function mayNotGive(
  approvers: Pick<ApprovalPolicy, 'stillMay'>,
  who: string,
  steps: readonly Action[],
  incident: Incident,
  now: ApproverDirectory,
): Promise<Refusal | undefined> {
  for (const step of steps) {
    const mayNot = await approvers.stillMay(who, step, incident, now);
    if (mayNot) return mayNot;
  }
  return undefined;
}

/** Slack did not say who they are, or who may: that is no *no* for good. */
export const cannotTell = ({ code }: Refusal): boolean =>
  code === 'APPROVERS_UNKNOWN' || code === 'WHO_ARE_YOU';
