/** Whether two commands differ in nothing but looks: white space, the form of characters or of a time, a last semicolon. */
export function sameCommand(a: string, b: string): boolean {
  return tidyCommand(a) === tidyCommand(b);
}

const TIME = /(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2})(?:\.(\d{1,6}))?(Z|[+-]\d{2}(?::?\d{2})?)/g;

/** A command as it is compared. */
export function tidyCommand(command: string): string {
  return command
    .normalize('NFKC')
    .replace(TIME, (whole, day: string, time: string, fraction: string | undefined, zone: string) => {
      const seconds = Date.parse(`${day}T${time}${zone === 'Z' ? zone : zoneOf(zone)}`) / 1000;
      return Number.isNaN(seconds) ? whole : `${seconds}.${(fraction ?? '').padEnd(6, '0')}`;
    })
    .replace(/\s+/g, ' ')
    .replace(/[\s;]+$/, '')
    .trimStart();
}

/** `+02`, `+0200` and `+02:00` are one zone. */
function zoneOf(zone: string): string {
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0');
  return `${zone.slice(0, 1)}${digits.slice(0, 2)}:${digits.slice(2)}`;
}
