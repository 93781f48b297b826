import { ordinal } from '../../../core/count.ts';
import type { IncidentEvent } from '../../../core/event.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { span } from './labels.ts';

type Moved = Extract<IncidentEvent, { type: 'state.changed' }>;

/** A time in which the incident was open: since it began, or since it came back. */
export interface Opening {
  /** From 1. */
  readonly number: number;
  readonly startedAt: string;
  /** The move by which it came back; null for the first. */
  readonly reopened: Moved | null;
  /** What happened between the end before it and this move. */
  readonly cameBackBy: readonly IncidentEvent[];
  /** The move to `resolved`; null: it has not ended so. */
  readonly end: Moved | null;
  /** All of it, to where it came back again. */
  readonly events: readonly IncidentEvent[];
  /** The present one. */
  readonly isLast: boolean;
}

/** Oldest first, at least one. */
export function openingsOf({ incident, events }: Pick<IncidentRecord, 'incident' | 'events'>) {
  const moves = events.filter((event) => event.type === 'state.changed');
  const reopenings = moves.filter(({ from }) => from === 'resolved');
  return [null, ...reopenings].map((reopened, index): Opening => {
    const from = reopened?.seq ?? 0;
    const next = reopenings[index]?.seq ?? Number.POSITIVE_INFINITY;
    const endBefore = moves.findLast(({ seq, to }) => seq < from && to === 'resolved')?.seq ?? 0;
    return {
      number: index + 1,
      startedAt: reopened?.at ?? incident.openedAt,
      reopened,
      cameBackBy: events.filter(({ seq }) => seq > endBefore && seq < from),
      end: moves.find(({ seq, to }) => seq > from && seq < next && to === 'resolved') ?? null,
      events: events.filter(({ seq }) => seq >= from && seq < next),
      isLast: index === reopenings.length,
    };
  });
}

/** `2nd time in 30 min`; null for the first time. */
export const howOften = (
  { number, startedAt }: Opening,
  { openedAt }: Pick<IncidentRecord['incident'], 'openedAt'>,
): string | null => (number === 1 ? null : `${ordinal(number)} time in ${span(openedAt, startedAt)}`);
