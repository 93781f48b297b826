/** A number, and where 95 of 100 such measurements would have it. */
export interface Interval {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

const Z_95 = 1.959_964;
const RESAMPLES = 4_000;
/** Fixed, so that the same results always get the same interval. */
const SEED = 20_261_127;

/** Wilson's interval of a share of `n`, which also holds where all or none passed: https://doi.org/10.2307/2276774 */
export function wilson(share: number, n: number): Interval {
  if (n === 0) return { value: 0, low: 0, high: 1 };
  const z2 = Z_95 ** 2;
  const middle = (share + z2 / (2 * n)) / (1 + z2 / n);
  const half = (Z_95 / (1 + z2 / n)) * Math.sqrt((share * (1 - share)) / n + z2 / (4 * n ** 2));
  return { value: share, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/** The mean, with a percentile bootstrap over the values. Of few values it is too narrow. */
export function bootstrapMean(values: readonly number[]): Interval {
  const random = createRandom(SEED);
  const pick = (): number => values[Math.floor(random() * values.length)] ?? 0;
  const means = Array.from({ length: RESAMPLES }, () => meanOf(values.map(pick))).toSorted((a, b) => a - b);
  const at = (share: number): number => means[Math.floor(share * (RESAMPLES - 1))] ?? 0;
  return { value: meanOf(values), low: at(0.025), high: at(0.975) };
}

/**
 * How often paired differences would be this far from nothing if it were chance which of the two is which: a sign-flip test, two-sided.
 * It cannot be below 0.05 for fewer than six pairs that differ, however much they do.
 */
export function chanceOf(differences: readonly number[]): number {
  const random = createRandom(SEED);
  const seen = Math.abs(meanOf(differences)) - 1e-12;
  let asFar = 0;
  for (let round = 0; round < RESAMPLES; round++)
    if (Math.abs(meanOf(differences.map((each) => (random() < 0.5 ? each : -each)))) >= seen) asFar++;
  return (asFar + 1) / (RESAMPLES + 1);
}

export const meanOf = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

/** Mulberry32: small, and good enough to draw samples. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
