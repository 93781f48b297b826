import { lineShape } from '../core/line-shape.ts';
import type { LogMatch } from '../core/watched-log.ts';
import { redact } from '../safety/screen/redact.ts';

/** Lines of one pattern and shape that were read since they were told last. */
export interface Tallied extends LogMatch {
  readonly shape: string;
  readonly from: Date;
  to: Date;
  lines: number;
}

/** So many different messages of a log become alerts of their own in `AGAIN_MS`; what else comes then is told together. */
const MAX_SHAPES = 50;
const AGAIN_MS = 10 * 60_000;
export const OTHER_LINES = 'other lines';

/** Counts the matching lines of a log by what they say. A storm of them is as many alerts as it has messages. */
export class Tally {
  readonly #told: Map<string, Tallied> = new Map();
  readonly #known = new Set<string>();
  readonly #maxShapes: number;
  #knownSince = Number.NEGATIVE_INFINITY;
  /** Something was said that was not before. */
  hasNews = false;

  constructor(maxShapes = MAX_SHAPES) {
    this.#maxShapes = maxShapes;
  }

  /** Of how many alerts it would be. */
  get size(): number {
    return this.#told.size;
  }

  /** `at`: ms, never going back. */
  add(match: LogMatch, at: number): void {
    if (at - this.#knownSince > AGAIN_MS) {
      this.#known.clear();
      this.#knownSince = at;
    }
    const own = lineShape(match.text);
    const isOne = this.#known.has(keyOf(match, own)) || this.#known.size < this.#maxShapes;
    const shape = isOne ? own : OTHER_LINES;
    const key = keyOf(match, shape);
    const now = new Date();
    const before = this.#told.get(key);
    if (before) {
      before.lines += 1;
      before.to = now;
      return;
    }
    if (!this.#known.has(key)) this.hasNews = true;
    this.#known.add(key);
    this.#told.set(key, { ...match, shape, from: now, to: now, lines: 1 });
  }

  /** All of it, secrets taken out: what differs only in a secret is one. */
  view(): readonly Tallied[] {
    return [...this.#told.values()].map((one) => ({
      ...one,
      shape: redact(one.shape),
      text: redact(one.text),
    }));
  }

  /** It was told. */
  clear(): void {
    this.#told.clear();
    this.hasNews = false;
  }
}

const keyOf = ({ pattern, severity }: LogMatch, shape: string): string => `${pattern}\n${severity}\n${shape}`;
