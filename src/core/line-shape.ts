/** What stays of a line when numbers, times, ids and quoted values are taken out: the same for the same message. */
export function lineShape(text: string): string {
  const [line = ''] = text.trimStart().slice(0, LONGEST).split('\n');
  return (
    line
      .replace(/\p{Cc}\[[0-9;]*[A-Za-z]/gu, '')
      .replace(quoted, '$1#')
      // Numbers, times, addresses, hex, UUIDs, ids like order_17 and paths that hold one. From a word's beginning only: a try at
      // each letter of a long word would take the square of its length.
      .replace(/(?<![\p{L}\p{N}_.:@+/\\%-])[\p{L}\p{N}_.:@+/\\%-]*\p{N}[\p{L}\p{N}_.:@+/\\%-]*/gu, '#')
      .replace(/(?<![\p{L}\p{N}])(?:[a-f]{8,}|[A-F]{8,}|[A-Za-z_-]{40,})(?![\p{L}\p{N}])/gu, '#')
      .replace(date, '#')
      .replace(/\s+/g, ' ')
      .replace(/#(?:[\s,;:]*#)+/g, '#')
      .slice(0, SHAPE)
      .trim()
  );
}

/** Not an apostrophe: a quote opens where no word is before it. */
const quoted = /(^|[^\p{L}\p{N}_])(?:"[^"]*"|'[^']*'(?![\p{L}\p{N}_])|`[^`]*`)/gu;
/** `Mon Nov #`: what the numbers of a date leave behind. */
const date =
  /\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[\s,]+){1,2}(?=#)/g;
/** Longer lines differ in what they carry, not in what they say. */
const LONGEST = 2_000;
const SHAPE = 300;
