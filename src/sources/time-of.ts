/** A number's unit by its size, each from 1973 to 5138: Opsgenie writes microseconds beside milliseconds. */
const MS_OF: readonly (readonly [below: number, ms: number])[] = [
  [1e11, 1e3],
  [1e14, 1],
  [1e17, 1e-3],
  [1e20, 1e-6],
];
/** The year 10000. What is later has no four digits, and no database takes it. */
const END_OF_TIME = Date.UTC(10_000, 0);

/**
 * ISO 8601 of what senders give as a time: text that names its zone or is taken as UTC, seconds, milli-, micro- or
 * nanoseconds since 1970 as number or text. Null for none, zero (which stands for none) and what is no time.
 */
export function timeOf(value: unknown): string | null {
  const text = typeof value === 'string' ? value.trim() : value;
  if (text === '' || text === null || text === undefined) return null;
  const number = Number(text);
  const ms = Number.isNaN(number)
    ? parsed(String(text))
    : number * (MS_OF.find(([below]) => number < below)?.[1] ?? Number.NaN);
  return ms > 0 && ms < END_OF_TIME ? new Date(ms).toISOString() : null;
}

function parsed(text: string): number {
  // `2024-10-26 23:20:39` and `2024-10-26T23:20:39` are local time to Date.parse: without a zone it is UTC. Wazuh writes `+01.00`, Zabbix
  // `2024.10.26`, and Go `2024-10-26 23:20:39.5 +0000 UTC m=+7.1`.
  const whole = text
    .replace(/([+-]\d\d)\.(\d\d)$/, '$1:$2')
    .replace(/^(\d{4})\.(\d\d)\.(\d\d)/, '$1-$2-$3')
    .replace(/ ([+-]\d{4}) [A-Z]{3,5}(?: m=\S+)?$/, '$1');
  const zoned = /[zZ]$|[+-]\d\d:?\d\d$|\b(?:UTC|GMT)\b/.test(whole) ? whole : `${whole}Z`;
  const [first, second] = [Date.parse(zoned.replace(' ', 'T')), Date.parse(whole)];
  return Number.isNaN(first) ? second : first;
}
