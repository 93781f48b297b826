/** The closed classes of English (articles, pronouns, prepositions, auxiliaries): they say nothing about a system. */
const FUNCTION_WORDS = new Set(
  (
    'a an the this that these those it its they them their there here he she his her we us our you your who whom whose which what ' +
    'and or but nor so yet if then than as because since while when where why how although though unless until before after ' +
    'of in on at by for with without from to into onto over under up down out off about above below between through during against per via ' +
    'is are was were be been being am do does did done have has had having will would shall should can could may might must ' +
    'not no none nobody nothing never neither each every all any some few many much more most less least other another such same own only just ' +
    'one once very too also still even now again already ever both either'
  ).split(' '),
);

export function isGeneric(word: string): boolean {
  return word.length < 3 || FUNCTION_WORDS.has(word);
}

/** The words of a text in lower case, plurals as singulars. */
export function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(/\p{L}+/gu) ?? []).map(singular);
}

export function singular(word: string): string {
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}
