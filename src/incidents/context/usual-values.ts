import { count } from '../../core/count.ts';
import { describeUsual } from '../../core/usual.ts';
import type { LastValue } from '../../usual/usual-values.ts';
import type { LastUsual } from '../unusual-of.ts';
import type { ContextPart } from './part.ts';

const MOST = 3;
const MINUTE_MS = 60_000;
/** What was read longer ago says nothing of now: a read of an earlier round, or a sample after which others failed. */
const [READ_MS, SAMPLE_MS] = [10 * MINUTE_MS, 90 * MINUTE_MS];

/**
 * What is unusual of the target for the hour, by what has been read already: this incident's own reads, else the newest of Sentry's
 * samples, with its age. Nothing is read for it.
 */
export const usualValues = (known: LastUsual, now: () => number = Date.now): ContextPart => ({
  name: 'usual-values',
  label: 'Usual values',
  limitMs: 1_000,
  concerns: ({ record: { incident } }) => incident.target !== null && known.isKept(incident.target),
  async gather({ record: { incident, toolCalls } }) {
    if (incident.target === null) return null;
    const at = now();
    const fresh = toolCalls.filter(({ startedAt }) => at - Date.parse(startedAt) <= READ_MS);
    const last = await known.of(incident.target, fresh);
    const values = last.filter((value) => at - value.at.getTime() <= SAMPLE_MS);
    const judged = values.filter(({ unusual }) => unusual !== null);
    if (judged.length === 0) throw new Error(whyNot(last, values, at));
    const unusual = judged.filter((value) => value.unusual !== 'no');
    if (unusual.length === 0)
      return {
        line: `nothing unusual of ${count(judged.length, 'number')}, read ${agesOf(judged, at)}`,
        nothing: true,
      };
    const shown = unusual
      .slice(0, MOST)
      .map((value) => `${describeUsual(value) ?? value.label}, read ${ageOf(value, at)}`);
    const more = unusual.length - shown.length;
    return { line: `${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}` };
  },
});

function whyNot(last: readonly LastValue[], fresh: readonly LastValue[], now: number): string {
  const [newest] = last;
  if (newest === undefined) return 'no sample of it is kept yet';
  if (fresh.length === 0) return `the newest sample is of ${ageOf(newest, now)}`;
  return `too few samples yet to tell what is usual: ${Math.max(...fresh.map(({ samples }) => samples))}`;
}

function ageOf({ at }: LastValue, now: number): string {
  const minutes = Math.max(0, Math.round((now - at.getTime()) / MINUTE_MS));
  if (minutes === 0) return 'just now';
  return minutes < 120 ? `${minutes} min ago` : `${Math.round(minutes / 60)} h ago`;
}

/** The oldest of them. */
function agesOf(values: readonly LastValue[], now: number): string {
  const [oldest] = values.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  return oldest === undefined ? 'just now' : ageOf(oldest, now);
}
