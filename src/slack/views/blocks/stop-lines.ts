import type { IncidentEvent } from '../../../core/event.ts';
import { isSlackUser } from '../../../core/is-slack-user.ts';
import { formatScope } from '../../../core/switch-scope.ts';
import { bold, moment, person, type Span, words } from './build.ts';
import { cut, oneLine } from './text.ts';

/** The stops of everything, a domain or a target among these events that nobody has taken back: who stopped it and why. */
export function stopLines(events: readonly IncidentEvent[]): readonly (readonly Span[])[] {
  const set = new Map<string, Extract<IncidentEvent, { type: 'switch.set' }>>();
  for (const event of events) {
    if (event.type === 'switch.set') set.set(event.scope, event);
    if (event.type === 'switch.cleared') set.delete(event.scope);
  }
  return [...set.values()].map(({ scope, by, reason, until }) => [
    bold('Nothing is changed '),
    words(`(${formatScope(scope)}): stopped by `),
    isSlackUser(by) ? person(by) : words(cut(oneLine(by), 80)),
    ...(until ? [words(' until '), moment(until)] : []),
    ...(reason ? [words(`: ${cut(oneLine(reason), 200)}`)] : []),
  ]);
}
