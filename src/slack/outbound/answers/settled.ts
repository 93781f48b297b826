/**
 * How much of a text that is still being written may be shown for good, where nothing shown can be taken back: up to the
 * end of its last whole sentence or line. A secret is recognised by what it looks like whole, so nothing is let out before
 * the space behind it, and of a key over several lines nothing before its last one.
 */
export function settledLength(text: string): number {
  const begin = text.lastIndexOf('-----BEGIN');
  const open =
    begin >= 0 && !/-----END [A-Z0-9 ]+-----/.test(text.slice(begin)) ? text.slice(0, begin) : text;
  const line = open.lastIndexOf('\n') + 1;
  const sentences = [...open.slice(line).matchAll(/[.!?:;]["')\]]?\s+/g)];
  const last = sentences.at(-1);
  return last === undefined ? line : line + last.index + last[0].length;
}
