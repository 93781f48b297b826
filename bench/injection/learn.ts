import {
  BUCKETS,
  createFeatures,
  MAX_CHARS,
  MAX_STRETCHES,
  MAX_WINDOW,
  readFeatures,
} from '../../src/safety/injection/features.ts';
import { fold } from '../../src/safety/injection/fold.ts';
import { lengthOf, type Model } from '../../src/safety/injection/model.ts';
import { randomFrom } from './random.ts';
import type { Row } from './rows.ts';

/** A row with its features, read once. */
export interface Sample {
  readonly row: Row;
  readonly ids: Int32Array;
  /** Windows as pairs of places in `ids`. */
  readonly windows: Int32Array;
}

const EPOCHS = 40;
/** From here on the weights of all epochs are averaged. */
const FIRST_AVERAGED = 10;
const RATE = 0.1;
/** Half of the features are left out at each step: no single word may carry a finding. */
const LEFT_OUT = 384;
/** Our own fixed phrases and runbooks are few. */
const OWN = 5;
const SOFT_POSITIVE = 0.3;
const SOFT_NEGATIVE = 0.2;

const features = createFeatures();

export function sampleOf(row: Row): Sample {
  const { text } = fold(row.clear);
  readFeatures(features, text, 0, Math.min(text.length, MAX_CHARS));
  const { anchors, stretches, ends } = features;
  const placeOf = (anchor: number) => (anchor === 0 ? 0 : (ends[(anchors[anchor] as number) - 1] ?? 0));
  const windows: number[] = [];
  for (let first = 0; first < stretches; first++)
    for (let last = first + 1; last <= Math.min(stretches, first + MAX_STRETCHES); last++) {
      if (last > first + 1 && (anchors[last] as number) - (anchors[first] as number) > MAX_WINDOW) break;
      windows.push(placeOf(first), placeOf(last));
    }
  return { row, ids: features.ids.slice(0, placeOf(stretches)), windows: Int32Array.from(windows) };
}

/**
 * Logistic regression on the window of each text that says it most (an order is a small part of a long text), with AdaGrad,
 * dropped features and averaged weights. The same rows give the same model.
 */
export function learn(samples: readonly Sample[], seed = 7): Model {
  const random = randomFrom(seed);
  const weights = new Float32Array(BUCKETS);
  const squares = new Float32Array(BUCKETS).fill(0.01);
  const average = new Float32Array(BUCKETS);
  let bias = -3;
  let biasSquares = 0;
  let averageBias = 0;
  const order = samples.filter(({ row }) => weightOf(row) > 0);
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    shuffle(order, random);
    for (const { row, ids, windows } of order) {
      const { from, to } = bestWindow(ids, windows, weights);
      const mask = Math.floor(random() * 2 ** 32);
      const isKept = (id: number) => ((Math.imul(id ^ mask, 0x9e3779b1) >>> 16) & 1023) >= LEFT_OUT;
      let sum = 0;
      for (let at = from; at < to; at++)
        if (isKept(ids[at] as number)) sum += weights[ids[at] as number] as number;
      const share = 2 / lengthOf(to - from);
      const error = (1 / (1 + Math.exp(-(sum * share + bias))) - (row.positive ? 1 : 0)) * weightOf(row);
      if (Math.abs(error) < 0.002) continue;
      const slope = error * share;
      for (let at = from; at < to; at++) {
        const id = ids[at] as number;
        if (!isKept(id)) continue;
        squares[id] = (squares[id] as number) + slope * slope;
        weights[id] = (weights[id] as number) - (RATE * slope) / Math.sqrt(squares[id] as number);
      }
      biasSquares += error * error;
      bias -= (0.05 * error) / Math.sqrt(1 + biasSquares);
    }
    if (epoch < FIRST_AVERAGED) continue;
    for (let id = 0; id < BUCKETS; id++)
      average[id] = (average[id] as number) + (weights[id] as number) / (EPOCHS - FIRST_AVERAGED);
    averageBias += bias / (EPOCHS - FIRST_AVERAGED);
  }
  return { weights: average, bias: averageBias };
}

/** How much a text reads like orders: above 0 it is found. */
export function scoreOf({ ids, windows }: Sample, { weights, bias }: Model): number {
  return bestWindow(ids, windows, weights).score + bias;
}

function weightOf({ hard, positive, kind }: Row): number {
  if (kind === 'own') return OWN;
  if (hard) return 1;
  if (positive) return SOFT_POSITIVE;
  return kind === 'security_doc_quoting' ? 0 : SOFT_NEGATIVE;
}

let sums = new Float64Array(1 << 17);

function bestWindow(ids: Int32Array, windows: Int32Array, weights: Float32Array) {
  if (sums.length <= ids.length) sums = new Float64Array(ids.length * 2);
  let sum = 0;
  for (let at = 0; at < ids.length; at++) {
    sum += weights[ids[at] as number] as number;
    sums[at + 1] = sum;
  }
  const best = { score: -Infinity, from: 0, to: 0 };
  for (let at = 0; at < windows.length; at += 2) {
    const from = windows[at] as number;
    const to = windows[at + 1] as number;
    const score = ((sums[to] as number) - (sums[from] as number)) / lengthOf(to - from);
    if (score > best.score) Object.assign(best, { score, from, to });
  }
  return best;
}

function shuffle(list: unknown[], random: () => number): void {
  for (let last = list.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [list[last], list[other]] = [list[other], list[last]];
  }
}
