import { alertRuleOf, ruleBound } from '../../core/alert-rule.ts';
import { type Refusal, refuse } from '../../core/errors.ts';
import type { IncidentId } from '../../core/ids.ts';
import { formatBound } from '../../core/measure.ts';
import {
  isCriterion,
  type Json,
  type ProposalNotes,
  type VerifyPlan,
  type VerifyStep,
} from '../../core/tool-call.ts';
import type { GateDeps } from '../gate-deps.ts';
import { asksTheSame, type CriterionReading, measuresOf, withSteps } from './criterion.ts';

/** How one look at the live system tells whether what an alert is about is over, whatever a diagnosis blames for it. */
export interface AlertCheck {
  /** Holds when that is over. */
  readonly step: VerifyStep;
  /** The runbook that says so; null: the alert's own rule does. */
  readonly runbookId: string | null;
  /** The alert is about that and nothing else: where it is read healthy, the alert's problem is over. */
  readonly isCertain: boolean;
}

/**
 * What runbooks say of the incident's alert and what the alert's own rule compares. A plan of a runbook that lists the alert
 * is judged as that runbook says: its author has written for this very alert how it is over. What a model proposes carries no
 * criterion, so it cannot speak as one.
 */
export async function alertChecksOf(
  deps: Pick<GateDeps, 'records' | 'registry' | 'runbookChecks'>,
  incidentId: IncidentId,
  notes: ProposalNotes | undefined,
): Promise<readonly AlertCheck[]> {
  const record = await deps.records.load(incidentId);
  if (record === null) return [];
  const byRunbooks = deps.runbookChecks(record.incident);
  const isRunbooksOwn =
    notes?.verify != null &&
    isCriterion(notes.verify) &&
    byRunbooks.some(({ runbookId }) => runbookId === notes.runbookId);
  if (isRunbooksOwn) return [];
  const rule = alertRuleOf(record.alerts);
  const byRule = (deps.registry.list?.() ?? [])
    .filter(({ domain }) => domain === record.incident.domain)
    .flatMap(({ name: tool }) =>
      measuresOf(deps.registry, tool).flatMap((measure): AlertCheck[] => {
        const bound = ruleBound(measure, rule);
        if (bound === null || measure.ofOneThing) return [];
        const step = { tool, input: {}, measure: { name: measure.name, bound }, says: '' };
        return [{ step, runbookId: null, isCertain: true }];
      }),
    );
  return [...byRule, ...byRunbooks].map((check) => ({ ...check, step: asked(deps.registry, check.step) }));
}

/** With what was left out filled in, as it stands on record, so that one read serves all who ask it; and in a measure's own words. */
function asked(registry: GateDeps['registry'], step: VerifyStep): VerifyStep {
  const input = registry.get(step.tool)?.input.safeParse(step.input);
  const measure = measuresOf(registry, step.tool).find(({ name }) => name === step.measure?.name);
  return {
    ...step,
    ...(input?.success ? { input: input.data as Json } : {}),
    ...(measure
      ? { says: `${formatBound(measure, step.measure?.bound ?? measure.bound)}, which the alert is about` }
      : {}),
  };
}

/**
 * A criterion that takes in what the alert is about: to repair something else that is red fixes nothing while the alert's own
 * problem stands, so that is judged in the same looks. Where it is healthy already there is nothing to fix for this alert,
 * however red the rest is: to call it fixed afterwards would credit the repair with what ended by itself. So it is over by
 * itself, as it is where the criterion alone is green. What may be about something else than the alert ends nothing by being
 * healthy, and is watched beside the rest.
 *
 * `reading`: what the plan's first steps read just now; nothing is asked twice.
 */
export async function withAlert(
  plan: VerifyPlan,
  reading: CriterionReading,
  checks: readonly AlertCheck[],
  read: (plan: VerifyPlan) => Promise<CriterionReading>,
): Promise<VerifyPlan | Refusal> {
  const known = (step: VerifyStep): number => plan.steps.findIndex((each) => asksTheSame(each, step));
  const steps = checks.map(({ step }) => step);
  const rest = steps.filter((step) => known(step) === -1);
  const seen = rest.length === 0 ? null : await read({ ...plan, steps: rest });
  const open = steps.filter(
    (step) => (rest.includes(step) ? seen?.steps[rest.indexOf(step)] : reading.steps[known(step)]) !== true,
  );
  if (open.length === 0 && checks.some(({ isCertain }) => isCertain))
    return alertIsOver((seen ?? reading).lines);
  const ofAlert = (step: VerifyStep): VerifyStep => {
    if (!open.some((each) => asksTheSame(each, step))) return step;
    const isSure = checks.some((check) => check.isCertain && asksTheSame(check.step, step));
    return { ...step, ofAlert: true, ...(isSure ? {} : { unsure: true as const }) };
  };
  return withSteps({ ...plan, steps: plan.steps.map(ofAlert) }, rest.map(ofAlert));
}

export function alertIsOver(lines: readonly string[]): Refusal {
  return refuse(
    'OVER_BY_ITSELF',
    `What the alert is about is over by itself, so nothing is run: ${lines.join('; ')}`,
  );
}
