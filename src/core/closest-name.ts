/** The known name that a misspelt one most likely means: two slips at most, one in a short word; null rather than a wild guess. */
export function closestName(given: string, known: readonly string[]): string | null {
  const word = given.toLowerCase();
  const near = known
    .map((name) => ({ name, slips: slipsBetween(word, name.toLowerCase()) }))
    .filter(({ slips }) => slips <= (word.length < 5 ? 1 : 2))
    .toSorted((a, b) => a.slips - b.slips);
  return near[0]?.name ?? null;
}

/** Letters to add, drop, change or swap with their neighbour (optimal string alignment). */
function slipsBetween(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const changed = (last[j - 1] ?? 0) + Number(a[i - 1] !== b[j - 1]);
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
          ? (before[j - 2] ?? 0) + 1
          : Number.POSITIVE_INFINITY;
      row.push(Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, changed, swapped));
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
