import type { Diagnosis, Prevention, SuggestedAction } from '../../core/diagnosis.ts';
import type { PlanStep, VerifyPlan } from '../../core/tool-call.ts';
import { evaluate } from '../../runbooks/expression.ts';
import type {
  RunbookAct,
  RunbookConclusion,
  RunbookPlan,
  RunbookProposal,
  RunbookVerify,
} from '../../runbooks/runbook.ts';
import { renderInput, renderText } from '../../runbooks/template.ts';
import { cannotTell, cause } from './findings.ts';
import { type Run, ruleOut, told } from './run.ts';
import { verifySteps } from './verify-steps.ts';

/** A cause whose symptom was not read is none: the alert may be about something else that looks the same. */
export function concludeShown(run: Run, conclusion: RunbookConclusion): Diagnosis {
  if (run.symptom === 'shown') return conclude(run, conclusion);
  const says =
    run.symptom === 'absent'
      ? `What the runbook "${run.runbook.title}" is about does not show on the live system.`
      : `What the runbook "${run.runbook.title}" is about could not be read.`;
  return cannotTell(run.findings, run.runbook.id, says, null);
}

/** A cause whose texts cannot be filled in from what was read is none. */
function conclude(run: Run, conclusion: RunbookConclusion): Diagnosis {
  const rootCause = renderText(conclusion.cause, run.variables);
  if (!rootCause.ok) {
    run.findings.unknown.push(`The cause could not be put into words: ${rootCause.reason}.`);
    return cannotTell(run.findings, run.runbook.id, 'What was read does not fit the runbook.', null);
  }
  const maybe = (template: string | undefined) => (template === undefined ? null : told(run, template));
  for (const text of conclusion.ruledOut) ruleOut(run, told(run, text));
  const suggested = conclusion.propose
    .map((proposal) => suggest(run, proposal))
    .filter((action) => action !== undefined);
  const prevent = (conclusion.prevent ?? [])
    .map((one) => filledPlan(run, one))
    .filter((plan) => plan !== undefined);
  return cause(run.findings, run.runbook.id, {
    cause: [...run.findings.context, rootCause.text].join(' '),
    unexplained: maybe(conclusion.unexplained) || null,
    category: conclusion.category,
    confidence: conclusion.confidence,
    blastRadius: maybe(conclusion.blastRadius),
    remedy: maybe(conclusion.remedy),
    wouldChangeMyMind: maybe(conclusion.wouldChangeMyMind),
    suggested,
    prevent,
  });
}

function suggest(run: Run, proposal: RunbookProposal): SuggestedAction | undefined {
  const acts = filledPlan(run, proposal);
  if (acts === undefined) return undefined;
  const verify = proposal.verify === null ? undefined : run.runbook.verify[proposal.verify];
  const plan = verify === undefined ? null : planOf(run, verify);
  if (typeof plan === 'string') return leaveOut(run, proposal, plan);
  return { ...acts, verify: plan };
}

/** Undefined when its condition does not hold. What cannot be filled in exactly is never proposed; the thread says why. */
function filledPlan(run: Run, plan: RunbookPlan): Prevention | undefined {
  if (plan.when !== undefined) {
    const held = evaluate(plan.when, run.variables);
    if (!held.ok) return leaveOut(run, plan, held.reason);
    if (held.value !== true) return undefined;
  }
  const [act, ...later] = plan.steps;
  const first = filled(run, act);
  if (typeof first === 'string') return leaveOut(run, plan, first);
  const andThen: PlanStep[] = [];
  for (const one of later) {
    const next = filled(run, one);
    // Half of a plan is none.
    if (typeof next === 'string') return leaveOut(run, plan, next);
    andThen.push(next);
  }
  return { ...first, ...(andThen.length > 0 ? { andThen } : {}) };
}

/** A text: why it cannot be filled in. */
function filled(run: Run, act: RunbookAct): PlanStep | string {
  const input = renderInput(act.with, run.variables);
  if (!input.ok) return input.reason;
  const why = renderText(act.why, run.variables);
  return why.ok ? { tool: act.tool, input: input.value, why: why.text } : why.reason;
}

function leaveOut(run: Run, { steps }: RunbookPlan, reason: string): undefined {
  const tools = steps.map(({ tool }) => tool).join(' and ');
  run.findings.unknown.push(`${tools} ${steps.length === 1 ? 'is' : 'are'} not proposed: ${reason}.`);
}

function planOf(run: Run, verify: RunbookVerify): VerifyPlan | string {
  const steps = verifySteps(run, verify);
  if (typeof steps === 'string') return steps;
  return {
    steps: [...steps, ...run.findings.alsoVerify],
    holdMs: verify.holdMs,
    timeoutMs: verify.timeoutMs,
  };
}
