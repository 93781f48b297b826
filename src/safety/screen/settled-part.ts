/** A quotation that is longer has no end: the mark was none. */
const MAX_QUOTATION = 400;

/**
 * The beginning of a text that is still being written, up to where no secret can be half written any more: without the last
 * word (a key, or an address with a password in it), a quotation, an element or a pipe that is not closed, and a key block without its end. What
 * stands before is whole, so that redaction recognises it.
 */
export function settledPart(text: string): string {
  let part = text.slice(0, lastWord(text));
  for (;;) {
    const end = Math.min(openQuotation(part), openElement(part), openBlock(part), openPipe(part));
    if (end === part.length) return part;
    // What it stands in may be open too.
    part = part.slice(0, end);
  }
}

/** Where the word begins that may go on. */
function lastWord(text: string): number {
  return text.length - (/\S*$/.exec(text.slice(-MAX_WORD))?.[0].length ?? 0);
}

/** Nobody reads a longer one; it is shown when it has ended. */
const MAX_WORD = 100_000;

/** Where the word begins that a quotation without an end begins in, on the last line: `password="my long`. */
function openQuotation(text: string): number {
  const from = Math.max(text.lastIndexOf('\n') + 1, text.length - MAX_QUOTATION);
  const line = text.slice(from);
  let open: { readonly mark: string; readonly at: number } | undefined;
  for (const { 0: mark, index: at } of line.matchAll(/["'`]/g)) {
    if (open) open = open.mark === mark ? undefined : open;
    // An apostrophe stands inside a word.
    else if (mark !== "'" || !/[\p{L}\p{N}]/u.test(line[at - 1] ?? ' ')) open = { mark, at };
  }
  return open === undefined ? text.length : from + (/\S*$/.exec(line.slice(0, open.at))?.index ?? open.at);
}

/** Where an element begins that has no end: `<password>`. */
function openElement(text: string): number {
  const from = Math.max(0, text.length - MAX_QUOTATION);
  const end = text.slice(from);
  const last = [...end.matchAll(/<([A-Za-z][\w.-]{0,63})>/g)].at(-1);
  return last === undefined || end.includes(`</${last[1]}>`, last.index) ? text.length : from + last.index;
}

/** Where a command begins that may yet say what it hands on: `echo … | docker login --password-stdin`. */
function openPipe(text: string): number {
  const line = text.slice(Math.max(text.lastIndexOf('\n') + 1, text.length - MAX_QUOTATION));
  const echo = line.search(/\b(?:echo|printf)\s/);
  return echo === -1 ? text.length : text.length - line.length + echo;
}

/** Where a key begins that has no end yet. */
function openBlock(text: string): number {
  const begin = text.lastIndexOf('-----BEGIN');
  return begin === -1 || /-----END[^-\n]*-----/.test(text.slice(begin)) ? text.length : begin;
}
