/** What stands where something was left out. */
const ELLIPSIS = '…';

/**
 * At most `max` UTF-16 units: cut after a word where one ends in the last fifth, never inside a surrogate pair, with
 * an ellipsis where something is missing.
 */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  if (max <= 1) return ELLIPSIS.slice(0, max);
  let end = max - 1;
  const space = text.slice(0, end + 1).search(/\s\S*$/);
  if (space >= end * 0.8) end = space;
  if (isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
  return `${text.slice(0, end).trimEnd()}${ELLIPSIS}`;
}

/** One line of at most `max`, with the mark that ends a sentence. */
export const sentence = (text: string, max: number): string =>
  cut(oneLine(text), max).replace(/(?<![.…!?])$/, '.');

/** Like `cut`, keeping the end: for words that are still being written. */
export function cutStart(text: string, max: number): string {
  if (text.length <= max) return text;
  let start = text.length - max + 1;
  const space = text.slice(start).search(/\s/);
  if (space >= 0 && space < max * 0.2) start += space + 1;
  if (isLowSurrogate(text.charCodeAt(start))) start += 1;
  return `${ELLIPSIS}${text.slice(start).trimStart()}`;
}

/** One line: control characters and line ends become spaces, so that a name cannot fake a second line. */
export function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replace(HIDDEN, '')
    .trim();
}

/** Keeps line ends and tabs, drops other control characters and the marks that reverse the reading direction. */
export function printable(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, '')
    .replace(HIDDEN, '');
}

/** For the `text` of a message, which Slack does read as markup: nothing in it can mention, link or format. */
export function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Characters of one piece of a long text: Slack takes 3,000 a section, and escaping lengthens it. */
export const BOX = 2_800;

/** Text of a page, cut into pieces of at most `max` at line ends where possible. At least one piece. */
export function pages(text: string, max: number): readonly string[] {
  const found: string[] = [];
  let rest = text;
  while (rest.length > max) {
    const line = rest.lastIndexOf('\n', max);
    let end = line > max * 0.5 ? line + 1 : max;
    if (isHighSurrogate(rest.charCodeAt(end - 1))) end -= 1;
    found.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  found.push(rest);
  return found;
}

// Bidirectional overrides and isolates can make a command read as another one than will run; lone surrogates are not text.
const HIDDEN =
  /[\u202a-\u202e\u2066-\u2069]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
