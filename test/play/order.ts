/** The same items in an order that depends on the seed alone: a run that went wrong can be played again. */
export function inOrder<T>(items: readonly T[], seed: number): readonly T[] {
  const random = mulberry32(seed);
  const shuffled = [...items];
  for (let left = shuffled.length; left > 1; left -= 1) {
    const at = Math.floor(random() * left);
    [shuffled[left - 1], shuffled[at]] = [shuffled[at] as T, shuffled[left - 1] as T];
  }
  return shuffled;
}

/** Tommy Ettinger's generator, from 0 to 1; small seeds differ from its first number on. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
