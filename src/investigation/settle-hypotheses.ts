import type { Diagnosis, Hypothesis } from '../domain/diagnosis.ts';
import type { ToolCallId } from '../domain/ids.ts';

/**
 * The alternatives with only those calls that happened: what nothing speaks for is not ruled in, what nothing speaks
 * against is not ruled out. That the symptom is there *now* is said by a call of this round, or not at all.
 *
 * @param isCall whether a call of this incident succeeded
 */
export function settleHypotheses(
  diagnosis: Diagnosis,
  current: ReadonlySet<string>,
  isCall: (id: ToolCallId) => boolean,
): Diagnosis {
  const { hypotheses, symptomNow, ...rest } = diagnosis;
  return {
    ...rest,
    ...(hypotheses === undefined ? {} : { hypotheses: hypotheses.map((each) => settled(each, isCall)) }),
    ...(symptomNow !== undefined && current.has(symptomNow.toolCallId) && isCall(symptomNow.toolCallId)
      ? { symptomNow }
      : {}),
  };
}

function settled(hypothesis: Hypothesis, isCall: (id: ToolCallId) => boolean): Hypothesis {
  const forIds = hypothesis.forIds.filter(isCall);
  const againstIds = hypothesis.againstIds.filter(isCall);
  const stands = { ruled_in: forIds.length > 0, ruled_out: againstIds.length > 0, open: true }[
    hypothesis.end
  ];
  return { ...hypothesis, forIds, againstIds, end: stands ? hypothesis.end : 'open' };
}
