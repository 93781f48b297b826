import { wordSubject } from './subjects.ts';

/** Words that only make a sentence, or point at what the thread is about. */
export const sentence = new Set(
  `a an the this that these those it its he she they them their we us our you your i me my mine who whom whose what which why when
  how is are was were be been being am has have had does did do can could will would may might must shall of to in on at by for
  from with about into as and or but if so than then there here please just really actually exactly already yet so far ever any
  anybody anyone anything someone somebody something everything everybody all every each one ones much many more most some no not
  nothing nobody right today tell show explain give list say hey hi hello ok gave given said says sentry incident problem issue alert thing person people
  human team action proposal card him her know me out up last latest first time s t d re ve ll m did that's it's what's who's whats wrong? get got make made
  need needs needed want go like look looks looking also only even else open still now`.split(/\s+/),
);
/** These say something of their own only where nothing else does: “what did you do” asks what ran, “who did you ask” does not. */
export const auxiliary = new Set([
  'do',
  'did',
  'know',
  'now',
  'still',
  'ok',
  'going',
  'happen',
  'happened',
  'happens',
  'happening',
  'doing',
]);

/** Speaks of what is to come, might be, or may be done: no record holds that. */
export const UNCERTAIN =
  /\b(?:will|would|could|can|may|might|shall|should|must|going to|if|able|allowed to|am i)\b/;
/** Picks one of several, or a time; the record is told as it stands, the newest first. */
export const PICKS = /\b(?:first|last|latest|today|than|same|without|except|whose|normal|usual)\b/;
export const NEGATED = /\b(?:not|never|nobody|nothing|none)\b/;
export const MENTION = /<@([UW][A-Z0-9]+)(?:\|[^>]*)?>/;

export function wordsOf(text: string): readonly string[] {
  return (
    text
      .toLowerCase()
      .replace(/[’']s\b/g, ' is')
      .replace(/\binc-\d+\b/g, ' ')
      .replace(/\bon call\b/g, 'on-call')
      .match(/[\p{L}\p{N}][\p{L}\p{N}_.-]*/gu) ?? []
  ).map((word) => word.replace(/[.-]+$/, ''));
}

/** The same word, whatever its ending: “terminated” and “pg_terminate_backend”. */
export function isOwn(word: string, own: ReadonlySet<string>): boolean {
  if (own.has(word)) return true;
  const stem = word.replace(/(?:ing|ed|es|s|e)$/, '');
  return stem.length > 3 && [...own].some((each) => each.startsWith(stem) && each.length - stem.length <= 3);
}

/** Whether it is understood. */
export const isKnown = (word: string, own: ReadonlySet<string>): boolean =>
  wordSubject(word) !== undefined || sentence.has(word) || isOwn(word, own);

/** Words that are worth mending; each stands for its subject alone. */
const mended =
  'approve approved denied rejected happened changed command executed cause caused status started resolved fixed target evidence stopped expensive certain running severity proposed expires impact deadline'.split(
    ' ',
  );

/** The one word that an unknown one is a slip of; null: none, or more than one. */
export function corrected(word: string): string | null {
  const single = word.replace(/(.)\1+/g, '$1');
  if (sentence.has(single)) return single;
  if (word.length < 5) return null;
  const near = mended.filter((each) => each[0] === word[0] && isSlip(word, each));
  return new Set(near.map(wordSubject)).size === 1 ? (near[0] ?? null) : null;
}

/** One letter more, less, other, or two swapped. */
function isSlip(word: string, of: string): boolean {
  let n = 0;
  while (n < word.length && word[n] === of[n]) n++;
  const [a, b] = [word.slice(n), of.slice(n)];
  return (
    a.slice(1) === b.slice(1) ||
    a.slice(1) === b ||
    a === b.slice(1) ||
    (a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2))
  );
}
