import { type Refusal, refuse } from '../../core/errors.ts';

/** One step of a pattern's automaton. `next`: the indexes of the steps after it. */
export type Step =
  | { readonly kind: 'character'; readonly fits: (character: string) => boolean; next: number }
  | { readonly kind: 'fork'; readonly next: number[] }
  | { readonly kind: 'edge'; readonly edge: '^' | '$' | 'b' | 'B'; next: number }
  | { readonly kind: 'match' };

/** An automaton after Thompson (1968): it has no back references, so that a text is read in time linear in its length. */
export interface Automaton {
  readonly ok: true;
  readonly steps: readonly Step[];
  readonly start: number;
}

export const MAX_PATTERN = 200;
/** Repetitions are written out, so this also bounds `{n,m}`. */
const MAX_STEPS = 500;

type Node =
  | { readonly kind: 'character'; readonly fits: (character: string) => boolean }
  | { readonly kind: 'edge'; readonly edge: '^' | '$' | 'b' | 'B' }
  | { readonly kind: 'all'; readonly parts: readonly Node[] }
  | { readonly kind: 'one'; readonly parts: readonly Node[] }
  | { readonly kind: 'times'; readonly part: Node; readonly min: number; readonly max: number };

/** What is wrong with a pattern; becomes a refusal. */
class PatternProblem extends Error {}

/**
 * Reads a regular expression of the common kind: `. [] [^] () | * + ? {n,m} ^ $ \b \d \w \s` and their opposites. Look-around
 * and back references are refused.
 */
export function parsePattern(pattern: string, ignoreCase: boolean): Automaton | Refusal {
  if (pattern === '' || pattern.length > MAX_PATTERN)
    return refuse('PATTERN', `A pattern has 1 to ${MAX_PATTERN} characters.`);
  try {
    return build(new PatternReader(pattern, ignoreCase).read());
  } catch (error) {
    if (error instanceof PatternProblem) return refuse('PATTERN', `The pattern ${error.message}.`);
    throw error;
  }
}

class PatternReader {
  private at = 0;
  private depth = 0;
  private readonly pattern: string;
  private readonly ignoreCase: boolean;

  constructor(pattern: string, ignoreCase: boolean) {
    this.pattern = pattern;
    this.ignoreCase = ignoreCase;
  }

  read(): Node {
    const node = this.readAlternatives();
    if (this.at < this.pattern.length) throw new PatternProblem('has a ")" too many');
    return node;
  }

  private readAlternatives(): Node {
    const parts = [this.readSequence()];
    while (this.take('|')) parts.push(this.readSequence());
    return parts.length === 1 && parts[0] ? parts[0] : { kind: 'one', parts };
  }

  private readSequence(): Node {
    const parts: Node[] = [];
    while (this.at < this.pattern.length && this.peek() !== '|' && this.peek() !== ')')
      parts.push(this.readRepeated());
    return { kind: 'all', parts };
  }

  private readRepeated(): Node {
    let node = this.readAtom();
    for (;;) {
      const bounds = this.readBounds();
      if (!bounds) return node;
      if (node.kind === 'edge') throw new PatternProblem('repeats what has no length');
      node = { kind: 'times', part: node, ...bounds };
      // Lazy or not: whether there is a match is the same.
      this.take('?');
    }
  }

  private readBounds(): { readonly min: number; readonly max: number } | undefined {
    if (this.take('*')) return { min: 0, max: Number.POSITIVE_INFINITY };
    if (this.take('+')) return { min: 1, max: Number.POSITIVE_INFINITY };
    if (this.take('?')) return { min: 0, max: 1 };
    const [whole, low, comma, high] = /^\{(\d{1,3})(,?)(\d{0,3})\}/.exec(this.pattern.slice(this.at)) ?? [];
    if (whole === undefined || low === undefined) return undefined;
    this.at += whole.length;
    const min = Number(low);
    const max = comma ? (high ? Number(high) : Number.POSITIVE_INFINITY) : min;
    if (max < min) throw new PatternProblem('has a repetition whose end is before its beginning');
    return { min, max };
  }

  private readAtom(): Node {
    const character = this.next();
    if (character === '(') return this.readGroup();
    if (character === '[') return { kind: 'character', fits: this.folded(this.readSet()) };
    if (character === '.') return { kind: 'character', fits: () => true };
    if (character === '^' || character === '$') return { kind: 'edge', edge: character };
    if (character === '*' || character === '+' || character === '?')
      throw new PatternProblem(`has a "${character}" with nothing before it`);
    if (character !== '\\') return this.literal(character);
    const escaped = this.next();
    if (escaped === 'b' || escaped === 'B') return { kind: 'edge', edge: escaped };
    const known = classes[escaped];
    if (known) return { kind: 'character', fits: known };
    return this.literal(this.unescaped(escaped));
  }

  private readGroup(): Node {
    if (this.peek() === '?') {
      if (!this.pattern.startsWith('?:', this.at))
        throw new PatternProblem('looks around or names a group, which is not supported');
      this.at += 2;
    }
    this.depth += 1;
    if (this.depth > 20) throw new PatternProblem('nests its groups too deep');
    const node = this.readAlternatives();
    if (!this.take(')')) throw new PatternProblem('has a "(" that is not closed');
    this.depth -= 1;
    return node;
  }

  private readSet(): (character: string) => boolean {
    const negated = this.take('^');
    const tests: ((character: string) => boolean)[] = [];
    for (let first = true; first || this.peek() !== ']'; first = false) {
      const from = this.readSetItem();
      if (typeof from === 'function') tests.push(from);
      else if (this.peek() === '-' && this.pattern[this.at + 1] !== ']') {
        this.at += 1;
        const to = this.readSetItem();
        if (typeof to === 'function' || to < from)
          throw new PatternProblem('has a range whose end is before its beginning');
        tests.push((character) => character >= from && character <= to);
      } else tests.push((character) => character === from);
    }
    this.at += 1;
    return (character) => tests.some((test) => test(character)) !== negated;
  }

  private readSetItem(): string | ((character: string) => boolean) {
    const character = this.next();
    if (character !== '\\') return character;
    const escaped = this.next();
    return classes[escaped] ?? this.unescaped(escaped);
  }

  private unescaped(character: string): string {
    if (character === 't') return '\t';
    if (/[0-9A-Za-z]/.test(character))
      throw new PatternProblem(`has "\\${character}", which is not supported`);
    return character;
  }

  private literal(character: string): Node {
    return { kind: 'character', fits: this.folded((given) => given === character) };
  }

  private folded(fits: (character: string) => boolean): (character: string) => boolean {
    if (!this.ignoreCase) return fits;
    return (character) => fits(character) || fits(character.toLowerCase()) || fits(character.toUpperCase());
  }

  private peek(): string | undefined {
    return this.pattern[this.at];
  }

  private take(character: string): boolean {
    if (this.peek() !== character) return false;
    this.at += 1;
    return true;
  }

  private next(): string {
    const character = this.peek();
    if (character === undefined) throw new PatternProblem('ends too early');
    this.at += 1;
    return character;
  }
}

const isDigit = (character: string): boolean => character >= '0' && character <= '9';
const isSpace = (character: string): boolean => /\s/u.test(character);
export const isWord = (character: string): boolean => /\w/.test(character);
const classes: Readonly<Record<string, ((character: string) => boolean) | undefined>> = {
  d: isDigit,
  D: (character) => !isDigit(character),
  s: isSpace,
  S: (character) => !isSpace(character),
  w: isWord,
  W: (character) => !isWord(character),
};

function build(node: Node): Automaton {
  const steps: Step[] = [];
  const add = (step: Step): number => {
    if (steps.length >= MAX_STEPS) throw new PatternProblem('repeats too much');
    return steps.push(step) - 1;
  };
  /** Puts a node before `next` and returns where it starts: the automaton grows from its end. */
  const put = (part: Node, next: number): number => {
    switch (part.kind) {
      case 'character':
        return add({ kind: 'character', fits: part.fits, next });
      case 'edge':
        return add({ kind: 'edge', edge: part.edge, next });
      case 'all':
        return part.parts.reduceRight((after, each) => put(each, after), next);
      case 'one':
        return add({ kind: 'fork', next: part.parts.map((each) => put(each, next)) });
      case 'times':
        return putTimes(part, next);
    }
  };
  const putTimes = ({ part, min, max }: Extract<Node, { kind: 'times' }>, next: number): number => {
    let start = next;
    if (max === Number.POSITIVE_INFINITY) {
      const loop: number[] = [next];
      start = add({ kind: 'fork', next: loop });
      loop.push(put(part, start));
    } else
      for (let optional = min; optional < max; optional += 1)
        start = add({ kind: 'fork', next: [next, put(part, start)] });
    for (let needed = 0; needed < min; needed += 1) start = put(part, start);
    return start;
  };
  const end = add({ kind: 'match' });
  return { ok: true, start: put(node, end), steps };
}
