/** Whether a text says a word or phrase. Case, separators and markup do not count; endings may follow (`autoscal`). */
export function says(text: string, phrase: string): boolean {
  return placesOf(flat(text), flat(phrase)).length > 0 || saysJoined(text, phrase);
}

const NEGATION =
  /\b(?:not|no|nor|never|neither|without|unrelated|ruled out|rules out|rather than|instead of|isn t|wasn t|excluded?|red herring)\b/;

/** Like `says`, and not only to deny it: "not an OOM" does not assert an OOM. */
export function asserts(text: string, phrase: string): boolean {
  const whole = flat(text);
  const wanted = flat(phrase);
  return placesOf(whole, wanted).some((at) => {
    const before = whole.slice(0, at);
    // Not across a sentence's end or a turn of thought.
    const clause =
      before
        .slice(Math.max(0, before.length - 60))
        .split(/[.;:!?]| but | and | because /)
        .at(-1) ?? '';
    const after = whole.slice(at + wanted.length, at + wanted.length + 30);
    return (
      !NEGATION.test(clause) && !/^\w* (?:is|was|are|were) (?:not|ruled out|excluded|unrelated)/.test(after)
    );
  });
}

/** Lower case, one blank between words; dots and colons stay, for they are part of names and end sentences. */
function flat(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[`*"“”'’]/g, ' ')
    .replace(/[\s_\-–—]+/g, ' ')
    .trim();
}

function placesOf(text: string, phrase: string): readonly number[] {
  if (phrase === '') return [];
  const found: number[] = [];
  for (let at = text.indexOf(phrase); at !== -1; at = text.indexOf(phrase, at + 1)) {
    const before = text[at - 1] ?? ' ';
    const after = text[at + phrase.length] ?? ' ';
    const startsInside = isWordy(before) && isWordy(phrase[0] ?? ' ');
    const cutsNumber = /\d/.test(after) && /\d/.test(phrase.at(-1) ?? ' ');
    if (!startsInside && !cutsNumber) found.push(at);
  }
  return found;
}

const isWordy = (char: string): boolean => /[\p{L}\p{N}]/u.test(char);

/** `FreeStorageSpace` and "free storage space" are one; only for names of some length, since the ends of words are lost. */
function saysJoined(text: string, phrase: string): boolean {
  const joined = (words: string): string => flat(words).replace(/ /g, '');
  return /[a-z][A-Z]/.test(phrase) && phrase.length >= 8 && joined(text).includes(joined(phrase));
}
