import type { Rule, Span } from './rule.ts';

/** A rule and where it struck. */
export interface Struck<R extends Rule> extends Span {
  readonly rule: R;
  /** Its place in the table of rules. */
  readonly index: number;
}

interface End<R extends Rule> {
  readonly rule: R;
  /** The rule's pattern without the flag that has the engine note where groups stood. */
  readonly quick: RegExp;
  readonly hasGroups: boolean;
  readonly index: number;
  /** From the end of the hint back to where the pattern begins. */
  readonly reach: number;
}

interface Automaton<R extends Rule> {
  /** Character class of each ASCII code, case folded; 0 is any character that no hint has. */
  readonly classes: Uint8Array;
  /**
   * Next state, premultiplied by the number of classes: `next[state + class]`. Where something ends in it, its complement,
   * so that the many steps that end nothing cost one comparison.
   */
  readonly next: Int32Array;
  /** What ends in a state (by state number): rules with the length of their hints, and marks as bits. */
  readonly ends: readonly Ends<R>[];
  readonly width: number;
}

interface Ends<R extends Rule> {
  readonly rules: readonly End<R>[];
  readonly marks: number;
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
 * long as every pattern keeps the promise of `Rule`.
 *
 * @param marks lists of literals (lower case ASCII) that are only looked for
 */
export function createMatcher<R extends Rule>(
  rules: readonly R[],
  marks: readonly (readonly string[])[] = [],
): (text: string) => Matched<R> {
  const { classes, next, ends, width } = build(rules, marks);
  // What a rule has struck already holds nothing more for it: the end of its last strike. This and the next are kept between
  // calls for speed only.
  const covered = new Int32Array(rules.length);
  const later: { readonly one: End<R>; readonly at: number }[] = [];
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
  return (text) => {
    const struck: Struck<R>[] = [];
    let ascii = true;
    let marked = 0;
    let clean = true;
    let state = 0;
    const { length } = text;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code >= 128) {
        ascii = false;
        state = 0;
        continue;
      }
      state = next[state + (classes[code] as number)] as number;
      if (state >= 0) continue;
      state = ~state;
      const { rules: ended, marks: seen } = ends[state / width] as Ends<R>;
      marked |= seen;
      for (const one of ended) {
        if (clean) {
          covered.fill(0);
          later.length = 0;
          clean = false;
        }
        const at = i + 1 - one.reach;
        if (one.rule.general === true) later.push({ one, at });
        else strike(one, text, at, struck);
      }
    }
    if (!clean && later.length > 0) strikeLater(text, struck);
    return { struck, marks: marked, ascii };
  };
}

/**
 * Whether any of the literals (lower case ASCII) stands in a text, in any case: one pass, no patterns.
 *
 * @param read other characters that are read as letters (`0` as `o`)
 */
export function createLiteralTest(
  literals: readonly string[],
  read: Readonly<Record<string, string>> = {},
): (text: string) => boolean {
  const { classes, next } = build([], [literals]);
  for (const [char, letter] of Object.entries(read))
    classes[char.charCodeAt(0)] = classes[letter.charCodeAt(0)] as number;
  return (text) => {
    let state = 0;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      state = code < 128 ? (next[state + (classes[code] as number)] as number) : 0;
      if (state < 0) return true;
    }
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

function build<R extends Rule>(rules: readonly R[], marks: readonly (readonly string[])[]): Automaton<R> {
  const classes = new Uint8Array(128);
  let width = 1;
  for (const char of new Set([...rules.flatMap(({ hints }) => hints), ...marks.flat()].join(''))) {
    classes[char.charCodeAt(0)] = width;
    classes[char.toUpperCase().charCodeAt(0)] = width;
    width++;
  }
  const rows: Int32Array[] = [new Int32Array(width).fill(-1)];
  const ends: { rules: End<R>[]; marks: number }[] = [{ rules: [], marks: 0 }];
  const stateOf = (literal: string): { rules: End<R>[]; marks: number } => {
    let state = 0;
    for (const char of literal) {
      const row = rows[state] as Int32Array;
      const cls = classes[char.charCodeAt(0)] as number;
      if (row[cls] === -1) {
        row[cls] = rows.length;
        rows.push(new Int32Array(width).fill(-1));
        ends.push({ rules: [], marks: 0 });
      }
      state = row[cls] as number;
    }
    return ends[state] as { rules: End<R>[]; marks: number };
  };
  for (const [index, rule] of rules.entries()) {
    const quick = new RegExp(rule.pattern.source, rule.pattern.flags.replace('d', ''));
    const hasGroups = capturesIn(rule.pattern);
    for (const hint of rule.hints)
      stateOf(hint).rules.push({
        rule,
        quick,
        hasGroups,
        index,
        reach: hint.length + (rule.back ?? 0),
      });
  }
  for (const [bit, literals] of marks.entries())
    for (const literal of literals) stateOf(literal).marks |= 1 << bit;
  link(rows, ends);
  const next = new Int32Array(rows.length * width);
  const isEnd = Uint8Array.from(ends, (end) => (end.rules.length > 0 || end.marks !== 0 ? 1 : 0));
  for (let state = 0; state < rows.length; state++) {
    const row = rows[state] as Int32Array;
    for (let cls = 0; cls < width; cls++) {
      const to = row[cls] as number;
      next[state * width + cls] = isEnd[to] === 1 ? ~(to * width) : to * width;
    }
  }
  return { classes, next, width, ends };
}

/** Whether a pattern has groups; read from its text, since asking the engine makes it compile the pattern. */
function capturesIn({ source }: RegExp): boolean {
  const bare = source.replace(/\\.|\[(?:\\.|[^\]\\])*\]/g, '');
  return /\((?!\?)|\(\?<(?![=!])/.test(bare);
}

/** Breadth first: a missing edge goes where the longest proper suffix goes, and its endings are inherited. */
function link<T>(rows: readonly Int32Array[], ends: readonly { rules: T[]; marks: number }[]): void {
  const fail = new Int32Array(rows.length);
  const queue = [0];
  for (let head = 0; head < queue.length; head++) {
    const state = queue[head] as number;
    const row = rows[state] as Int32Array;
    const suffix = rows[fail[state] as number] as Int32Array;
    for (let cls = 0; cls < row.length; cls++) {
      const to = row[cls] as number;
      const other = state === 0 ? 0 : (suffix[cls] as number);
      if (to === -1) {
        row[cls] = other;
        continue;
      }
      fail[to] = other;
      const [here, there] = [ends[to], ends[other]];
      if (here && there) {
        here.rules.push(...there.rules);
        here.marks |= there.marks;
      }
      queue.push(to);
    }
  }
}
