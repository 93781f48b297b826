import type { Rule, Span } from '../secrets/rule.ts';
import { type Automaton, build, type End, type Pass, walkOver } from './automaton.ts';

/** A rule and where it struck. */
interface Struck<R extends Rule> extends Span {
  readonly rule: R;
  /** Its place in the table of rules. */
  readonly index: number;
}

/**
 * All rules at once: one pass of an Aho-Corasick automaton over the text finds the hints (any number of them, at the cost
 * of one table look-up a character), and each rule's sticky pattern is tried where its hint stands. Linear in the text as
 * long as every pattern keeps the promise of `Rule`. Built when the first text comes.
 */
export function createMatcher<R extends Rule>(rules: readonly R[]): (text: string) => Struck<R>[] {
  let match: ((text: string) => Struck<R>[]) | undefined;
  return (text) => {
    match ??= matcherOf(build(rules), rules.length);
    return match(text);
  };
}

function matcherOf<R extends Rule>(automaton: Automaton<R>, rules: number): (text: string) => Struck<R>[] {
  const { ends } = automaton;
  // All of this is kept between calls for speed only.
  // What a rule has struck already holds nothing more for it: the end of its last strike.
  const covered = new Int32Array(rules);
  const later: { readonly one: End<R>; readonly at: number }[] = [];
  const walk: Pass = { hits: new Int32Array(1_024), count: 0 };

  const strike = (one: End<R>, text: string, at: number, struck: Struck<R>[]): void => {
    if (at < 0 || at < (covered[one.index] as number)) return;
    const found = placeAt(one, text, at);
    if (found === null || !passes(found, text, at)) return;
    covered[one.index] = found.end;
    struck.push(found);
  };
  /** The general rules, where no exact one has struck. */
  const strikeLater = (text: string, struck: Struck<R>[]): void => {
    const exact = struck.length;
    let from = 0;
    for (const { one, at } of later) {
      if (at < 0 || at < (covered[one.index] as number)) continue;
      const found = placeAt(one, text, at);
      if (found === null) continue;
      while (from < exact && (struck[from] as Span).end <= at) from++;
      const known = isInside(found, struck, from, Math.min(exact, from + NEIGHBOURS));
      if (!known && !passes(found, text, at)) continue;
      covered[one.index] = found.end;
      if (!known) struck.push(found);
    }
  };
  const strikeAll = (text: string): Struck<R>[] => {
    const struck: Struck<R>[] = [];
    covered.fill(0);
    later.length = 0;
    const { hits, count } = walk;
    for (let hit = 0; hit < count; hit += 2) {
      const end = hits[hit + 1] as number;
      const ended = ends[hits[hit] as number] as readonly End<R>[];
      for (let i = 0; i < ended.length; i++) {
        const one = ended[i] as End<R>;
        const at = end - one.reach;
        if (one.rule.general === true) later.push({ one, at });
        else strike(one, text, at, struck);
      }
    }
    if (later.length > 0) strikeLater(text, struck);
    return struck;
  };

  return (text) => {
    walkOver(walk, automaton, text);
    return walk.count === 0 ? [] : strikeAll(text);
  };
}

/** How many of those that have struck around a place are asked: more than can overlap there, and a bound. */
const NEIGHBOURS = 4;

/** Whether one of the struck from `from` to `to` names all of it, and more exactly. */
function isInside(
  { index, start, end }: Struck<Rule>,
  struck: readonly Struck<Rule>[],
  from: number,
  to: number,
): boolean {
  for (let i = from; i < to; i++) {
    const other = struck[i] as Struck<Rule>;
    if (other.start <= start && other.end >= end && other.index < index) return true;
  }
  return false;
}

/** Where the pattern stands and the secret in it, before it is checked. */
function placeAt<R extends Rule>(
  { rule, quick, hasGroups, index }: End<R>,
  text: string,
  at: number,
): Struck<R> | null {
  quick.lastIndex = at;
  let start = at;
  let end: number;
  if (hasGroups) {
    const match = quick.exec(text);
    if (match === null) return null;
    [start, end] = placeOf(match, rule.pattern);
  } else {
    // Nothing to note but where it ends.
    if (!quick.test(text)) return null;
    end = quick.lastIndex;
  }
  if (start === end) return null;
  if (rule.extend !== undefined) end = rule.extend(text, { start, end });
  return { rule, index, start, end };
}

function passes({ rule: { check }, start, end }: Struck<Rule>, text: string, at: number): boolean {
  return check === undefined || check({ text, start, end, secret: text.slice(start, end), at });
}

function placeOf(match: RegExpExecArray, pattern: RegExp): readonly [number, number] {
  const whole = match[0];
  const to = match.index + whole.length;
  const secret = secretOf(match);
  if (secret === undefined) return [match.index, to];
  // Most patterns end with the secret. Only for the others the engine is asked where it stood, which costs several times as much.
  if (whole.endsWith(secret)) return [to - secret.length, to];
  pattern.lastIndex = match.index;
  for (const place of pattern.exec(match.input)?.indices?.slice(1) ?? [])
    if (place !== undefined) return place;
  return [match.index, to];
}

/** The first group that took part; undefined when the pattern has no groups. */
function secretOf(match: RegExpExecArray): string | undefined {
  for (let group = 1; group < match.length; group++) if (match[group] !== undefined) return match[group];
  return undefined;
}
