/** Pairs of alerts: of those in one incident, how many are of one problem; of those of one problem, how many are in one incident. */
export function pairwise(rows: readonly { readonly incident: string; readonly problem: number }[]) {
  const pairs = (keys: readonly string[]): number => {
    const count = new Map<string, number>();
    for (const key of keys) count.set(key, (count.get(key) ?? 0) + 1);
    return [...count.values()].reduce((sum, n) => sum + (n * (n - 1)) / 2, 0);
  };
  const both = pairs(rows.map(({ incident, problem }) => `${incident} ${String(problem)}`));
  const ratio = (all: number): number => (all === 0 ? 1 : Math.round((both / all) * 10_000) / 10_000);
  return {
    precision: ratio(pairs(rows.map(({ incident }) => incident))),
    recall: ratio(pairs(rows.map(({ problem }) => String(problem)))),
  };
}
