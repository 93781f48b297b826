import type { LimitedUntil } from '../domain/errors.ts';
import type { IncidentRecord } from '../domain/incident-record.ts';
import { MAX_ROUNDS } from './machine.ts';

/** What the gate last kept back from being proposed, in the planning that is on, only because of a limit; null: nothing. */
export function limitMet({ events, toolCalls }: IncidentRecord): LimitedUntil | null {
  const from = events.findLastIndex((event) => event.type === 'state.changed' && event.to === 'planning');
  const asked = events
    .slice(from + 1)
    .flatMap((event) => (event.type === 'tool.called' && event.role === 'surgeon' ? [event.toolCallId] : []));
  const limited = toolCalls.findLast(({ id, code }) => code === 'RATE_LIMITED' && asked.includes(id));
  const { until, limit } = (limited?.result ?? {}) as Partial<LimitedUntil>;
  return until === undefined || limit === undefined ? null : { until, limit };
}

/** A limit that is met again and again, by whoever else uses it up, is not waited for without end. */
export function mayAskAgain({ events }: IncidentRecord): boolean {
  const from = events.findLastIndex((event) => event.type === 'state.changed' && event.to === 'diagnosing');
  const asked = events
    .slice(from + 1)
    .filter(
      (event) => event.type === 'state.changed' && event.from === 'reported' && event.to === 'planning',
    );
  return asked.length < MAX_ROUNDS;
}
