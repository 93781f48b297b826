import type { IncidentState } from '../core/incident.ts';
import { isSlackUser } from '../core/is-slack-user.ts';
import { isEnded } from '../core/machine.ts';

export interface SeenEvent {
  readonly seq: number;
  readonly type: string;
  readonly at: string;
  readonly from: IncidentState | null;
  readonly to: IncidentState | null;
  readonly by: string | null;
}

/** Kinds of events by which `beginOfRun` tells, besides what people do. */
export const BEGINS = [
  'state.changed',
  'incident.unmuted',
  'incident.split',
  'alert.flapping',
  'effort.chosen',
] as const;

/**
 * The event with which an incident began to be open as it is now: it came back, its mute ended, it rests under no other any more, or an alert had it looked into that
 * had rested. Undefined: it has been so since it was opened.
 */
export function beginOfRun(events: readonly SeenEvent[]): SeenEvent | undefined {
  let before: SeenEvent[] = [];
  let since: SeenEvent[] = [];
  let begun: SeenEvent | undefined;
  for (const event of events) {
    if (comesBack(event)) begun = event;
    if (event.type !== 'state.changed') {
      since.push(event);
      continue;
    }
    if (leavesRest(event) && isOfAnAlert(before, since)) begun = event;
    [before, since] = [since, []];
  }
  return begun;
}

/** Whoever had it before has it no more. */
export const comesBack = ({ type, from }: SeenEvent): boolean =>
  type === 'incident.unmuted' || type === 'incident.split' || (from !== null && isEnded(from));
const leavesRest = ({ from, to }: SeenEvent): boolean =>
  from === 'reported' && (to === 'triaging' || to === 'diagnosing');

/** `before`: what led to its rest, `since`: what happened in it. Whoever has it looked into is at it, and it is as it was. */
function isOfAnAlert(before: readonly SeenEvent[], since: readonly SeenEvent[]): boolean {
  const chosen = since.findLast(({ type }) => type === 'effort.chosen');
  if (chosen) return !isPersons(chosen);
  return before.some(({ type }) => type === 'alert.flapping') && !since.some(isPersons);
}

const isPersons = ({ by }: SeenEvent): boolean => by !== null && isSlackUser(by);
