/** Shannon entropy in bits a character; what is not ASCII counts as one character. */
export function shannon(text: string): number {
  const { length } = text;
  let others = 0;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code < 128) counts[code] = (counts[code] as number) + 1;
    else others++;
  }
  // H = log2 n - 1/n sum(c log2 c); each count is taken once and cleared for the next call.
  let sum = timesLog(others);
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 128 || counts[code] === 0) continue;
    sum += timesLog(counts[code] as number);
    counts[code] = 0;
  }
  return length === 0 ? 0 : Math.log2(length) - sum / length;
}

const counts = new Uint32Array(128);
const logs = Float64Array.from({ length: 257 }, (_, n) => (n === 0 ? 0 : n * Math.log2(n)));

function timesLog(count: number): number {
  return count < logs.length ? (logs[count] as number) : count * Math.log2(count);
}

// What characters a text is made of, as bits.
const DIGIT = 1;
const HEX_LOWER = 2;
const HEX_UPPER = 4;
const OTHER_LOWER = 8;
const OTHER_UPPER = 16;
const LOWER = HEX_LOWER | OTHER_LOWER;
const UPPER = HEX_UPPER | OTHER_UPPER;
const DOT = 32;
/** With the dot, what a number or a time may have beside digits. */
const NUMERIC = 64 | DOT;
const ELSE = 128;
const kinds = new Uint8Array(128).fill(ELSE);
kinds.fill(DIGIT, 48, 58).fill(OTHER_UPPER, 65, 91).fill(HEX_UPPER, 65, 71);
kinds.fill(OTHER_LOWER, 97, 123).fill(HEX_LOWER, 97, 103);
for (const sign of ',:%+-') kinds[sign.charCodeAt(0)] = 64;
kinds[46] = DOT;

function kindsOf(text: string): number {
  let all = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    all |= code < 128 ? (kinds[code] as number) : ELSE;
  }
  return all;
}

/** Has digits, and something that is no hexadecimal digit. */
export function hasDigitsAndMore(text: string): boolean {
  const made = kindsOf(text);
  return (made & DIGIT) !== 0 && (made & ~(DIGIT | HEX_LOWER | HEX_UPPER)) !== 0;
}

// The most frequent letter pairs of English (Norvig, "English Letter Frequency Counts", norvig.com/mayzner.html), and
// some that names in configuration are full of. They make up most of any words, and 1 in 6 pairs of random letters.
const commonPairs = (
  'th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co me de hi ri ro ic ne ea ra ' +
  'ce li ch ll be ma si om ur ca el ta la ns di fo ho pe ec pr no ct us ac ot il tr ly nc et ut ss so rs un lo wa ge ie wh ee ' +
  'wi em ad ol rt po we na ul ni ts mo ow pa im mi ai sh ir su id os iv ia am fi ci vi pl ig tu ev ld ry mp fe bl ab gh ty op ' +
  'wo sa ay ex ke ap od ul ub pu bu ok ey se rd ag ga gr ov br cl cr cu da ef ff ft gi gs if ls mm ob oc og oo pi pp qu ru sc ' +
  'sp sw uc up'
).split(' ');

const isCommon = new Uint8Array(26 * 26);
for (const pair of commonPairs) isCommon[(pair.charCodeAt(0) - 97) * 26 + pair.charCodeAt(1) - 97] = 1;

/** How much of the text's letter pairs are those of words: about 0.25 for random letters, 0.7 and more for words. 0 when there are none. */
export function wordiness(text: string): number {
  let pairs = 0;
  let common = 0;
  let before = -1;
  let beforeIsLower = false;
  let run = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const isLower = code >= 97 && code <= 122;
    const letter = isLower ? code - 97 : code >= 65 && code <= 90 ? code - 65 : -1;
    // Within `Word`, `word` or `WORD`, so that CamelCase counts as words and random mixed case does not count as pairs.
    const joins = letter !== -1 && before !== -1 && (beforeIsLower === isLower || (isLower && run === 1));
    run = joins ? run + 1 : letter === -1 ? 0 : 1;
    if (joins) {
      pairs++;
      common += isCommon[before * 26 + letter] as number;
    }
    before = letter;
    beforeIsLower = isLower;
  }
  return pairs === 0 ? 0 : common / pairs;
}

const OTHER = 3;
const SEPARATOR = 4;
const classes = new Uint8Array(128).fill(OTHER);
classes.fill(0, 48, 58);
classes.fill(1, 97, 123);
classes.fill(2, 65, 91);
for (const separator of '-_./') classes[separator.charCodeAt(0)] = SEPARATOR;

/** Share of neighbours that differ in class (upper, lower, digit, other), separators left out: about 0.6 in Base64, 0.1 to 0.3 in names. */
export function turns(text: string): number {
  let changes = 0;
  let length = 0;
  let before = -1;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const kind = code < 128 ? (classes[code] as number) : OTHER;
    if (kind === SEPARATOR) continue;
    if (before !== -1 && kind !== before) changes++;
    before = kind;
    length++;
  }
  return length < 2 ? 0 : changes / (length - 1);
}

/** Less wordy than `limit`; where the classes turn as often as in Base64, the short runs of letters scatter widely, and more is allowed. */
export function isWordless(text: string, limit: number): boolean {
  const share = wordiness(text);
  return share < limit || (share < 0.7 && turns(text) >= 0.4);
}

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const versions = /\d+\.\d+\.\d+|^v?\d+\.\d+$/;
const numberWithUnit = /^\d+[a-z]{1,3}$/i;
const dates = /^\d{4}-\d\d-\d\d/;

/** Looks like it came from a random generator: what a token's value is, and a word, name, path, version or number is not. */
export function looksRandom(whole: string): boolean {
  // The beginning of a long value tells as much, and bounds the work.
  const value = whole.length > 128 ? whole.slice(0, 128) : whole;
  const { length } = value;
  if (length < 10) return false;
  const made = kindsOf(value);
  const digits = (made & DIGIT) === 0 ? 0 : countDigits(value);
  if (digits > 0 && (made & ~(DIGIT | NUMERIC)) === 0) return false;
  if (classes[value.charCodeAt(0)] === 0 && (dates.test(value) || numberWithUnit.test(value))) return false;
  if (length === 36 && uuid.test(value)) return true;
  if (length < 40 && (made & DOT) !== 0 && versions.test(value)) return false;
  if (digits === 0 && (length < 16 || (made & LOWER) === 0 || (made & UPPER) === 0)) return false;
  if (shannon(value) < (length < 16 ? 2.8 : 3)) return false;
  // Letters a to f make pairs like those of words; a hexadecimal value is none.
  if ((made & ~(DIGIT | HEX_LOWER | HEX_UPPER)) === 0) return digits > 0;
  return isWordless(value, digits >= 3 || length >= 32 ? 0.55 : 0.42);
}

/** `shop-db-1`, `db3.internal`, `v2`: a name with a number. */
const numberedName = /^v?(?:[a-z]+[-_.]?)*\d{0,2}(?:[-_./:][a-z]*\d{0,5})*$/i;
/** A name is made of words: `tqXlMO12` is none, though it has its digits at its end. */
function isName(value: string): boolean {
  return (
    numberedName.test(value) &&
    !(value.length >= 8 && /[a-z][A-Z]/.test(value) && /\d/.test(value) && wordiness(value) < 0.3)
  );
}

/** Algorithms and protocols have digits in their names. */
const algorithm =
  /^(?:sha|md|ipv|utf|oauth|argon|base|x86|pbkdf|scram|aes|rsa|[rhep]s|http|tls|ssl|ed|iso|rfc)[-_]?v?\d/i;

/**
 * Looks like what a person or a generator chose as a password, where only the words around say so: letters and digits or signs
 * mixed, and no name of anything.
 */
export function looksLikePassword(value: string): boolean {
  if (looksRandom(value)) return true;
  if (value.length < 6 || algorithm.test(value) || isName(value) || versions.test(value)) return false;
  if (
    numberWithUnit.test(value) ||
    dates.test(value) ||
    !/[a-z]/i.test(value) ||
    /^[\w.-]+:\/?\/?/.test(value)
  )
    return false;
  return /\d/.test(value)
    ? !/[/=()[\]{}]/.test(value)
    : /[!#$%^&*+?@]/.test(value.slice(0, -1)) && !/[/()]/.test(value);
}

function countDigits(text: string): number {
  let digits = 0;
  for (let i = 0; i < text.length; i++) if (classes[text.charCodeAt(i)] === 0) digits++;
  return digits;
}

/** By its first character: what the whole must then be, or begin with. */
const openings: readonly (readonly [first: string, shape: RegExp])[] = [
  ['[', /^(?:\[redacted:[\w.#-]{1,80}\])+$|^\[[A-Za-z _-]+\]$/],
  ['xX#*._-', /^[xX#*._-]+$/],
  ['_', /^__\w+__$|^_[xX#*._-]+$/],
  ['\\', /^\\\$[\w({[]/],
  ['$', /^\$[\w({[]/],
  ['{', /^\{[{%]?/],
  ['<', /^</],
  ['%', /^%[\w({]/],
  ['@', /^@{1,2}[A-Z_]+@{1,2}$/],
  // Encrypted already: sops.
  ['e', /^ENC\[AES256_GCM\b/],
  [
    'vldmpoecstra',
    /^(?:var|local|data|module|process|os|env|config|secrets|self|this|settings|options|args|params|request|req|values|random_password)[.[][:"']?[a-z]/i,
  ],
  ['vraofhs', /^(?:vault|ref\+|arn:|op:\/\/|file:|https?:|secretkeyref)/i],
];
const shapesByFirst: (readonly RegExp[])[] = Array.from({ length: 128 }, (_, code) => {
  const first = String.fromCharCode(code);
  return openings
    .filter(([firsts]) => firsts.includes(first) || firsts.includes(first.toLowerCase()))
    .map(([, shape]) => shape);
});
const oneCharacter = /^(.)\1*$/i;
/** Nobody has these in a password. */
const masks = /x{5,}|\*{3,}|\.\.\.|^\W{0,3}redacted\W{0,3}$/i;
const standIn =
  /change[-_]?(?:me|it)|placeholder|your[-_/]|[-_]here$|dummy|insert[-_]|replace|example|sample|fake/gi;
/** Either: asked first of every value, and seldom answered with yes. */
const maskOrStandIn = new RegExp(`${masks.source}|${standIn.source}|…`, 'i');

/** Letters and digits mixed, four digits and more, and signs that join no words. */
const chosen = /\d[a-z]|[a-z]\d{2}|\d{4}|[^\w.\-/: ?!\]})>]|[!?](?=.)/i;

/**
 * A word such as `example` makes no placeholder of what is chosen around it: `example-password` and `sample-1` are made of words as
 * a whole, `Tr0ub4dor-example-9` and `sample7Kq2` are passwords.
 */
function standsInWhole(value: string): boolean {
  const rest = value.replace(standIn, ' ');
  return rest !== value && !chosen.test(rest) && !(rest.length >= 12 && looksRandom(rest));
}

/** Stands for a secret instead of being one: a variable, a template, a row of x, "changeme". */
export function isPlaceholder(value: string): boolean {
  const shown = value.length > 128 ? `${value.slice(0, 64)}${value.slice(-64)}` : value;
  const first = shown.charCodeAt(0);
  const last = shown.charCodeAt(shown.length - 1);
  if (((first ^ last) & ~32) === 0 && oneCharacter.test(shown)) return true;
  for (const shape of shapesByFirst[first] ?? []) if (shape.test(shown)) return true;
  return maskOrStandIn.test(shown) && (masks.test(shown) || shown.includes('…') || standsInWhole(shown));
}
