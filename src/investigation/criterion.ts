import type { Diagnosis } from '../domain/diagnosis.ts';
import { formatBound, type Measure } from '../domain/measure.ts';
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
  const measures = gate.measures(chosen.tool);
  const step = (measure: Measure) => ({
    tool: chosen.tool,
    input: chosen.input,
    measure: { name: measure.name, bound: measure.bound },
    says: formatBound(measure, measure.bound),
  });
  // What is started again and again looks healthy each time: counters of the same read must stay as they are.
  const watched = measures.filter(({ name, healthy }) => name === chosen.measure || healthy === 'steady');
  return {
    steps: watched
      .toSorted((a, b) => Number(b.name === chosen.measure) - Number(a.name === chosen.measure))
      .map(step),
    holdMs,
    timeoutMs,
  };
}
