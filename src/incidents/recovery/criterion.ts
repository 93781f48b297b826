import type { Gate } from '../../actions/gate.ts';
import { type AlertRule, isStricter, ruleBound } from '../../core/alert-rule.ts';
import type { Diagnosis } from '../../core/diagnosis.ts';
import type { Incident } from '../../core/incident.ts';
import { formatBound, type Measure } from '../../core/measure.ts';
import { neighbourRead, type ToolCall, type VerifyPlan, type VerifyStep } from '../../core/tool-call.ts';
import type { Confirmation } from '../source-end.ts';

export interface ChosenCriterion {
  readonly criterion: VerifyPlan;
  /** Why the bound that the investigator asked for is not taken; null: it is, or none was asked for. */
  readonly ignored: string | null;
}

/**
 * How it will be known that the problem is over: a measure that one of the diagnosis's cited reads shows red, first of all
 * the read in which the investigator sees the symptom. Null: nothing that was cited is red, so no repair could be judged.
 * `calls`: those that the kept claims cite, in their order. The alert's own rule may set the bound, an investigator only
 * make it stricter.
 */
export function criterionOf(
  gate: Pick<Gate, 'redMeasures' | 'measures'>,
  { symptomNow }: Pick<Diagnosis, 'symptomNow'>,
  incident: Pick<Incident, 'target'>,
  calls: readonly ToolCall[],
  { holdMs, timeoutMs }: Pick<Confirmation, 'holdMs' | 'timeoutMs'>,
  rule: AlertRule | null,
): ChosenCriterion | null {
  const red = calls.flatMap((call) =>
    gate.redMeasures(call, rule).map((one) => ({
      ...one,
      callId: call.id,
      neighbour: neighbourRead(call, incident),
    })),
  );
  const chosen = red.find(({ callId }) => callId === symptomNow?.toolCallId) ?? red[0];
  if (chosen === undefined) return null;
  const measures = gate.measures(chosen.tool);
  const asked = chosen.callId === symptomNow?.toolCallId ? symptomNow.bound : undefined;
  const symptom = measures.find(({ name }) => name === chosen.measure);
  const ignored = symptom && asked ? whyIgnored(symptom, chosen.bound, asked) : null;
  const tightened = asked !== undefined && ignored === null ? asked.value : null;
  const { neighbour } = chosen;
  const step = (measure: Measure): VerifyStep => {
    const bound = tightened ?? chosen.bound;
    const byRule = tightened === null && ruleBound(measure, rule) !== null;
    return {
      tool: chosen.tool,
      ...(neighbour === null ? {} : { target: neighbour }),
      input: chosen.input,
      measure: { name: measure.name, bound },
      says: `${formatBound(measure, bound)}${neighbour === null ? '' : `, says ${neighbour}`}${byRule ? BY_RULE : ''}`,
    };
  };
  return { criterion: { steps: symptom ? [step(symptom)] : [], holdMs, timeoutMs }, ignored };
}

/** Who set the bound, for whoever approves. */
const BY_RULE = ', as the alert’s own rule says';

function whyIgnored(
  measure: Measure,
  bound: number,
  asked: { readonly value: number; readonly unit: string },
): string | null {
  const stays = `It stays: ${formatBound(measure, bound)}.`;
  if (asked.unit !== measure.unit) return `The measure is not counted in “${asked.unit}”. ${stays}`;
  if (!Number.isFinite(asked.value) || asked.value < 0) return `It could never be met. ${stays}`;
  return isStricter(measure, asked.value, bound) ? null : `It is not stricter. ${stays}`;
}

/** A runbook's criterion with the bound of the alert's own rule, where the runbook sets none or a looser one. */
export function withAlertRule(
  gate: Pick<Gate, 'measures'>,
  plan: VerifyPlan,
  rule: AlertRule | null,
): VerifyPlan {
  return { ...plan, steps: plan.steps.map((step) => stepByRule(gate, step, rule)) };
}

function stepByRule(gate: Pick<Gate, 'measures'>, step: VerifyStep, rule: AlertRule | null): VerifyStep {
  const measure = gate.measures(step.tool).find(({ name }) => name === step.measure?.name);
  const bound = measure === undefined ? null : ruleBound(measure, rule);
  if (measure === undefined || step.measure === undefined || bound === null) return step;
  const given = step.measure.bound;
  if (given !== undefined && !isStricter(measure, bound, given)) return step;
  return {
    ...step,
    measure: { name: measure.name, bound },
    says: `${formatBound(measure, bound)}${BY_RULE}`,
  };
}
