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
  /** Numbers of the literals of which one must stand behind that place; null when none need to. */
  readonly needs: readonly number[] | null;
}

interface Automaton<R extends Rule> {
  /** Character class of each ASCII code, case folded; 0 is any character that no literal has. */
  readonly classes: Uint8Array;
  /**
   * Next state, premultiplied by the number of classes: `next[state + class]`. Where something ends in it, its complement,
   * so that the many steps that end nothing cost one comparison.
   */
  readonly next: Int32Array;
  /** What ends in a state, by its number. */
  readonly ends: readonly Ends<R>[];
  readonly width: number;
  /** How many literals are needed by rules. */
  readonly needed: number;
}

interface Ends<R extends Rule> {
  readonly rules: End<R>[];
  /** Numbers of the literals that rules need. */
  readonly needs: number[];
  /** As bits. */
  marks: number;
}

/** What one pass over a text says of it. */
export interface Matched<R extends Rule> {
  readonly struck: Struck<R>[];
  /** Bit n is set when a literal of the n-th list of marks stands in the text. */
  readonly marks: number;
  /** Nothing in it is beyond ASCII. */
  readonly ascii: boolean;
}

/** What is looked for beside the hints of rules; literals in lower case ASCII. */
export interface Literals<R extends Rule> {
  /** Lists of literals that are only looked for. Asked when the first text comes, as is the next. */
  readonly marks?: () => readonly (readonly string[])[];
  /** Of which one stands in whatever the rule's pattern matches, so that it need not be tried; none where that is not known. */
  readonly needs?: (rule: R) => readonly string[];
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

/** What a pass over a text leaves behind, until the next; kept for speed only. */
interface Walk {
  /** Pairs: a state (its number) in which something ends, and where. */
  hits: Int32Array;
  /** How many numbers of `hits` are of this text. */
  count: number;
  marks: number;
  anyRule: boolean;
  /** Where a literal that rules need ends last; 0 for none. */
  readonly lastNeeded: Int32Array;
}

function walkOf({ needed }: Automaton<Rule>): Walk {
  return {
    hits: new Int32Array(1_024),
    count: 0,
    marks: 0,
    anyRule: false,
    lastNeeded: new Int32Array(needed),
  };
}

/** The pass over the text; says whether it is ASCII. */
function walkOver(walk: Walk, { classes, next, ends, width }: Automaton<Rule>, text: string): boolean {
  const { length } = text;
  let { hits } = walk;
  let all = 0;
  let state = 0;
  let count = 0;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    all |= code;
    state = code < 128 ? (next[state + (classes[code] as number)] as number) : 0;
    if (state >= 0) continue;
    state = ~state;
    if (count === hits.length) hits = grown(hits);
    hits[count++] = state;
    hits[count++] = i + 1;
  }
  walk.hits = hits;
  walk.count = count;
  walk.marks = 0;
  walk.anyRule = false;
  if (count === 0) return all < 128;
  walk.lastNeeded.fill(0);
  for (let hit = 0; hit < count; hit += 2) {
    const number = (hits[hit] as number) / width;
    hits[hit] = number;
    const end = ends[number] as Ends<Rule>;
    walk.marks |= end.marks;
    if (end.rules.length > 0) walk.anyRule = true;
    for (let i = 0; i < end.needs.length; i++)
      walk.lastNeeded[end.needs[i] as number] = hits[hit + 1] as number;
  }
  return all < 128;
}

function standsBehind(needs: readonly number[], lastNeeded: Int32Array, at: number): boolean {
  for (let i = 0; i < needs.length; i++) if ((lastNeeded[needs[i] as number] as number) > at) return true;
  return false;
}

function grown(hits: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * hits.length);
  larger.set(hits);
  return larger;
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
  let walk: Walk | undefined;
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

function reading<R extends Rule>(
  automaton: Automaton<R>,
  read: Readonly<Record<string, string>>,
): Automaton<R> {
  const { classes } = automaton;
  for (const [char, letter] of Object.entries(read))
    classes[char.charCodeAt(0)] = classes[letter.charCodeAt(0)] as number;
  return automaton;
}

/**
 * Whether any of the literals (lower case ASCII) stands in a text, in any case: one pass, no patterns.
 *
 * @param read other characters that are read as letters (`0` as `o`)
 */
export function createLiteralTest(
  literals: () => readonly string[],
  read: Readonly<Record<string, string>> = {},
): (text: string) => boolean {
  let automaton: Automaton<Rule> | undefined;
  return (text) => {
    automaton ??= reading(build([], { marks: () => [literals()] }), read);
    const { classes, next } = automaton;
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

function build<R extends Rule>(
  rules: readonly R[],
  { marks = () => [], needs = () => [] }: Literals<R>,
): Automaton<R> {
  const marked = marks();
  const needsOf = rules.map(needs);
  const { classes, width } = classesOf([
    ...rules.flatMap(({ hints }) => hints),
    ...needsOf.flat(),
    ...marked.flat(),
  ]);
  const rows: Int32Array[] = [new Int32Array(width).fill(-1)];
  const ends: Ends<R>[] = [{ rules: [], needs: [], marks: 0 }];
  const stateOf = (literal: string): Ends<R> => {
    let state = 0;
    for (const char of literal) {
      const row = rows[state] as Int32Array;
      const cls = classes[char.charCodeAt(0)] as number;
      if (row[cls] === -1) {
        row[cls] = rows.length;
        rows.push(new Int32Array(width).fill(-1));
        ends.push({ rules: [], needs: [], marks: 0 });
      }
      state = row[cls] as number;
    }
    return ends[state] as Ends<R>;
  };
  const numbers = new Map<string, number>();
  const numberOf = (literal: string): number => {
    const known = numbers.get(literal);
    if (known !== undefined) return known;
    const number = numbers.size;
    numbers.set(literal, number);
    stateOf(literal).needs.push(number);
    return number;
  };
  for (const [index, rule] of rules.entries()) {
    const quick = rule.pattern.hasIndices
      ? new RegExp(rule.pattern.source, rule.pattern.flags.replace('d', ''))
      : rule.pattern;
    const hasGroups = capturesIn(rule.pattern);
    const needed = (needsOf[index] ?? []).map(numberOf);
    for (const hint of rule.hints)
      stateOf(hint).rules.push({
        rule,
        quick,
        hasGroups,
        index,
        reach: hint.length + (rule.back ?? 0),
        needs: needed.length === 0 ? null : needed,
      });
  }
  for (const [bit, literals] of marked.entries())
    for (const literal of literals) stateOf(literal).marks |= 1 << bit;
  link(rows, ends);
  const next = new Int32Array(rows.length * width);
  const isEnd = Uint8Array.from(ends, (end) =>
    end.rules.length > 0 || end.needs.length > 0 || end.marks !== 0 ? 1 : 0,
  );
  for (let state = 0; state < rows.length; state++) {
    const row = rows[state] as Int32Array;
    for (let cls = 0; cls < width; cls++) {
      const to = row[cls] as number;
      next[state * width + cls] = isEnd[to] === 1 ? ~(to * width) : to * width;
    }
  }
  return { classes, next, width, ends, needed: numbers.size };
}

function classesOf(literals: readonly string[]): Pick<Automaton<Rule>, 'classes' | 'width'> {
  const classes = new Uint8Array(128);
  let width = 1;
  for (const char of new Set(literals.join(''))) {
    classes[char.charCodeAt(0)] = width;
    classes[char.toUpperCase().charCodeAt(0)] = width;
    width++;
  }
  return { classes, width };
}

/** Whether a pattern has groups; read from its text, since asking the engine makes it compile the pattern. */
function capturesIn({ source }: RegExp): boolean {
  const bare = source.replace(/\\.|\[(?:\\.|[^\]\\])*\]/g, '');
  return /\((?!\?)|\(\?<(?![=!])/.test(bare);
}

/** Breadth first: a missing edge goes where the longest proper suffix goes, and its endings are inherited. */
function link<R extends Rule>(rows: readonly Int32Array[], ends: readonly Ends<R>[]): void {
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
        here.needs.push(...there.needs);
        here.marks |= there.marks;
      }
      queue.push(to);
    }
  }
}
