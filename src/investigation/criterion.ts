import type { Diagnosis } from '../domain/diagnosis.ts';
import { formatBound } from '../domain/measure.ts';
import type { ToolCall, VerifyPlan } from '../domain/tool-call.ts';
import type { Gate } from '../gate/gate.ts';
import type { Confirmation } from './source-end.ts';

/**
 * How it will be known that the problem is over: a measure that one of the diagnosis's cited reads shows red, first of all
 * the read in which the investigator sees the symptom. Null: nothing that was cited is red, so no repair could be judged.
 * `calls`: those that the kept claims cite, in their order.
 */
export function criterionOf(
  gate: Pick<Gate, 'redMeasures' | 'measures'>,
  { symptomNow }: Pick<Diagnosis, 'symptomNow'>,
  calls: readonly ToolCall[],
  { holdMs, timeoutMs }: Pick<Confirmation, 'holdMs' | 'timeoutMs'>,
): VerifyPlan | null {
  const red = calls.flatMap((call) => gate.redMeasures(call).map((one) => ({ ...one, callId: call.id })));
  const chosen = red.find(({ callId }) => callId === symptomNow?.toolCallId) ?? red[0];
  if (chosen === undefined) return null;
  const { tool, input } = chosen;
  const steps = gate
    .measures(tool)
    .filter(({ name }) => name === chosen.measure)
    .map((measure) => ({
      tool,
      input,
      measure: { name: measure.name, bound: measure.bound },
      says: formatBound(measure, measure.bound),
    }));
  return { steps, holdMs, timeoutMs };
}
