/** ECMA-48: a control sequence (colours), an operating system command (titles, links); also as loggers and JSON write their escape. */
const sequence = String.raw`(?:\u001b|\\u001b|\\x1b|\\033|\\e|#033|\^\[)(?:\[[0-9;:?]{0,40}[A-Za-z]|\][^\u0007\u001b\n]{0,400}(?:\u0007|\u001b\\))|\u009b[0-9;:?]{0,40}[A-Za-z]`;
const unseen = new RegExp(String.raw`${sequence}|\p{Cf}`, 'giu');
const isUnseen = new RegExp(unseen.source, 'iu');

/** The text as a terminal shows it; `at`: where a character of it stands in the text that was given. */
export function withoutUnseen(text: string): {
  readonly text: string;
  readonly at: (index: number) => number;
} {
  if (!isUnseen.test(text)) return { text, at: (index) => index };
  // Where each part that is left begins, in the text without and in the text with what is unseen.
  const parts: { readonly from: number; readonly was: number }[] = [];
  let plain = '';
  let was = 0;
  for (const { 0: gone, index } of text.matchAll(unseen)) {
    if (index > was) parts.push({ from: plain.length, was });
    plain += text.slice(was, index);
    was = index + gone.length;
  }
  parts.push({ from: plain.length, was });
  return { text: plain + text.slice(was), at: (index) => placeIn(parts, index) };
}

function placeIn(parts: readonly { readonly from: number; readonly was: number }[], index: number): number {
  let [low, high] = [0, parts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((parts[middle]?.from ?? 0) <= index) low = middle;
    else high = middle - 1;
  }
  const { from, was } = parts[low] ?? { from: 0, was: 0 };
  return was + index - from;
}
