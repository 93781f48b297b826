import type { Rule, Span } from './rule.ts';

/** A rule and where it struck. */
export interface Struck<R extends Rule> extends Span {
  readonly rule: R;
}

interface End<R extends Rule> {
  readonly rule: R;
  readonly index: number;
  /** From the end of the hint back to where the pattern begins. */
  readonly reach: number;
}

interface Automaton<R extends Rule> {
  /** Character class of each ASCII code, case folded; 0 is any character that no hint has. */
  readonly classes: Uint8Array;
  /** Next state, premultiplied by the number of classes: `next[state + class]`. */
  readonly next: Int32Array;
  /** What ends in a state (by state number), as rule and length of its hint. */
  readonly ends: readonly (readonly End<R>[] | undefined)[];
  readonly width: number;
}

/**
 * All rules at once: one pass of an Aho-Corasick automaton over the text finds the hints (any number of them, at the cost
 * of one table look-up a character), and each rule's sticky pattern is tried where its hint stands. Linear in the text as
 * long as every pattern keeps the promise of `Rule`.
 */
export function createMatcher<R extends Rule>(rules: readonly R[]): (text: string) => Struck<R>[] {
  const { classes, next, ends, width } = build(rules);
  // What a rule has struck already holds nothing more for it: the end of its last strike. Kept between calls for speed only.
  const covered = new Int32Array(rules.length);
  return (text) => {
    const struck: Struck<R>[] = [];
    covered.fill(0);
    let state = 0;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      state = next[state + (code < 128 ? (classes[code] as number) : 0)] as number;
      if (state === 0) continue;
      const ended = ends[state / width];
      if (ended === undefined) continue;
      for (const { rule, index, reach } of ended) {
        const at = i + 1 - reach;
        if (at < (covered[index] as number)) continue;
        const span = tryAt(rule, text, at);
        if (span === null) continue;
        covered[index] = span.end;
        struck.push({ rule, ...span });
      }
    }
    return struck;
  };
}

/** Whether any of the literals (lower case ASCII) stands in a text, in any case: one pass, no patterns. */
export function createLiteralTest(literals: readonly string[]): (text: string) => boolean {
  const anything = { id: '', category: 'injection', source: '', hints: literals, pattern: /(?:)/y } as const;
  const { classes, next, ends, width } = build([anything]);
  return (text) => {
    let state = 0;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      state = next[state + (code < 128 ? (classes[code] as number) : 0)] as number;
      if (state !== 0 && ends[state / width] !== undefined) return true;
    }
    return false;
  };
}

function tryAt(rule: Rule, text: string, at: number): Span | null {
  if (at < 0) return null;
  rule.pattern.lastIndex = at;
  const match = rule.pattern.exec(text);
  if (match === null) return null;
  const [from, to] = placeOf(match);
  if (from === to) return null;
  const end = rule.extend?.(text, { start: from, end: to }) ?? to;
  const hit = { text, start: from, end, secret: text.slice(from, end), match };
  return rule.check === undefined || rule.check(hit) ? { start: from, end } : null;
}

function placeOf(match: RegExpExecArray): readonly [number, number] {
  const named = match.indices?.groups?.secret;
  if (named !== undefined) return named;
  for (let group = 1; group < match.length; group++) {
    const place = match.indices?.[group];
    if (place !== undefined) return place;
  }
  return [match.index, match.index + match[0].length];
}

function build<R extends Rule>(rules: readonly R[]): Automaton<R> {
  const classes = new Uint8Array(128);
  let width = 1;
  for (const char of new Set(rules.flatMap(({ hints }) => hints.join('').split('')))) {
    classes[char.charCodeAt(0)] = width;
    classes[char.toUpperCase().charCodeAt(0)] = width;
    width++;
  }
  const rows: Int32Array[] = [new Int32Array(width).fill(-1)];
  const ends: End<R>[][] = [[]];
  for (const [index, rule] of rules.entries())
    for (const hint of rule.hints) {
      let state = 0;
      for (const char of hint) {
        const row = rows[state] as Int32Array;
        const cls = classes[char.charCodeAt(0)] as number;
        if (row[cls] === -1) {
          row[cls] = rows.length;
          rows.push(new Int32Array(width).fill(-1));
          ends.push([]);
        }
        state = row[cls] as number;
      }
      ends[state]?.push({ rule, index, reach: hint.length + (rule.back ?? 0) });
    }
  link(rows, ends);
  const next = new Int32Array(rows.length * width);
  rows.forEach((row, state) => {
    next.set(
      row.map((to) => to * width),
      state * width,
    );
  });
  return { classes, next, width, ends: ends.map((list) => (list.length === 0 ? undefined : list)) };
}

/** Breadth first: a missing edge goes where the longest proper suffix goes, and its endings are inherited. */
function link<T>(rows: readonly Int32Array[], ends: T[][]): void {
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
      ends[to]?.push(...(ends[other] ?? []));
      queue.push(to);
    }
  }
}
