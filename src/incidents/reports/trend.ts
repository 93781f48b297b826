import type { IncidentRecord } from '../../core/incident-record.ts';
import { formatValue, isYesOrNo, type Measured, staysAsItIs } from '../../core/measure.ts';
import { criterionOnRecord } from '../recovery/criterion-on-record.ts';
import type { ReadsRecorded } from '../recovery/recovery-series.ts';
import { minute, told } from './report-lines.ts';

/** What was read longer ago than this is not how it is now. */
const FRESH_MS = 3 * 60_000;

interface Reading extends Measured {
  readonly value: number;
  readonly at: string;
}

/**
 * Whether it gets better or worse: the measure by which its end will be judged, the first time it was read and the last; null
 * where nothing of the kind was read.
 */
export function formatTrend(record: IncidentRecord, read: ReadsRecorded, now: Date): string | null {
  const readings = readingsOf(record, read);
  const [first, last] = [readings[0], readings.at(-1)];
  if (first === undefined || last === undefined) return null;
  const age = now.getTime() - Date.parse(last.at);
  const since = age > FRESH_MS ? ` Not measured since ${minute(last.at)}.` : '';
  const label = isYesOrNo(last.measure) ? `“${told(last.measure.label, 60)}”` : told(last.measure.label, 45);
  if (first === last) return `${label}: ${valueOf(last)} at ${minute(last.at)}, read once.${since}`;
  return `${direction(first, last)}: ${label} ${valueOf(first)} at ${minute(first.at)}, ${valueOf(last)} at ${minute(last.at)}.${since}`;
}

/** Of the first measure that was read at all, on the system that it is about. */
function readingsOf(record: IncidentRecord, read: ReadsRecorded): readonly Reading[] {
  for (const step of criterionOnRecord(record)?.steps ?? []) {
    if (step.measure === undefined) continue;
    const readings = record.toolCalls.flatMap((call): readonly Reading[] => {
      if (call.target !== (step.target ?? record.incident.target)) return [];
      const seen = read(step, call);
      if (seen === null || seen.value === null || staysAsItIs(seen.measure)) return [];
      return [{ ...seen, value: seen.value, at: call.startedAt }];
    });
    if (readings.length > 0) return readings.toSorted((a, b) => a.at.localeCompare(b.at));
  }
  return [];
}

/** A part of it was not seen: the least that it is. */
const valueOf = ({ measure, value, isHealthy }: Reading): string =>
  `${isHealthy === null ? 'at least ' : ''}${formatValue(measure, value)}`;

function direction(first: Reading, last: Reading): string {
  // Of what was seen in part, two numbers tell no direction.
  if (first.isHealthy === null || last.isHealthy === null) return 'Measured';
  if (first.value === last.value) return 'No better, no worse';
  const isLess = last.value < first.value;
  return isLess === (last.measure.healthy === 'at_most') ? 'Better' : 'Worse';
}
