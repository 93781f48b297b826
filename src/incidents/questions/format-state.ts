import type { Incident, IncidentState } from '../../core/incident.ts';

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

/** What happens next; null where nothing is planned. `moment`: a time, where the reader's zone is not known. */
export function formatNextStep(
  { nextStep, asksAgainAt }: Pick<Incident, 'nextStep' | 'asksAgainAt'>,
  moment = (iso: string): string => `${iso.slice(11, 16)} UTC`,
): string | null {
  if (!nextStep || asksAgainAt === null) return nextStep;
  return `${nextStep} It may be done again at ${moment(asksAgainAt)}; I’ll ask again then.`;
}
