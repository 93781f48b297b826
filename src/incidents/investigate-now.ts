import { isResting } from '../core/effort.ts';
import { refuse } from '../core/errors.ts';
import type { IncidentId } from '../core/ids.ts';
import type { InvestigationDeps } from './deps.ts';
import { lookInto } from './phases/effort.ts';
import type { Steered } from './steering.ts';

/** *Investigate*: a person has an incident looked into that rests because the policy asks for no more. */
export type InvestigateNow = (incidentId: IncidentId, by: string) => Promise<Steered>;

export function createInvestigateNow(deps: InvestigationDeps): InvestigateNow {
  return async (incidentId, by) => {
    const incident = await deps.records.incident(incidentId);
    if (!incident) return refuse('UNKNOWN_INCIDENT', `There is no ${incidentId}.`);
    const { effort, state } = incident;
    if (state !== 'reported' || !isResting(effort))
      return refuse('NOT_RESTING', `${incidentId} is looked into already; look at its thread.`);
    const moved = await lookInto(deps, incident, effort, 'adaptive', {
      reason: 'A person has it looked into.',
      event: { type: 'effort.chosen', effort: 'adaptive', rule: null, by },
    });
    return moved === 'moved'
      ? { ok: true, text: `Looking into ${incidentId}.` }
      : refuse('MOVED', 'It has just moved on; look at the thread.');
  };
}
