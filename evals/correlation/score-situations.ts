import { z } from 'zod';
import { groupSituation, Situation } from '../../src/incidents/correlation/situations.ts';
import { kinds } from '../../src/targets/kinds.ts';

/** A situation with what is right: which of its alerts are one problem, by their place. */
const Labelled = Situation.and(z.object({ expected: z.array(z.array(z.number())) }));

export interface CorrelationScore {
  /** Pairs of alerts of two problems that were put together, `situation: 0+1`. */
  readonly wronglyMerged: readonly string[];
  /** Pairs of one problem that were left apart. */
  readonly missed: readonly string[];
  /** Situations in which nothing may be merged that is not one alert, and those in which something must be. */
  readonly mustNot: number;
  readonly must: number;
  /** Share of the situations with something to merge in which all of it was. */
  readonly share: number;
}

const WINDOW_MS = 15 * 60_000;

/** Of lines of labelled situations. */
export function scoreSituations(lines: string): CorrelationScore {
  const wronglyMerged: string[] = [];
  const missed: string[] = [];
  let [must, right] = [0, 0];
  const all = lines.split('\n').filter((line) => line.trim() !== '');
  for (const line of all) {
    const labelled = Labelled.parse(JSON.parse(line));
    const found = pairsOf(groupSituation(labelled, kinds, WINDOW_MS).groups);
    const expected = pairsOf(labelled.expected);
    wronglyMerged.push(...minus(found, expected).map((pair) => `${labelled.id}: ${pair}`));
    const left = minus(expected, found);
    missed.push(...left.map((pair) => `${labelled.id}: ${pair}`));
    // Repeats and ends of one alert are one whatever is decided.
    if (labelled.id.startsWith('not-')) continue;
    must += 1;
    if (left.length === 0) right += 1;
  }
  return { wronglyMerged, missed, must, mustNot: all.length - must, share: right / must };
}

function pairsOf(groups: readonly (readonly number[])[]): ReadonlySet<string> {
  return new Set(
    groups.flatMap((group) => group.flatMap((a) => group.filter((b) => a < b).map((b) => `${a}+${b}`))),
  );
}

const minus = (a: ReadonlySet<string>, b: ReadonlySet<string>): readonly string[] =>
  [...a].filter((each) => !b.has(each));
