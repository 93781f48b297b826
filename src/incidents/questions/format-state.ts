import { isResting } from '../../core/effort.ts';
import type { Incident, IncidentState } from '../../core/incident.ts';
import { isMerged } from '../../core/merged-with.ts';

const words: Readonly<Record<IncidentState, string>> = {
  open: 'Just opened',
  triaging: 'Being triaged',
  ignored: 'Ignored',
  diagnosing: 'Looking for the cause',
  reported: 'Reported',
  planning: 'Working out a fix',
  awaiting_approval: 'Waiting for approval',
  remediating: 'Running the fix',
  verifying: 'Checking the fix',
  resolved: 'Resolved',
  escalated: 'Needs a person',
  stopped: 'Stopped',
};

/** A state as people read it, in Slack and in the terminal alike. */
export function formatState(state: IncidentState): string {
  return words[state];
}

/** How an incident stands: its state, unless a mute, the policy or an incident that leads keeps it there. */
export function formatStanding({
  state,
  mutedBy,
  mergedInto,
  effort,
}: Pick<Incident, 'state' | 'mutedBy' | 'mergedInto' | 'effort'>): string {
  if (isMerged({ state, mergedInto })) return `Part of ${mergedInto}`;
  if (state === 'open' && mutedBy !== null) return `Muted (${mutedBy})`;
  return state === 'reported' && isResting(effort) ? rests[effort] : words[state];
}

const rests = {
  none: 'Recorded',
  on_demand: 'Waiting for Investigate',
  triage: 'First look done',
} as const;

/** What happens next; null where nothing is planned. `moment`: a time, where the reader's zone is not known. */
export function formatNextStep(
  { nextStep, asksAgainAt }: Pick<Incident, 'nextStep' | 'asksAgainAt'>,
  moment = (iso: string): string => `${iso.slice(11, 16)} UTC`,
): string | null {
  if (!nextStep || asksAgainAt === null) return nextStep;
  return `${nextStep} It may be done again at ${moment(asksAgainAt)}; I’ll ask again then.`;
}
