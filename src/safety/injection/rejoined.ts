const marks =
  /ignor|disregard|forget|reveal|overrid|overlook|neglect|i g n o|d i s r|f o r g|r e v e a|o v e r r|s y s t e|-\n|<(?:b|i|em|u|strong|span)>/i;

/** Whether anything betrays an instruction whose words are joined, split or marked: to ask is cheap. */
export const mayBeRejoined = (text: string): boolean => marks.test(text);

/** Letters apart: `i g n o r e   a l l`. */
const spacedWord = /(?<![A-Za-z])[A-Za-z](?: [A-Za-z]){2,40}(?![A-Za-z])/g;
/** Four words or more with one mark between them: `ignore_all_previous_instructions`, also `IgnoreAllPreviousInstructions`. */
const joinedWords =
  /[A-Za-z]{2,20}(?:[._+/-][A-Za-z]{1,20}){3,60}|[A-Za-z][a-z]{1,20}(?:[A-Z][a-z]{1,20}){3,60}/g;

/** What they can stand in, at least as long as the shortest. */
const joinedRun = /[A-Za-z._+/-]{8,}/g;

/** Whether three words in a row begin where another ends: to ask is cheaper than the pattern. */
function hasJoints(run: string): boolean {
  let marks = 0;
  let capitals = 0;
  let before = MARK;
  for (let i = 0; i < run.length; i++) {
    const code = run.charCodeAt(i);
    const kind = code >= 97 ? SMALL : code >= 65 && code <= 90 ? CAPITAL : MARK;
    if (kind === MARK) {
      capitals = 0;
      if (before === MARK) marks = 0;
    } else if (before === MARK) marks++;
    // One that two small letters stand around.
    if (kind === CAPITAL) capitals = before === SMALL ? capitals + 1 : 0;
    if (marks > 3 || (capitals > 2 && kind === SMALL)) return true;
    before = kind;
  }
  return marks > 3;
}

const MARK = 0;
const SMALL = 1;
const CAPITAL = 2;

/**
 * The whole text with hyphens at the ends of lines, tags within words, letters apart, joined words, and the numbers and
 * comment signs before lines undone; null when it has none of them. Not of the same length.
 */
export function rejoined(text: string): string | null {
  const plain = text
    .replace(/([A-Za-z])-\n\s{0,8}(?=[a-z])/g, '$1')
    .replace(/([A-Za-z])<\/?[a-z]{1,6}>(?=[A-Za-z])/g, '$1')
    .replace(/([A-Za-z])<\/[a-z]{1,6}>/g, '$1')
    .replace(spacedWord, (word) => word.replaceAll(' ', ''))
    .replace(joinedRun, (run) => (hasJoints(run) ? run.replace(joinedWords, apart) : run))
    .replace(/\n[ \t]{0,8}(?:\d{1,2}[.)]|\/\/|--|[;%•+])[ \t]{1,4}/g, '\n');
  return plain === text ? null : plain;
}

function apart(words: string): string {
  return words
    .replace(/[._+/-]/g, ' ')
    .replace(/([a-z])(?=[A-Z])/g, '$1 ')
    .toLowerCase();
}
