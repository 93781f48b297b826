import { isResting } from '../../core/effort.ts';
import type { Incident, IncidentState } from '../../core/incident.ts';
import { isSlackUser } from '../../core/is-slack-user.ts';
import { isMerged } from '../../core/merged-with.ts';

const states: Readonly<Record<IncidentState, string>> = {
  open: 'Just opened',
  triaging: 'Taking a first look',
  ignored: 'Nothing to investigate',
  diagnosing: 'Looking for the cause',
  reported: 'Over to you',
  planning: 'Looking for a safe fix',
  awaiting_approval: 'Waiting for approval',
  remediating: 'Running the approved fix',
  verifying: 'Checking that it is gone',
  resolved: 'Resolved',
  escalated: 'A person is needed',
  stopped: 'Stopped by a person',
};

/** Reported because the policy asks for no more. */
const rests = {
  none: 'Recorded',
  on_demand: 'Waiting for Investigate',
  triage: 'First look done',
} as const;

/** A state as people read it, in Slack and in the terminal alike. */
export const formatState = (state: IncidentState): string => states[state];

type Standing = Pick<
  Incident,
  'state' | 'asksAgainAt' | 'flappingUntil' | 'mutedBy' | 'mergedInto' | 'effort'
> &
  Partial<Pick<Incident, 'resolvedBy' | 'closedBy'>>;

/**
 * How an incident stands: its state, unless a mute, the policy, an incident that leads or Sentry itself keeps it there. `closer`: how who
 * closed it is called there.
 */
export function formatStanding(
  { state, asksAgainAt, flappingUntil, mutedBy, mergedInto, effort, resolvedBy, closedBy }: Standing,
  closer = closedBy && !isSlackUser(closedBy) ? closedBy : 'a person',
): string {
  if (state === 'resolved' && resolvedBy === 'person') return `Closed by ${closer}`;
  if (isMerged({ state, mergedInto })) return `Part of ${mergedInto}`;
  if (state === 'open' && mutedBy !== null) return `Muted (${mutedBy})`;
  if (state !== 'reported') return states[state];
  if (flappingUntil !== null) return 'Flapping: its alert comes and goes';
  if (isResting(effort)) return rests[effort];
  return asksAgainAt === null ? states[state] : 'Waiting to ask again';
}

/** What happens next; null where nothing is planned. `moment`: a time, where the reader's zone is not known. */
export function formatNextStep(
  { nextStep, asksAgainAt }: Pick<Incident, 'nextStep' | 'asksAgainAt'>,
  moment = (iso: string): string => `${iso.slice(11, 16)} UTC`,
): string | null {
  if (!nextStep || asksAgainAt === null) return nextStep;
  return `${nextStep} It may be done again at ${moment(asksAgainAt)}; I’ll ask again then.`;
}
