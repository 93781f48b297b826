import type { CardClick } from '../actions/approvals/take-back.ts';
import type { ApprovalPolicy } from '../actions/policy/policy.ts';
import {
  type EditableField,
  editableFields,
  editInput,
  type OfferedTools,
} from '../actions/proposals/edit-input.ts';
import type { Action } from '../core/action.ts';
import { canonicalJson } from '../core/canonical-json.ts';
import { type Refusal, refuse } from '../core/errors.ts';
import type { Json } from '../core/tool-call.ts';
import { addRequester } from '../record/record.ts';
import { askForApproval } from './ask-for-approval.ts';
import type { InvestigationDeps } from './deps.ts';

/** What may be changed of one step. */
export interface EditableStep {
  readonly step: number;
  readonly fields: readonly EditableField[];
}

/** What a person entered: by step, then by argument. */
export type Edited = Readonly<Record<number, Readonly<Record<string, string>>>>;

export interface PlanEdits {
  /** Of an open plan, those steps that have something; none where nobody may change it. */
  fieldsOf(steps: readonly Action[]): readonly EditableStep[];
  /**
   * Has the plan asked for with other arguments, through the whole of the gate and by this person: the card that was is void,
   * and who changed it asks for it. A refusal leaves that card as it is.
   */
  save(click: CardClick, edited: Edited): Promise<{ readonly ok: true } | Refusal>;
}

type Deps = InvestigationDeps & {
  readonly policy: Pick<ApprovalPolicy, 'mayDecide' | 'demands'>;
  readonly tools: OfferedTools;
};

export function createPlanEdits(deps: Deps): PlanEdits {
  const fieldsOf: PlanEdits['fieldsOf'] = (steps) =>
    steps.some(({ beside, auditOnly }) => beside || auditOnly)
      ? []
      : steps
          .map(({ step, tool, input }) => ({ step, fields: editableFields(deps.tools.get(tool), input) }))
          .filter(({ fields }) => fields.length > 0);
  return {
    fieldsOf,
    async save(click, edited) {
      const saved = await save(deps, click, edited);
      const action = await deps.records.action(click.actionId);
      await deps.audit.append({
        kind: saved.ok ? 'plan.edited' : 'plan.edit_refused',
        actor: click.by,
        ...(action ? { incidentId: action.incidentId } : {}),
        details: { action: click.actionId, ...(saved.ok ? {} : { code: saved.code }) },
      });
      return saved;
    },
  };
}

async function save(
  deps: Deps,
  { actionId, planHash, by }: CardClick,
  edited: Edited,
): Promise<{ readonly ok: true } | Refusal> {
  const action = await deps.records.action(actionId);
  const incident = action && (await deps.records.incident(action.incidentId));
  if (!action || !incident) return refuse('UNKNOWN_ACTION', 'This card is not on record any more.');
  if (action.planHash !== planHash)
    return refuse('PLAN_CHANGED', 'This is not the plan that the card shows. Nothing was changed.');
  if (action.state !== 'proposed' || action.beside || action.auditOnly)
    return refuse('ALREADY_DECIDED', 'This is not open any more. Nothing was changed; look at its card.');
  const steps = await deps.records.plan(action.planId);
  for (const step of steps) {
    // To change it is to take it from the table: who may say No may.
    const mayNot = await deps.policy.mayDecide(by, step, incident, 'deny');
    if (mayNot) return mayNot;
  }
  const inputs: Json[] = [];
  for (const { step, tool, input } of steps) {
    const changed = editInput(deps.tools.get(tool), input, edited[step] ?? {});
    if (!changed.ok) return changed;
    inputs.push(changed.input);
  }
  const isUnchanged = steps.every(({ input }, at) => isSame(input, inputs[at] ?? null));
  if (isUnchanged) return refuse('NOTHING_CHANGED', 'Nothing was changed: it is as the card shows it.');
  return (await easierThan(deps, steps)) ?? propose(deps, incident, steps, inputs, by);
}

/**
 * What is changed is asked for without its runbook's name, so another rule may decide about it. Refused where that rule asks for less: else one
 * person alone would run, changed, what needed two.
 */
async function easierThan({ policy }: Deps, steps: readonly Action[]): Promise<Refusal | undefined> {
  for (const step of steps) {
    const before = await policy.demands(step);
    const after = await policy.demands({ ...step, runbookId: null });
    // Where nobody may approve it, its proposal says so.
    if ('ok' in after) continue;
    const isEasier =
      'ok' in before ||
      after.approvals < before.approvals ||
      (after.selfApproval && !before.selfApproval) ||
      (before.hours !== null && !isSame(after.hours, before.hours)) ||
      after.approvers.some((one) => !before.approvers.some((other) => isSame(one, other)));
    if (isEasier)
      return refuse(
        'EASIER_RULE',
        'Changed, it would be approved by a less strict rule than its runbook’s. Say no, with what you want instead.',
      );
  }
  return undefined;
}

const isSame = (one: unknown, other: unknown): boolean =>
  canonicalJson(one as Json) === canonicalJson(other as Json);

async function propose(
  deps: Deps,
  incident: Parameters<typeof askForApproval>[1],
  [first, ...later]: readonly Action[],
  [input = null, ...inputs]: readonly Json[],
  by: string,
): Promise<{ readonly ok: true } | Refusal> {
  if (!first) throw new Error('a plan without a step');
  const { id, tool, target, why, verify, purpose } = first;
  const andThen = later.map((step, at) => ({ tool: step.tool, input: inputs[at] ?? null, why: step.why }));
  const answer = await askForApproval(deps, incident, {
    role: 'surgeon',
    by,
    edits: id,
    ...(purpose === 'prevent' ? { prevents: true as const } : {}),
    // A runbook's name stands for its own arguments; these are a person's, and earn it nothing.
    request: { tool, target, input, proposal: { why, runbookId: null, verify, andThen } },
    purpose: `change ${id}`,
    reason: 'A person has changed what is asked for.',
    nextStep: 'Waiting for somebody to approve what was changed.',
    events: [{ type: 'action.edited', actionId: id, by }],
    also: (tx) => addRequester(tx, incident.id, by),
  });
  if (answer.kind === 'proposed') return { ok: true };
  if (answer.kind === 'ok') return refuse('NOT_ACTIVE', `${tool} changes nothing.`);
  return refuse(answer.code, answer.reason);
}
