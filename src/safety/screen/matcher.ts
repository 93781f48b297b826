import type { Rule, Span } from '../secrets/rule.ts';
import {
  type Automaton,
  build,
  type End,
  type Ends,
  type Literals,
  type Pass,
  reading,
  standsBehind,
  walkOf,
  walkOver,
} from './automaton.ts';

/** A rule and where it struck. */
export interface Struck<R extends Rule> extends Span {
  readonly rule: R;
  /** Its place in the table of rules. */
  readonly index: number;
}

/** What one pass over a text says of it. */
export interface Matched<R extends Rule> {
  readonly struck: Struck<R>[];
  /** Bit n is set when a literal of the n-th list of marks stands in the text. */
  readonly marks: number;
  /** Nothing in it is beyond ASCII. */
  readonly ascii: boolean;
}

/**
 * All rules at once: one pass of an Aho-Corasick automaton over the text finds the hints (any number of them, at the cost
 * of one table look-up a character), and each rule's sticky pattern is tried where its hint stands. Linear in the text as
 * long as every pattern keeps the promise of `Rule`. Built when the first text comes.
 */
export function createMatcher<R extends Rule>(
  rules: readonly R[],
  literals: Literals<R> = {},
): (text: string) => Matched<R> {
  let match: ((text: string) => Matched<R>) | undefined;
  return (text) => {
    match ??= matcherOf(build(rules, literals), rules.length);
    return match(text);
  };
}

function matcherOf<R extends Rule>(automaton: Automaton<R>, rules: number): (text: string) => Matched<R> {
  const { ends } = automaton;
  // All of this is kept between calls for speed only.
  // What a rule has struck already holds nothing more for it: the end of its last strike.
  const covered = new Int32Array(rules);
  const later: { readonly one: End<R>; readonly at: number }[] = [];
  const walk = walkOf(automaton);

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
    const { hits, count, lastNeeded } = walk;
    for (let hit = 0; hit < count; hit += 2) {
      const end = hits[hit + 1] as number;
      const ended = (ends[hits[hit] as number] as Ends<R>).rules;
      for (let i = 0; i < ended.length; i++) {
        const one = ended[i] as End<R>;
        const at = end - one.reach;
        if (one.needs !== null && !standsBehind(one.needs, lastNeeded, at)) continue;
        if (one.rule.general === true) later.push({ one, at });
        else strike(one, text, at, struck);
      }
    }
    if (later.length > 0) strikeLater(text, struck);
    return struck;
  };

  return (text) => {
    const ascii = walkOver(walk, automaton, text);
    if (walk.count === 0) return { struck: [], marks: 0, ascii };
    return { struck: walk.anyRule ? strikeAll(text) : [], marks: walk.marks, ascii };
  };
}

/**
 * Whether a rule may have something in a text in which some characters are read as letters (`0` as `o`): its hint stands
 * there, and behind it what it needs. One pass, no patterns.
 */
export function createRuleTest<R extends Rule>(
  rules: () => readonly R[],
  needs: (rule: R) => readonly string[],
  read: Readonly<Record<string, string>>,
): (text: string) => boolean {
  let automaton: Automaton<R> | undefined;
  let walk: Pass | undefined;
  return (text) => {
    automaton ??= reading(build(rules(), { needs }), read);
    walk ??= walkOf(automaton);
    walkOver(walk, automaton, text);
    if (!walk.anyRule) return false;
    const { hits, count, lastNeeded } = walk;
    for (let hit = 0; hit < count; hit += 2)
      for (const one of (automaton.ends[hits[hit] as number] as Ends<R>).rules)
        if (one.needs === null || standsBehind(one.needs, lastNeeded, (hits[hit + 1] as number) - one.reach))
          return true;
    return false;
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
