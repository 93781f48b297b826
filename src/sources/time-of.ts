/** Seconds below, milliseconds above: the year 5138 in one, 1973 in the other. */
const MILLISECONDS_FROM = 1e11;

/**
 * ISO 8601 of what senders give as a time: text that names its zone or is taken as UTC, seconds or milliseconds since 1970 as
 * number or text. Null for none, zero (which stands for none) and what is no time.
 */
export function timeOf(value: unknown): string | null {
  const text = typeof value === 'string' ? value.trim() : value;
  if (text === '' || text === null || text === undefined) return null;
  const number = Number(text);
  const ms = Number.isNaN(number)
    ? parsed(String(text))
    : number < MILLISECONDS_FROM
      ? number * 1000
      : number;
  if (!Number.isFinite(ms) || ms <= 0) return null;
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

function parsed(text: string): number {
  // `2024-10-26 23:20:39` and `2024-10-26T23:20:39` are local time to Date.parse: without a zone it is UTC. Wazuh writes `+01.00`.
  const whole = text.replace(/([+-]\d\d)\.(\d\d)$/, '$1:$2');
  const zoned = /[zZ]$|[+-]\d\d:?\d\d$|\b(?:UTC|GMT)\b/.test(whole) ? whole : `${whole}Z`;
  const [first, second] = [Date.parse(zoned.replace(' ', 'T')), Date.parse(whole)];
  return Number.isNaN(first) ? second : first;
}
