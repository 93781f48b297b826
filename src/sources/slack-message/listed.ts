import { fingerprintOf, isIdentifying } from '../fingerprint.ts';
import { type Pairs, pairName, pairsOf } from './pairs.ts';

/** One of the alerts that a group's message lists. */
export interface Listed extends Pairs {
  readonly status: 'firing' | 'resolved';
}

/** Beyond these nobody lists alerts in a message. */
const MOST_LINES = 1_000;
const MOST_ALERTS = 100;

const section = /^\W*(?:alerts?\s+)?(firing|resolved)(?:\s+alerts?)?\W*(?:\d+\W*)?$/i;

/**
 * The alerts of a group's message, each with the labels listed for it, or none: the message lists none, not all of those that
 * its title counts, or does not tell which of them are over. What stands before the first is said of all.
 *
 * @param lines every line of the message, repeated ones too
 * @param count how many the title says there are; null where it does not say
 * @param status of those without a word of their own; null: unknown
 */
export function listedIn(
  lines: readonly string[],
  count: number | null,
  status: Listed['status'] | null,
): readonly Listed[] {
  const starts = startsOf(lines.slice(0, MOST_LINES), count);
  if (starts.length < 2 || starts.length > MOST_ALERTS) return [];
  const shared = lines.slice(0, starts[0]);
  const listed = starts.flatMap((start, n): readonly Listed[] => {
    const pairs = pairsOf([...shared, ...lines.slice(start, starts[n + 1])]);
    const { status: word, ...labels } = pairs.labels;
    const told =
      (section.exec(word ?? '') ?? lastSection(lines.slice(0, start)))?.[1]?.toLowerCase() ?? status;
    const tells = Object.keys(labels).some((label) => label !== 'alertname' && isIdentifying(label));
    return tells && (told === 'firing' || told === 'resolved') ? [{ ...pairs, labels, status: told }] : [];
  });
  const told = new Set(
    listed.map(({ labels }) => fingerprintOf('', { ...labels, name: labels['alertname'] ?? '' })),
  );
  // One alert may be told of twice in one message; several have as many places or names.
  return told.size === starts.length ? listed : [];
}

const lastSection = (lines: readonly string[]): RegExpExecArray | null => {
  const line = lines.findLast((each) => section.test(each));
  return line === undefined ? null : section.exec(line);
};

/** Where each alert begins: at the first thing that is told as often as there are alerts. */
function startsOf(lines: readonly string[], count: number | null): readonly number[] {
  const places = new Map<string, number[]>();
  for (const [n, line] of lines.entries()) {
    const name = pairName(line);
    if (name !== null) places.set(name, [...(places.get(name) ?? []), n]);
  }
  const [first, ...others] = [...places.values()].filter((at) => at.length > 1);
  // What some tell and some do not, or what stands above all as well, does not say where one begins.
  const isEven = first !== undefined && others.every((at) => at.length % first.length === 0);
  return isEven && (count === null || first.length === count) ? first : [];
}
