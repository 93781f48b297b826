/**
 * How values of PostgreSQL arrive: `bigint` and `numeric` as numbers where a double holds them exactly, else as strings;
 * times as PostgreSQL's own text, because a JavaScript Date would cut the microseconds that bind a pid to its session.
 * Never a BigInt: it does not survive JSON.
 */
export const wireTypes = {
  bigint: {
    to: 20,
    from: [20, 1700],
    parse: exactNumber,
    serialize: (value: unknown) => String(value),
  },
  date: {
    to: 1184,
    from: [1082, 1114, 1184],
    parse: (text: string) => text,
    serialize: (value: unknown) => String(value),
  },
};

/** The number that prints as the same decimal, or the text itself. */
export function exactNumber(text: string): number | string {
  const value = Number(text);
  if (Number.isInteger(value)) return Number.isSafeInteger(value) ? value : text;
  const digits = text.replace(/^-/, '').replace('.', '').replace(/^0+/, '');
  return Number.isFinite(value) && digits.length <= 15 ? value : text;
}
