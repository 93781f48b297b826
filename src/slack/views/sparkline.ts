const BARS = '▁▂▃▄▅▆▇█';
/** A place where nothing is on record: neither low nor high. */
const GAP = '·';

/** Numbers as a line of bars, the tallest for the largest. What is null is drawn as a gap, never as 0. */
export function sparkline(values: readonly (number | null)[]): string {
  const most = Math.max(0, ...values.map((value) => value ?? 0));
  return values
    .map((value) => {
      if (value === null) return GAP;
      const step = most === 0 ? 0 : Math.ceil((value / most) * (BARS.length - 1));
      return BARS[Math.max(0, Math.min(step, BARS.length - 1))] ?? GAP;
    })
    .join('');
}
