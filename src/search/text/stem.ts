const VOWEL = /[aeiouy]/;
const DOUBLE = /(bb|dd|ff|gg|mm|nn|pp|rr|tt)$/;
/** Their R1 begins after the prefix: `generate` and `general` must not meet. */
const PREFIX = /^(gener|commun|arsen)/;

/** Snowball's own exceptions; the last group is left as it is. */
const exceptions: ReadonlyMap<string, string> = new Map([
  ['skis', 'ski'],
  ['skies', 'sky'],
  ['dying', 'die'],
  ['lying', 'lie'],
  ['tying', 'tie'],
  ['idly', 'idl'],
  ['gently', 'gentl'],
  ['ugly', 'ugli'],
  ['early', 'earli'],
  ['only', 'onli'],
  ['singly', 'singl'],
  ...['sky', 'news', 'howe', 'atlas', 'cosmos', 'bias', 'andes'].map((word) => [word, word] as const),
]);
const finishedAfterPlural = new Set(
  'inning outing canning herring earring proceed exceed succeed'.split(' '),
);

const step2: readonly (readonly [string, string])[] = [
  ['ational', 'ate'],
  ['fulness', 'ful'],
  ['iveness', 'ive'],
  ['ization', 'ize'],
  ['ousness', 'ous'],
  ['biliti', 'ble'],
  ['lessli', 'less'],
  ['tional', 'tion'],
  ['alism', 'al'],
  ['aliti', 'al'],
  ['ation', 'ate'],
  ['entli', 'ent'],
  ['fulli', 'ful'],
  ['iviti', 'ive'],
  ['ousli', 'ous'],
  ['abli', 'able'],
  ['alli', 'al'],
  ['anci', 'ance'],
  ['ator', 'ate'],
  ['enci', 'ence'],
  ['izer', 'ize'],
  ['bli', 'ble'],
];
const step3: readonly (readonly [string, string])[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['alize', 'al'],
  ['icate', 'ic'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ness', ''],
  ['ful', ''],
];
const step4 = /(ement|able|ance|ence|ible|ment|ant|ate|ent|ism|iti|ive|ize|ous|al|er|ic)$/;

/**
 * The stem of an English word in lower case: Snowball's English stemmer (Porter2), as PostgreSQL's `english_stem` has it.
 * A test compares the two. https://snowballstem.org/algorithms/english/stemmer.html
 */
export function stem(word: string): string {
  if (word.length < 3) return word;
  const exception = exceptions.get(word);
  if (exception !== undefined) return exception;
  // A `y` that is a consonant is written `Y` until the end.
  let w = word
    .replace(/^'/, '')
    .replace(/^y/, 'Y')
    .replace(/([aeiouy])y/g, '$1Y');
  const r1 = regionAfter(w, PREFIX.exec(w)?.[0].length ?? null);
  const r2 = regionFrom(w, r1);

  w = w.replace(/('s'|'s|')$/, '');
  w = plural(w);
  if (finishedAfterPlural.has(w)) return w;
  w = pastAndGerund(w, r1);
  w = w.replace(/(?<=.[^aeiouy])[yY]$/, 'i');
  w = derived(w, r1, r2);
  return lastLetter(w, r1, r2).toLowerCase();
}

function regionAfter(w: string, prefix: number | null): number {
  return prefix ?? regionFrom(w, 0);
}

/** Where the part after the first non-vowel that follows a vowel begins. */
function regionFrom(w: string, start: number): number {
  const found = /[aeiouy][^aeiouy]/.exec(w.slice(start));
  return found ? start + found.index + 2 : w.length;
}

function plural(w: string): string {
  if (w.endsWith('sses')) return w.slice(0, -2);
  if (/ie[ds]$/.test(w)) return w.slice(0, w.length > 4 ? -2 : -1);
  if (/(us|ss)$/.test(w)) return w;
  return /[aeiouy].+s$/.test(w) ? w.slice(0, -1) : w;
}

function pastAndGerund(w: string, r1: number): string {
  const ee = /eed(ly)?$/.exec(w);
  if (ee) return ee.index >= r1 ? `${w.slice(0, ee.index)}ee` : w;
  const ending = /(ingly|edly|ing|ed)$/.exec(w);
  if (!ending || !VOWEL.test(w.slice(0, ending.index))) return w;
  const rest = w.slice(0, ending.index);
  if (/(at|bl|iz)$/.test(rest)) return `${rest}e`;
  // `adding` is `add`: a double that makes up the word with one vowel before it stays.
  if (DOUBLE.test(rest)) return /^[aeo]..$/.test(rest) ? rest : rest.slice(0, -1);
  return r1 >= rest.length && endsShort(rest) ? `${rest}e` : rest;
}

/** Ends in a short syllable: `hop`, `bit`, `at`. */
function endsShort(w: string): boolean {
  return /[^aeiouy][aeiouy][^aeiouywxY]$/.test(w) || /^[aeiouy][^aeiouy]$/.test(w);
}

function derived(start: string, r1: number, r2: number): string {
  let w = replaceLongest(start, step2, r1);
  if (w === start) {
    if (w.endsWith('logi') && w.length - 3 >= r1) w = w.slice(0, -1);
    else if (/[cdeghkmnrt]li$/.test(w) && !step2.some(([e]) => start.endsWith(e)) && w.length - 2 >= r1)
      w = w.slice(0, -2);
  }
  const third = replaceLongest(w, step3, r1);
  w = third === w && w.endsWith('ative') && w.length - 5 >= r2 ? w.slice(0, -5) : third;
  const fourth = step4.exec(w);
  if (fourth) return fourth.index >= r2 ? w.slice(0, fourth.index) : w;
  return /[st]ion$/.test(w) && w.length - 3 >= r2 ? w.slice(0, -3) : w;
}

/** Only the longest ending that fits is looked at, and replaced when it lies in the region. */
function replaceLongest(w: string, endings: typeof step2, region: number): string {
  const found = endings.find(([ending]) => w.endsWith(ending));
  if (!found || w.length - found[0].length < region) return w;
  return w.slice(0, -found[0].length) + found[1];
}

function lastLetter(w: string, r1: number, r2: number): string {
  const at = w.length - 1;
  if (w.endsWith('e') && (at >= r2 || (at >= r1 && !endsShort(w.slice(0, -1))))) return w.slice(0, -1);
  return w.endsWith('ll') && at >= r2 ? w.slice(0, -1) : w;
}
