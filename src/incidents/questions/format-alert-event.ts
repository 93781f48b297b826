import { count } from '../../core/count.ts';
import type { IncidentEvent } from '../../core/event.ts';
import { formatGrowth } from '../../core/group.ts';

type AlertEvent = Extract<
  IncidentEvent,
  { type: 'alert.repeated' | 'alert.flapping' | 'incident.last_time' }
>;

/** What was heard of an incident's alert, for the story; null where another line says it. `moment`: a time, for people. */
export function formatAlertEvent(
  event: AlertEvent,
  events: readonly IncidentEvent[],
  moment: (iso: string) => string,
): string | null {
  if (event.type === 'alert.flapping')
    return `it comes and goes: it fired again ${count(event.flips.length, 'time')}, at ${event.flips.map(moment).join(', ')}`;
  if (event.type === 'incident.last_time')
    return `the same alert had an incident before, which ended ${moment(event.endedAt)}`;
  const { source, occurrences } = event;
  if (event.members !== undefined) return formatGrowth(event, events);
  if (event.over) return `${source} reported it once more; it was over by then`;
  // The same notice by another way is no new occurrence.
  return occurrences === 1
    ? `${source} reported it, too`
    : `fired again (${occurrences} times now, ${source})`;
}
