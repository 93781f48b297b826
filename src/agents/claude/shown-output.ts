/** Characters of one output in a history; it is sent again with every later turn. The whole stays on record. */
const MAX_SHOWN = 6_000;
/** Of these, characters from its end, where logs say what happened last. */
const TAIL = 1_200;

export interface ShownOutput {
  readonly output: string;
  /** What is missing and where it is; undefined when nothing is. */
  readonly cut?: string;
}

/** The beginning and the end of a long output, cut at line ends where it has any, and what lies between in numbers. */
export function shownOutput(text: string): ShownOutput {
  if (text.length <= MAX_SHOWN) return { output: text };
  const head = text.slice(0, lineEnd(text, MAX_SHOWN - TAIL));
  const from = text.indexOf('\n', text.length - TAIL);
  const tail = from < 0 ? text.slice(-TAIL) : text.slice(from + 1);
  const lines = text.split('\n').length;
  const before = head.split('\n').length;
  const after = tail.split('\n').length;
  const gap = text.length - head.length - tail.length;
  return {
    output: `${head}\n…\n${tail}`,
    cut: `${gap} characters, lines ${before + 1} to ${Math.max(before + 1, lines - after)} of ${lines}; all of it: evidence_read, evidence_grep`,
  };
}

/** The last line end at or before a place, unless it is too far back: one line may be a whole document. */
function lineEnd(text: string, at: number): number {
  const end = text.lastIndexOf('\n', at);
  return end > at / 2 ? end : at;
}
