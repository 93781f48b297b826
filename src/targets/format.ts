/** `3.2s`, `12m 5s`, `4h 10m`, `3d 2h`; "–" when unknown. Seconds in. */
export function age(seconds: unknown): string {
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) return '–';
  const whole = Math.max(0, seconds);
  if (whole < 60) return `${whole < 10 ? Math.round(whole * 10) / 10 : Math.round(whole)}s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)}m ${Math.floor(whole % 60)}s`;
  if (whole < 86_400) return `${Math.floor(whole / 3_600)}h ${Math.floor((whole % 3_600) / 60)}m`;
  return `${Math.floor(whole / 86_400)}d ${Math.floor((whole % 86_400) / 3_600)}h`;
}

/** `512 B`, `8.0 KiB`, `1.5 GiB`; "–" when unknown. */
export function bytes(count: unknown): string {
  if (typeof count !== 'number' || !Number.isFinite(count)) return '–';
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let value = Math.abs(count);
  let unit = 0;
  while (value >= 1_024 && unit < units.length - 1) {
    value /= 1_024;
    unit += 1;
  }
  return `${count < 0 ? '-' : ''}${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** `PASSWORD '…'` of CREATE and ALTER ROLE, which statistics and activity keep in full. */
const passwordLiteral = /(\bpassword\s+)(e?'(?:[^']|'')*'?)/gi;

/** One line of SQL, passwords masked, whitespace collapsed, at most `limit` characters, the cut marked with how much is missing. */
export function oneLine(text: unknown, limit = 300): string {
  const line = String(text ?? '')
    .replace(passwordLiteral, "$1'***'")
    .replace(/\s+/g, ' ')
    .trim();
  const characters = Array.from(line);
  if (characters.length <= limit) return line;
  return `${characters.slice(0, limit).join('')}… (+${characters.length - limit} characters)`;
}

/** A name in the target may hold line breaks; what is one line stays one, or a name could write lines of its own. */
export function withoutBreaks(text: string): string {
  return text.replace(/[\r\n\v\f\x85\u2028\u2029]+/g, ' ');
}

/** A compact table: a head, a row a line, cells divided by ` | `, which no cell can hold itself. Empty when there are no rows. */
export function table(head: readonly string[], rows: readonly (readonly unknown[])[]): readonly string[] {
  if (rows.length === 0) return [];
  return [head, ...rows].map((row) =>
    row.map((cell) => withoutBreaks(String(cell ?? '–')).replaceAll(' | ', ' ¦ ')).join(' | '),
  );
}

/** "and 12 more" when rows were cut, else nothing. */
export function more(total: number, shown: number): readonly string[] {
  return total > shown ? [`… and ${total - shown} more, not shown`] : [];
}

/** `12.3%`; "–" when unknown. */
export function percent(value: unknown): string {
  return typeof value === 'number' ? `${value}%` : '–';
}
