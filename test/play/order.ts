/** The same items in an order that depends on the seed alone: a run that went wrong can be played again. */
export function inOrder<T>(items: readonly T[], seed: number): readonly T[] {
  const shuffled = [...items];
  let state = seed >>> 0;
  for (let left = shuffled.length; left > 1; left -= 1) {
    // Numerical Recipes' linear congruential generator; its high bits are random enough for an order.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const at = Math.floor((state / 2 ** 32) * left);
    [shuffled[left - 1], shuffled[at]] = [shuffled[at] as T, shuffled[left - 1] as T];
  }
  return shuffled;
}
