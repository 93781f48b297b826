import type { IncidentEvent } from './event.ts';

export type Called = Extract<IncidentEvent, { type: 'person.called' }>;
export type Acknowledged = Extract<IncidentEvent, { type: 'incident.acknowledged' }>;

/** Who has an incident, who was called for it, and what waits, since it last began to be open. */
export interface CallState {
  readonly acknowledged: Acknowledged | null;
  /** The last call; null: nobody was called since it was acknowledged, given back or began. */
  readonly called: Called | null;
  /** Until when nobody is called, ISO 8601; null: nothing waits. */
  readonly waitsUntil: string | null;
}

export function callStateOf(events: readonly IncidentEvent[]): CallState {
  let state: CallState = { acknowledged: null, called: null, waitsUntil: null };
  for (const event of events) {
    if (event.type === 'state.changed' && (event.from === 'resolved' || event.to === 'stopped'))
      state = { acknowledged: null, called: null, waitsUntil: null };
    else if (event.type === 'incident.released')
      state = { acknowledged: null, called: null, waitsUntil: null };
    else if (event.type === 'incident.acknowledged')
      state = { acknowledged: event, called: null, waitsUntil: null };
    // Whoever only did something has not taken what came since.
    else if (event.type === 'person.called')
      state = {
        acknowledged: event.level === 0 ? state.acknowledged : null,
        called: event,
        waitsUntil: null,
      };
    else if (event.type === 'call.waits') state = { ...state, waitsUntil: event.until };
  }
  return state;
}
