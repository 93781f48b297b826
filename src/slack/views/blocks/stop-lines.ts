import type { IncidentEvent } from '../../../core/event.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { bold, moment, person, type Span, words } from './build.ts';
import { cut, oneLine } from './text.ts';

/** What keeps anything from being changed for this incident now: who stopped it and why, or what kept the plan from running; none: nothing does. */
export function stopLines({ incident, actions, events }: IncidentRecord): readonly (readonly Span[])[] {
  if (incident.endedAt !== null) return [];
  const set = new Map<string, Extract<IncidentEvent, { type: 'switch.set' }>>();
  for (const event of events) {
    if (event.type === 'switch.set') set.set(event.scope, event);
    if (event.type === 'switch.cleared') set.delete(event.scope);
  }
  const held = actions.findLast(({ step }) => step === 1)?.heldBy;
  if (set.size === 0 && held) return [[bold('Nothing is changed: '), words(cut(oneLine(held), 300))]];
  return [...set.values()].map(({ scope, by, reason, until }) => [
    bold('Nothing is changed '),
    words(`(${scope === '*' ? 'everything' : scope.replace(':', ' ')}): stopped by `),
    /^[UW][A-Z0-9]{2,}$/.test(by) ? person(by) : words(cut(oneLine(by), 80)),
    ...(until ? [words(' until '), moment(until)] : []),
    ...(reason ? [words(`: ${cut(oneLine(reason), 200)}`)] : []),
  ]);
}
