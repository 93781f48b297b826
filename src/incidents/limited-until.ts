import type { LimitedUntil } from '../core/errors.ts';
import type { IncidentRecord } from '../core/incident-record.ts';
import { MAX_ROUNDS } from '../core/machine.ts';
import { isUnanswered } from './failed-reads/classify-read-failure.ts';

/** A target that did not answer is asked again after so long. */
const PASSING_MS = 30_000;

/**
 * What last kept the gate from proposing, in the planning that is on, and does not keep it for ever: a limit, or a target that
 * did not answer in time. Null: nothing of that kind.
 */
export function limitMet({ events, toolCalls }: IncidentRecord): LimitedUntil | null {
  const from = events.findLastIndex((event) => event.type === 'state.changed' && event.to === 'planning');
  const asked = events
    .slice(from + 1)
    .flatMap((event) => (event.type === 'tool.called' && event.role === 'surgeon' ? [event.toolCallId] : []));
  const calls = toolCalls.filter(({ id }) => asked.includes(id));
  const limited = calls.findLast(({ code }) => code === 'RATE_LIMITED');
  const { until, limit } = (limited?.result ?? {}) as Partial<LimitedUntil>;
  if (until !== undefined && limit !== undefined) return { until, limit };
  const unanswered = calls.findLast(({ code }) => code !== null && isUnanswered(code));
  return unanswered
    ? {
        until: new Date(Date.now() + PASSING_MS).toISOString(),
        limit: `${unanswered.target ?? 'The target'} did not answer.`,
      }
    : null;
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
