import type { Diagnosis } from '../domain/diagnosis.ts';
import { formatBound, isAtLeastAsStrict, type Measure } from '../domain/measure.ts';
import type { ToolCall, VerifyPlan } from '../domain/tool-call.ts';
import type { Gate } from '../gate/gate.ts';
import type { Confirmation } from './source-end.ts';

/**
 * How it will be known that the problem is over: a measure that one of the diagnosis's cited reads of this round shows red.
 * The investigator may choose which, and tighten its bound; code holds the choice against the record. Null: nothing that was
 * cited is red, so no repair could be judged. `calls`: those of this round that the kept claims cite, in their order.
 */
export function criterionOf(
  gate: Pick<Gate, 'redMeasures' | 'measures'>,
  { symptom }: Pick<Diagnosis, 'symptom'>,
  calls: readonly ToolCall[],
  { holdMs, timeoutMs }: Pick<Confirmation, 'holdMs' | 'timeoutMs'>,
): VerifyPlan | null {
  const red = calls.flatMap((call) => gate.redMeasures(call).map((one) => ({ ...one, callId: call.id })));
  const chosen =
    red.find((one) => one.callId === symptom?.toolCallId && one.measure === symptom.measure) ?? red[0];
  if (chosen === undefined) return null;
  const measures = gate.measures(chosen.tool);
  const measure = measures.find(({ name }) => name === chosen.measure);
  if (measure === undefined) return null;
  const isChoice = symptom?.toolCallId === chosen.callId && symptom.measure === chosen.measure;
  const wanted = isChoice ? symptom.bound : undefined;
  const bound = wanted !== undefined && isAtLeastAsStrict(measure, wanted) ? wanted : chosen.bound;
  const step = (one: Measure, limit: number) => ({
    tool: chosen.tool,
    input: chosen.input,
    measure: { name: one.name, bound: limit },
    says: formatBound(one, limit),
  });
  const steady = measures.filter(({ healthy }) => healthy === 'steady');
  return {
    steps: [step(measure, bound), ...steady.map((one) => step(one, one.bound))],
    holdMs,
    timeoutMs,
  };
}
