import type { Incident } from '../../core/incident.ts';

/**
 * How an incident ended, as memory tells it. The one place that reads it from the record: `person` is whoever closed it
 * without Sentry and its source, `unknown` one that has no end on record.
 */
export const incidentEnds = ['fixed', 'source', 'person', 'not_fixed', 'unknown'] as const;
export type IncidentEnd = (typeof incidentEnds)[number];

export function endOf({
  state,
  verdict,
  resolvedBy,
}: Pick<Incident, 'state' | 'verdict' | 'resolvedBy'>): IncidentEnd {
  if (state === 'resolved') return resolvedBy === 'confirmed' ? 'fixed' : (resolvedBy ?? 'unknown');
  return verdict === 'not_fixed' ? 'not_fixed' : 'unknown';
}

const PHRASES: Readonly<Record<IncidentEnd, string>> = {
  fixed: 'fixed',
  source: 'over, said its source',
  person: 'closed by a person',
  not_fixed: 'not fixed',
  unknown: 'end not on record',
};

/** `fixed`, or of several `fixed 9 times, not fixed once`. */
export function formatEnds(ends: readonly IncidentEnd[]): string {
  const counted = incidentEnds
    .map((end) => ({ end, times: ends.filter((one) => one === end).length }))
    .filter(({ times }) => times > 0);
  if (ends.length === 1) return PHRASES[ends[0] ?? 'unknown'];
  return counted.map(({ end, times }) => `${PHRASES[end]} ${formatTimes(times)}`).join('; ');
}

export const formatTimes = (times: number): string =>
  times === 1 ? 'once' : times === 2 ? 'twice' : `${times} times`;
