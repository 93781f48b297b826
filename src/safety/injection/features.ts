import { concepts } from './concepts.ts';

/** Hashed features fall into this many buckets. */
export const BUCKETS = 1 << 18;

/** A text of at most so many characters is read at once. */
export const MAX_CHARS = 16_384;

/**
 * What the model sees of a text: words one to three at a time, pairs with one word between them, and three to five letters of a
 * word, each hashed into a bucket. Used again from text to text: valid until the next is read.
 */
export interface Features {
  /** Buckets, word after word. */
  readonly ids: Int32Array;
  /** Where the words begin and end in the text. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** For each word, how many ids there are up to its end. */
  readonly ends: Int32Array;
  /** 1 where a sentence, a line or a quotation begins with this word. */
  readonly breaks: Uint8Array;
  words: number;
  /** The words at which a window may begin or end, the end of the text the last. */
  readonly anchors: Int32Array;
  /** How many stretches there are between them. */
  stretches: number;
}

/** A window is at most so many stretches between two anchors … */
export const MAX_STRETCHES = 6;
/** … and, unless it is one of them, so many words. */
export const MAX_WINDOW = 48;
/** Sentences are stretches; longer ones are parted. */
const MIN_STRETCH = 3;
const MAX_STRETCH = 12;

const MAX_WORDS = MAX_CHARS;
/** Longer ones are identifiers, hashes or code: what stands in them says nothing. */
const MAX_WORD = 24;
const IDS_PER_WORD = 8 + 3 * MAX_WORD;

export function createFeatures(): Features {
  return {
    ids: new Int32Array(MAX_CHARS * 12 + IDS_PER_WORD),
    from: new Int32Array(MAX_WORDS),
    to: new Int32Array(MAX_WORDS),
    ends: new Int32Array(MAX_WORDS),
    breaks: new Uint8Array(MAX_WORDS),
    words: 0,
    anchors: new Int32Array(MAX_WORDS + 1),
    stretches: 0,
  };
}

const OTHER = 0;
const LETTER = 1;
const DIGIT = 2;
const BREAK = 3;
const SIGN = 4;

const kinds = new Uint8Array(128).fill(LETTER, 65, 91).fill(LETTER, 97, 123).fill(DIGIT, 48, 58);
for (const char of '.!?;:\n\r"()[]{}<>|`*#=') kinds[char.charCodeAt(0)] = BREAK;
kinds["'".charCodeAt(0)] = SIGN;

function kindOf(code: number): number {
  if (code < 128) return kinds[code] as number;
  if (code >= 0x3001 && code <= 0x3002) return BREAK;
  if (code >= 0xff01 && code <= 0xff1f) return BREAK;
  if (code === 0x964 || code === 0x61f || code === 0x6d4) return BREAK;
  return code === 0xa0 || (code >= 0x2000 && code <= 0x206f) || code === 0x3000 ? OTHER : LETTER;
}

/** Scripts that do not part words: one character is one. */
function isIdeograph(code: number): boolean {
  return code >= 0x3040 && code < 0xac00;
}

const mix = (hash: number): number => {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (mixed ^ (mixed >>> 13)) & (BUCKETS - 1);
};
const join = (hash: number, next: number): number => Math.imul(hash ^ next, 0x01000193) + 0x9e3779b9;

const START = 0x51ed270b;
const CHARS = 0x2545f491;
const SKIP = 0x1b873593;
const CAPITALS = 0x7feb352d;
const BOUNDARY = 3;

const CONCEPT = 0x85ebca6b;
const MARKS = 0x27d4eb2f;
/** How far a word may stand from another to be read together with it. */
const REACH = 8;

/** Beginnings of words that stand for something, by hash: 0 for none. */
const meanings = new Uint8Array(1 << 16);
const meant = new Int32Array(1 << 16);
const slotOf = (hash: number): number => Math.imul(hash, 0x9e3779b1) >>> 16;
for (const [index, stems] of Object.values(concepts).entries())
  for (const stem of stems.split(/\s+/)) {
    let hash = START;
    for (const char of stem.replace(/=$/, '')) hash = join(hash, char.charCodeAt(0));
    if (stem.endsWith('=')) hash = join(hash, BOUNDARY);
    let slot = slotOf(hash);
    while (meanings[slot] !== 0 && meant[slot] !== hash) slot = (slot + 1) & 0xffff;
    if (meanings[slot] === 0) meanings[slot] = index + 1;
    meant[slot] = hash;
  }

function meaningOf(hash: number): number {
  for (let slot = slotOf(hash); meanings[slot] !== 0; slot = (slot + 1) & 0xffff)
    if (meant[slot] === hash) return meanings[slot] as number;
  return 0;
}

const lowered = new Uint16Array(MAX_WORD + 2);

export function readFeatures(into: Features, text: string, start: number, end: number): void {
  const { ids, from, to, ends, breaks } = into;
  let count = 0;
  let words = 0;
  let before = BOUNDARY;
  let beforeThat = BOUNDARY;
  let broken = 1;
  let marks = MARKS;
  let [near, nearAt, far, farAt] = [0, 0, 0, 0];
  let at = start;
  while (at < end) {
    let code = text.charCodeAt(at);
    let kind = kindOf(code);
    if (kind !== LETTER && kind !== DIGIT) {
      if (kind === BREAK) broken = 1;
      if (code > 32) marks = join(marks, code);
      at++;
      continue;
    }
    const first = at;
    let hash = START;
    let length = 0;
    let capitals = 0;
    let digits = 0;
    let meaning = 0;
    while (at < end) {
      code = text.charCodeAt(at);
      kind = kindOf(code);
      if (kind !== LETTER && kind !== DIGIT && !(kind === SIGN && length > 0)) break;
      if (kind === DIGIT) {
        digits++;
        code = 48;
      } else if (code >= 65 && code <= 90) {
        capitals++;
        code += 32;
      }
      if (length < MAX_WORD) lowered[length + 1] = code;
      length++;
      hash = join(hash, code);
      if (meaning === 0 && (length > 2 || (length > 1 && code > 0x2fff))) meaning = meaningOf(hash);
      at++;
      if (!isIdeograph(code)) continue;
      // A word of such a script is most often two of them.
      if (length === 1) meaning = meaningOf(join(hash, text.charCodeAt(at)));
      break;
    }
    if (meaning === 0) meaning = meaningOf(join(hash, BOUNDARY));
    if (digits > 0 && (digits === length || digits > 2)) hash = 48;
    else if (length > MAX_WORD) hash = 49;
    from[words] = first;
    to[words] = at;
    breaks[words] = broken;
    if (broken === 1) {
      beforeThat = before;
      before = BOUNDARY;
    }
    ids[count++] = mix(hash);
    const pair = join(before, hash);
    ids[count++] = mix(pair);
    ids[count++] = mix(join(join(beforeThat, before), hash));
    ids[count++] = mix(join(join(beforeThat, SKIP), hash));
    if (capitals > 3 && capitals === length) ids[count++] = mix(join(CAPITALS, hash));
    if (marks !== MARKS) {
      ids[count++] = mix(marks);
      ids[count++] = mix(join(marks, hash));
    }
    if (meaning !== 0) {
      const concept = CONCEPT + meaning;
      ids[count++] = mix(concept);
      if (broken === 1) ids[count++] = mix(join(concept, BOUNDARY));
      if (near !== 0 && words - nearAt <= REACH) {
        ids[count++] = mix(join(near, concept));
        if (far !== 0 && words - farAt <= REACH) {
          ids[count++] = mix(join(join(far, SKIP), concept));
          ids[count++] = mix(join(join(far, near), concept));
        }
      }
      [far, farAt, near, nearAt] = [near, nearAt, concept, words];
    }
    marks = MARKS;
    if (hash !== 48 && hash !== 49 && length > 2) {
      lowered[0] = BOUNDARY;
      lowered[length + 1] = BOUNDARY;
      const last = length + 2;
      for (let i = 0; i + 3 <= last; i++) {
        let chars = join(
          join(join(CHARS, lowered[i] as number), lowered[i + 1] as number),
          lowered[i + 2] as number,
        );
        ids[count++] = mix(chars);
        if (i + 4 > last) continue;
        chars = join(chars, lowered[i + 3] as number);
        ids[count++] = mix(chars);
        if (i + 5 > last) continue;
        ids[count++] = mix(join(chars, lowered[i + 4] as number));
      }
    }
    ends[words++] = count;
    beforeThat = before;
    before = hash;
    broken = 0;
  }
  into.words = words;
  into.stretches = setAnchors(into);
}

function setAnchors({ anchors, breaks, words }: Features): number {
  let count = 1;
  anchors[0] = 0;
  for (let word = 1; word < words; word++) {
    const length = word - (anchors[count - 1] as number);
    if (length >= MAX_STRETCH || (length >= MIN_STRETCH && breaks[word] === 1)) anchors[count++] = word;
  }
  anchors[count] = words;
  return count;
}
