import type { Change } from '../core/change.ts';
import { isSameEnvironment } from '../core/environment.ts';

const MINUTE_MS = 60_000;
/** So long a deployment takes at most, from its start to its end. */
const LONGEST_MS = 120 * MINUTE_MS;
/** Two notices of one thing come within this time. */
const TOGETHER_MS = 5 * MINUTE_MS;
/** One deployment is told by a webhook and in Slack within this time. */
const TWICE_MS = 10 * MINUTE_MS;

/** A change as it is on record, and one that its sender tells later, of the same thing. */
type Pair = Pick<Change, 'state' | 'to' | 'at'>;

/**
 * Whether what is told later is of the change before it, where the sender has no id for it. An end is of the start before it; a version
 * that is told again is of the same change, until it starts anew.
 */
export function isSameChange(before: Pair, told: Pair): boolean {
  const since = Date.parse(told.at) - Date.parse(before.at);
  const fits = before.to === null || told.to === null || before.to === told.to;
  if (before.state === 'started' && told.state !== 'started') return fits && since <= LONGEST_MS;
  if (told.state !== 'started' && before.to !== null && before.to === told.to) return true;
  return fits && before.state === told.state && since <= TOGETHER_MS;
}

/**
 * Whether a bot's message in Slack is of a change that its own sender tells, too: the same came to the same thing, in the same way, about
 * then. What does not say its version is of none that does, and a try that failed is never the one that came through.
 */
export function isToldTwice(own: Change, heard: Change): boolean {
  const [begun, done, at] = [own.startedAt ?? own.at, own.at, heard.at].map((time) => Date.parse(time)) as [
    number,
    number,
    number,
  ];
  const [thing] = heard.where;
  return (
    at >= begun - TWICE_MS &&
    at <= done + TWICE_MS &&
    thing !== undefined &&
    own.where.includes(thing) &&
    own.kind === heard.kind &&
    (own.state === 'failed') === (heard.state === 'failed') &&
    isSameEnvironment(own.environment, heard.environment) &&
    isOneVersion(own, heard)
  );
}

/** “f95f852” is “f95f852bd8fc…”, and a version that the title of the other has. */
function isOneVersion(own: Change, heard: Change): boolean {
  if (own.to === null || heard.to === null) return false;
  const [one, other] = [bare(own.to), bare(heard.to)];
  const isShort = [one, other].every((sha) => /^[0-9a-f]{7,}$/.test(sha));
  const isPrefix = isShort && (one.startsWith(other) || other.startsWith(one));
  return one === other || isPrefix || tells(own.title, other) || tells(heard.title, one);
}

/** As a word of its own: “1.4.2” is not in “1.4.21”. */
const tells = (title: string, version: string): boolean =>
  title.split(/[\s,;()→]+/).some((word) => bare(word) === version);

const bare = (version: string): string => version.toLowerCase().replace(/^v(?=\d)/, '');
