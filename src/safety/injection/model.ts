import { readFileSync } from 'node:fs';
import type { Span } from '../secrets/rule.ts';
import {
  BUCKETS,
  createFeatures,
  type Features,
  MAX_CHARS,
  MAX_STRETCHES,
  MAX_WINDOW,
  readFeatures,
} from './features.ts';

/** A linear model: what each bucket weighs, and what is added. Above 0 a window reads like orders to a model. */
export interface Model {
  readonly weights: Float32Array;
  readonly bias: number;
}

/** A window counts as if it had at least so many features: two words alone prove nothing. */
const MIN_FEATURES = 60;

/** By how much the sum of a window's weights is divided. */
export const lengthOf = (features: number): number => Math.sqrt(Math.max(features, MIN_FEATURES));

/** Windows overlap at the joints of long texts, so that none is cut. */
const OVERLAP = 1_024;

let features: Features | undefined;
let sums = new Float64Array(256);
let shipped: Model | undefined;

/** Where a text reads like orders to a model, by the weights that `sentry bench injection --write` learnt; in order and apart. */
export function readsLikeOrders(text: string, model: Model = (shipped ??= loadModel())): Span[] {
  features ??= createFeatures();
  const found: Span[] = [];
  for (let start = 0; start < text.length; start += MAX_CHARS - OVERLAP) {
    const end = Math.min(text.length, start + MAX_CHARS);
    readFeatures(features, text, start, end);
    for (const span of windowsAbove(features, model)) {
      const last = found.at(-1);
      if (last === undefined || span.start >= last.end) found.push(span);
    }
    if (end === text.length) break;
  }
  return found;
}

/** Of windows that overlap, the one that says it most. */
function windowsAbove(read: Features, model: Model): Span[] {
  const { anchors, stretches, from, to } = read;
  sumWeights(read, model.weights);
  const found: (Span & { readonly score: number })[] = [];
  for (let first = 0; first < stretches; first++) {
    const { score, last } = bestFrom(read, first);
    if (score + model.bias <= 0) continue;
    const span = {
      start: from[anchors[first] as number] as number,
      end: to[(anchors[last] as number) - 1] as number,
      score,
    };
    const before = found.at(-1);
    if (before === undefined || span.start >= before.end) found.push(span);
    else if (score > before.score) found[found.length - 1] = span;
  }
  return found.map(({ start, end }) => ({ start, end }));
}

/** The sum of all weights up to each anchor. */
function sumWeights({ ids, ends, anchors, stretches }: Features, weights: Float32Array): void {
  if (sums.length <= stretches) sums = new Float64Array(stretches * 2);
  let sum = 0;
  let id = 0;
  sums[0] = 0;
  for (let anchor = 1; anchor <= stretches; anchor++) {
    const end = ends[(anchors[anchor] as number) - 1] ?? 0;
    while (id < end) sum += weights[ids[id++] as number] as number;
    sums[anchor] = sum;
  }
}

const best = { score: 0, last: 0 };

function bestFrom({ ends, anchors, stretches }: Features, first: number): typeof best {
  const start = anchors[first] as number;
  const before = start === 0 ? 0 : (ends[start - 1] as number);
  best.score = -Infinity;
  for (let last = first + 1; last <= Math.min(stretches, first + MAX_STRETCHES); last++) {
    const end = anchors[last] as number;
    if (last > first + 1 && end - start > MAX_WINDOW) break;
    const count = (ends[end - 1] ?? 0) - before;
    const score = ((sums[last] as number) - (sums[first] as number)) / lengthOf(count);
    if (score <= best.score) continue;
    best.score = score;
    best.last = last;
  }
  return best;
}

/** The bias, what one step of a weight is worth (two little-endian floats), and a signed byte for each bucket. */
export function encodeModel({ weights, bias }: Model): Buffer {
  const step = weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0) / 127;
  const file = Buffer.alloc(8 + BUCKETS);
  file.writeFloatLE(bias, 0);
  file.writeFloatLE(step, 4);
  weights.forEach((weight, bucket) => file.writeInt8(Math.round(weight / step), 8 + bucket));
  return file;
}

function loadModel(): Model {
  const file = readFileSync(new URL('./weights.bin', import.meta.url));
  const step = file.readFloatLE(4);
  const weights = Float32Array.from({ length: BUCKETS }, (_, bucket) => file.readInt8(8 + bucket) * step);
  return { weights, bias: file.readFloatLE(0) };
}
