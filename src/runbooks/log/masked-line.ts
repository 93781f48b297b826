/** Terminal colours, which services write into their logs as well. */
// oxlint-disable-next-line no-control-regex -- the escape character is what begins them
const COLOURS = /\u001b\[[0-9;]*[A-Za-z]/g;
const TIMES = /\d{4}[-/.]\d{2}[-/.]\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?/g;
const CLOCK = /\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?\b/g;
const IDS = /\b(?:0x)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?=[0-9a-f]*\d)(?:0x)?[0-9a-f]{7,}\b/gi;

export const withoutColours = (line: string): string => line.replace(COLOURS, '');

/** What kind of line it is: without times, ids and numbers, in which lines of one kind differ. */
export function maskedLine(line: string): string {
  return withoutColours(line)
    .replace(TIMES, '#')
    .replace(CLOCK, '#')
    .replace(IDS, '#')
    .replace(/\d+/g, '#')
    .replace(/\s+/g, ' ')
    .trim();
}
