import type { IncidentRecord } from '../../core/incident-record.ts';
import { isCriterion, type VerifyPlan } from '../../core/tool-call.ts';

/** What this round's fix is or was to be judged by: as it was approved, as the runbook has it, or as the diagnosis shows it. */
export function criterionOnRecord({ actions, events, incident }: IncidentRecord): VerifyPlan | undefined {
  const last = events.findLast((event) => event.type === 'diagnosis.concluded');
  const diagnosis = last?.diagnosis;
  const approved = actions.findLast(({ purpose, round }) => purpose === 'repair' && round === incident.round);
  const suggested = (diagnosis?.suggested ?? []).map(({ verify }) => verify);
  return (
    [approved?.verify, ...suggested, diagnosis?.criterion].find((plan) => plan && isCriterion(plan)) ??
    undefined
  );
}
