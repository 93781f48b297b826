import type { ActionState } from '../../../core/action.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { formatStanding } from '../../../incidents/questions/format-state.ts';
import { newestPlan } from './going-on.ts';

/** What has become of what was asked for, until the incident itself has moved on. */
const MEANWHILE: Partial<Record<ActionState, string>> = {
  approved: 'Approved, about to run',
  denied: 'Somebody said no',
  expired: 'Nobody decided in time',
  void: 'The fix was called off',
};

/**
 * What its card already says while the incident still stands where it waited: the root must not ask for a decision that is made.
 * Null: nothing was decided meanwhile.
 */
export function decidedMeanwhile(record: IncidentRecord): string | null {
  const plan = newestPlan(record);
  return record.incident.state === 'awaiting_approval' && plan ? (MEANWHILE[plan.state] ?? null) : null;
}

/** How it stands, for its root. */
export const standingOf = (record: IncidentRecord): string =>
  decidedMeanwhile(record) ?? formatStanding(record.incident);
