import type { IncidentEvent } from '../core/event.ts';
import type { Verdict } from '../core/incident.ts';

/** Rounds that ended *not fixed* since the incident was opened, reopened or helped on by a person. */
export function failedRounds(events: readonly IncidentEvent[]): number {
  let count = 0;
  let last: Verdict | undefined;
  for (const event of events) {
    if (event.type === 'verification.concluded') {
      last = event.verdict;
      if (last === 'not_fixed') count += 1;
    }
    if (event.type !== 'state.changed' || event.to !== 'diagnosing') continue;
    // A fix that did not last begins no new count, or it could be tried again for ever.
    const isNew =
      event.from === 'resolved' ? last !== 'not_fixed' : ['reported', 'escalated'].includes(event.from);
    if (isNew) count = 0;
  }
  return count;
}
