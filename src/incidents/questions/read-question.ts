import { ofPeople } from './of-people.ts';
import { plain } from './plain-question.ts';
import { readFurther } from './read-further.ts';

/** What of an incident's record a question asks for. */
export type Subject =
  | 'approval'
  | 'denial'
  | 'asked'
  | 'called'
  | 'rung'
  | 'closing'
  | 'expiry'
  | 'run'
  | 'cost'
  | 'over'
  | 'now'
  | 'open'
  | 'next'
  | 'time'
  | 'count'
  | 'cause'
  | 'ruledOut'
  | 'target'
  | 'evidence'
  | 'stopped'
  | 'end';

/** A question of which every word is understood: what it asks for, in the order in which it asks. */
export interface RecordQuestion {
  readonly subjects: readonly Subject[];
  readonly why: boolean;
  /** Asks for what was before the newest of it. */
  readonly earlier?: boolean;
  /** Asks whether it was this person: a Slack user id, or a name as somebody writes it. */
  readonly person?: string;
  /** By which the action that is meant is spoken of; none: whichever. */
  readonly own?: readonly string[];
}

/** Words by which people speak of what a record holds; a word that is none of these, and no word of sentences, is not on record. */
const subjectOf: ReadonlyArray<readonly [Subject, RegExp]> = [
  [
    'approval',
    /^(approv\w*|allowed|authori[sz]\w*|permit\w*|permission|agreed?|confirmed|decid\w*|decision|accept\w*)$/,
  ],
  ['denial', /^(den(y|ied|ies|ial|ying)|reject\w*|refus\w*|declin\w*|void\w*)$/],
  ['expiry', /^(expir\w*|lapse[sd]?|run-out)$/],
  ['called', /^(pag(e|ed|ing)|notif\w*|pinged|call(s|ed|ing)?|assign(ed|s)?|acknowledged)$/],
  ['asked', /^(ask(s|ed|ing)?|waits?|waiting)$/],
  ['cost', /^(costs?|spen[dt]|price|expensive|money|dollars?|tokens?|usd|bill|cheap)$/],
  ['stopped', /^(stop\w*|paus\w*|resum\w*)$/],
  [
    'over',
    /^(over|resolved?|fixed|gone|ended|end|finished|closed?|solved?|healthy|ok|okay|fine|well|recovered|still|help(ed|s)?|work(ed|s)?|better|success\w*)$/,
  ],
  ['open', /^(incidents|unresolved|others?)$/],
  ['next', /^(next|plan(s|ned)?|todo|recommend\w*|advice|suggest\w*|should)$/],
  ['count', /^(often|times|seen|recur\w*|repeat\w*|occur\w*|fired?|again|before)$/],
  ['time', /^(long|duration|took|takes?|lasted|since|start(ed)?|beg[au]n|opened|old|timeline)$/],
  [
    'cause',
    /^(causes?|caused|root|wrong|broken?|broke|diagnosis|culprit|explanation|sure|certain|confiden\w*)$/,
  ],
  ['ruledOut', /^(exclud\w*|alternatives?|eliminat\w*|ruled-out)$/],
  ['target', /^(target|affected|impacted|server|host|database|machine|where)$/],
  ['evidence', /^(evidence|proof|prove|know)$/],
  [
    'run',
    /^(r[au]n|execut\w*|do|done|did|doing|chang\w*|actions?|commands?|fix|fixes|tr(y|ied)|acted|happen\w*|steps?|appl(y|ied)|touch\w*|perform\w*|fail\w*)$/,
  ],
  ['now', /^(now|current\w*|status|state|stands?|progress|going|summary|update|story)$/],
];
const endings = /^(escalat\w*|ignor\w*|reported)$/;

/** What is asked for by each of these is only this; a question that asks otherwise asks for something else. */
const askedBy: Readonly<Record<string, readonly Subject[]>> = {
  who: ['approval', 'denial', 'asked', 'called', 'rung', 'closing', 'stopped', 'run', 'over'],
  where: ['target', 'evidence'],
  when: [
    'approval',
    'denial',
    'run',
    'stopped',
    'over',
    'time',
    'end',
    'called',
    'rung',
    'closing',
    'expiry',
  ],
  why: ['approval', 'denial', 'run', 'stopped', 'over', 'cause', 'time', 'target', 'end', 'rung', 'closing'],
  long: ['time', 'over', 'now', 'called'],
  often: ['count'],
  many: ['count', 'cost', 'run', 'approval', 'open'],
  much: ['cost'],
  how: ['cause', 'evidence', 'now', 'run', 'over', 'cost', 'approval', 'end'],
};
/** These are of an action; all others are of the whole incident, and of nothing else that may be named. */
const ofActions: ReadonlySet<Subject> = new Set(['approval', 'denial', 'run']);

/** Words that only make a sentence, or point at what the thread is about. */
const sentence = new Set(
  `a an the this that these those it its he she they them their we us our you your i me my mine who whom whose what which why when
  how is are was were be been being am has have had does did do can could will would may might must shall of to in on at by for
  from with about into as and or but if so than then there here please just really actually exactly already yet so far ever any
  anybody anyone anything someone somebody something everything everybody all every each one ones much many more most some no not
  nothing nobody right today tell show explain give list say hey hi hello ok gave given said says sentry incident problem issue alert thing person people
  human team action proposal card him her know me out up last latest first time s t d re ve ll m did that's it's what's who's whats wrong? get got make made
  need needs needed want go like look looks looking also only even else open still now`.split(/\s+/),
);
/** These say something of their own only where nothing else does: “what did you do” asks what ran, “who did you ask” does not. */
const auxiliary = new Set([
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
const UNCERTAIN = /\b(?:will|would|could|can|may|might|shall|should|must|going to|if|able|allowed to|am i)\b/;
/** What is planned is on record. */
const PLANNED = /^(?:so |and |ok )?what\b.*\b(?:next|plan|planned|recommend|suggest|should (?:we|i) do)\b/;
/** Picks one of several, or a time; the record is told as it stands, the newest first. */
const PICKS = /\b(?:first|last|latest|today|than|same|without|except|whose|normal|usual)\b/;
const NEGATED = /\b(?:not|never|nobody|nothing|none)\b/;
const MENTION = /<@([UW][A-Z0-9]+)(?:\|[^>]*)?>/;
/** “did noah approve”, “was it noah who denied”. */
const NAMED =
  /^(?:and |so )?(?:did|has|have|was it|is it) ([\p{L}.-]+)(?: who| that)? (?:approv\w*|den[iy]\w*|reject\w*|refus\w*|stop\w*)\b/u;

/**
 * Reads a question by its structure: which words of it are subjects of a record, and that the rest are words of a sentence or
 * words of this incident's own actions. Null: something is asked that no record holds (“what about replication?”), or
 * otherwise than the record tells it (“who did not approve?”): a false answer is worse than none.
 *
 * @param own words with which the incident's actions and target may be spoken of, lower-case
 * @param before what was asked just before, which “and who?” goes on from
 */
export function readQuestion(
  given: string,
  own: ReadonlySet<string>,
  before: RecordQuestion | null = null,
): RecordQuestion | null {
  const mention = MENTION.exec(given)?.[1];
  const text = plain(given.replace(MENTION, 'somebody')).replace(/[\p{L}]+/gu, (word) =>
    isKnown(word, own) ? word : (corrected(word) ?? word),
  );
  const further = readFurther(text, before);
  if (further !== undefined) return further;
  const name = NAMED.exec(text)?.[1];
  const person = mention ?? (name !== undefined && !sentence.has(name) && !own.has(name) ? name : undefined);
  const isFuture = UNCERTAIN.test(text);
  if ((isFuture && !PLANNED.test(text)) || PICKS.test(text)) return null;
  const asks = askingWord(
    mention === undefined ? text : text.replace(/\bsomebody (?:who|that)\b/, 'somebody'),
  );
  if (NEGATED.test(text) && asks !== null && asks !== 'why') return null;
  const words = wordsOf(
    person !== undefined && mention === undefined ? text.replace(person, 'somebody') : text,
  );
  const found: Subject[] = [];
  const weak: Subject[] = [];
  const spokenOf: string[] = [];
  for (const [n, word] of words.entries()) {
    // “how many sessions” asks for a number that only the live system knows.
    if ((word === 'many' || word === 'much') && words[n - 1] === 'how' && !isCounted(words[n + 1]))
      return null;
    const subject = wordSubject(word);
    if (subject !== undefined) (auxiliary.has(word) ? weak : found).push(subject);
    else if (!sentence.has(word)) {
      if (!isOwn(word, own)) return null;
      spokenOf.push(word);
    }
  }
  const said = ofPeople([...new Set(found)], text, asks);
  // “is it still broken?” asks how it stands, and for no cause.
  const strong =
    said.includes('cause') && /\bstill\b/.test(text) && asks === null ? (['over'] as const) : said;
  if (
    isOpenList(words) &&
    spokenOf.length === 0 &&
    strong.every((subject) => subject === 'open' || subject === 'over')
  )
    return { subjects: ['open'], why: false };
  // What failed tells itself why.
  const why = asks === 'why' && !words.some((word) => word.startsWith('fail'));
  const subjects = strong.length > 0 ? strong : weakest(text, weak, spokenOf, asks);
  if (subjects.length === 0) return null;
  if (isFuture && subjects.some((subject) => subject !== 'next')) return null;
  const allowed = asks === null ? undefined : askedBy[asks];
  if (allowed && subjects.some((subject) => !allowed.includes(subject)) && !isBroken(text, asks)) return null;
  if (isAboutSentry(text)) return null;
  if (strong.length + spokenOf.length > 0 && !isAbout(subjects, text, spokenOf, own)) return null;
  // Who has it is told whoever is meant.
  if (person !== undefined && !subjects.every((subject) => subject === 'called'))
    return asks === null && subjects.every((subject) => ['approval', 'denial', 'stopped'].includes(subject))
      ? { subjects, why: false, person }
      : null;
  const meant = spokenOf.length > 0 ? { own: spokenOf } : {};
  return { subjects: asSaid(subjects, text, asks), why, ...meant };
}

/** What somebody asks whether it is the cause, or was ruled out (“could it be the network?”): the words for it. Null: another question. */
export function askedWhether(text: string): readonly string[] | null {
  const [, after] =
    /^(?:(?:could|can|might|may) it (?:be|have been)|(?:is|was) (?:it|this|that)(?: (?:because of|due to|caused by))?|(?:did|have|has) (?:you|sentry) (?:excluded?|ruled-out|checked for)) (.+)$/.exec(
      plain(text).replace(/^(?:(?:and|so|ok|but)\b[\s,]*)+/, ''),
    ) ?? [];
  if (after === undefined || NEGATED.test(after)) return null;
  const words = wordsOf(after).filter((word) => !sentence.has(word));
  return words.length === 0 || words.some((word) => wordSubject(word) !== undefined) ? null : words;
}

/** By what a question asks; null: it asks whether, or only names something. */
function askingWord(text: string): string | null {
  const how = /\bhow (come|long|often|many|much)\b/.exec(text)?.[1];
  if (how !== undefined)
    return how === 'come' ? 'why' : how === 'many' && /\bhow many times\b/.test(text) ? 'often' : how;
  const asked = /\b(why|who|whom|by whom|when|where|which|how|what)\b/.exec(text)?.[1];
  if (asked === undefined) return null;
  return asked === 'whom' ? 'who' : /\bwhy\b/.test(text) ? 'why' : asked;
}

const wordSubject = (word: string): Subject | undefined =>
  subjectOf.find(([, pattern]) => pattern.test(word))?.[0] ?? (endings.test(word) ? 'end' : undefined);

const isKnown = (word: string, own: ReadonlySet<string>): boolean =>
  wordSubject(word) !== undefined || sentence.has(word) || isOwn(word, own);

/** Words that are worth mending; each stands for its subject alone. */
const mended =
  'approve approved denied rejected happened changed command executed cause caused status started resolved fixed target evidence stopped expensive certain running'.split(
    ' ',
  );

/** The one word that an unknown one is a slip of; null: none, or more than one. */
function corrected(word: string): string | null {
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

/** “when did it break?” asks when it began. */
const isBroken = (text: string, asks: string | null): boolean =>
  asks === 'when' && /\b(?:break|broke)\b/.test(text);

/** “are you ok?” is about who answers. */
const isAboutSentry = (text: string): boolean =>
  /\b(?:are|were|is) (?:you|sentry)\b/.test(text) &&
  !/\b(?:sure|certain|confident|doing|waiting|asking|asked|stopped)\b/.test(text);

/** Whether what is asked is asked of what the record has it of. */
function isAbout(
  subjects: readonly Subject[],
  text: string,
  spokenOf: readonly string[],
  own: ReadonlySet<string>,
): boolean {
  if (subjects.includes('cause')) {
    if (subjects.some((subject) => subject !== 'cause' && subject !== 'evidence')) return false;
    if (/\b(?:did|have|has) (?:you|sentry|we|they|i)\b/.test(text) && !/\b(?:find|found|think)\b/.test(text))
      return false;
  }
  if (/\b(?:is|are)\b.*\brunning\b/.test(text)) return false;
  if (subjects.includes('open')) return false;
  // A service may be stopped and sessions may wait: what people and Sentry do is told only where they are spoken of.
  if (
    subjects.includes('stopped') &&
    !/\b(?:who|why|you|sentry|anybody|anyone|somebody|someone|people)\b/.test(text)
  )
    return false;
  if (
    subjects.includes('asked') &&
    /\bwait/.test(text) &&
    !/\bwait(?:s|ing)? (?:for|on)\b|\bfor\b.*\bwait(?:s|ing)?\b/.test(text)
  )
    return false;
  if (
    subjects.includes('target') &&
    subjects.some((subject) => !['target', 'run', 'cause'].includes(subject))
  )
    return false;
  if (subjects.includes('over') && subjects.some((subject) => subject === 'approval' || subject === 'denial'))
    return false;
  if (/\bwith (?:you|sentry)\b/.test(text) || (/\bhow many\b/.test(text) && /\bfail/.test(text)))
    return false;
  const isOfAction = subjects.some((subject) => ofActions.has(subject));
  if (subjects.includes('time') && isOfAction) return false;
  if (subjects.includes('count') && subjects.length > 1) return false;
  const named = spokenOf.filter((word) => !TARGET_NAME.test(word) || !own.has(word));
  if (named.length === 0)
    return (
      spokenOf.length === 0 ||
      !subjects.some((subject) => ['cost', 'asked', 'called', 'next', 'stopped'].includes(subject))
    );
  // “did ending it help?” is answered by how it stands; “is checkout ok?” is not.
  const helped =
    subjects.every((subject) => subject === 'over') &&
    /\b(?:did|has|have)\b.*\b(?:help|helped|work|worked|fixed|solved?)\b/.test(text);
  return helped || (isOfAction && subjects.every((subject) => ofActions.has(subject) || subject === 'over'));
}

/** The whole name of a system, as “shop-db” is one and “shop” or “sessions” is not. */
const TARGET_NAME = /[-_.]/;

/** Who did something is who let it be done, and how it was fixed is what ran. */
function asSaid(subjects: readonly Subject[], text: string, asks: string | null): readonly Subject[] {
  if (asks === 'when' && subjects.every((subject) => ['over', 'time', 'cause'].includes(subject)))
    return ['time'];
  if (asks === 'long') return subjects.includes('called') ? subjects : ['time'];
  if (asks === 'why' && subjects.every((subject) => ['cause', 'time', 'target'].includes(subject)))
    return ['cause'];
  if (asks === 'how' && /\b(?:was|did)\b/.test(text) && subjects.includes('over')) return ['run'];
  if (asks !== 'who' || subjects.includes('approval')) return subjects;
  return subjects.flatMap((subject): readonly Subject[] =>
    subject === 'run' ? ['approval'] : subject === 'over' ? ['approval', 'over'] : [subject],
  );
}

/** What is asked where no word says it by itself. */
function weakest(
  text: string,
  weak: readonly Subject[],
  spokenOf: readonly string[],
  asks: string | null,
): readonly Subject[] {
  if (/\bhappen/.test(text)) {
    if (asks === 'what') return /happening/.test(text) ? ['now'] : ['cause', 'run', 'over'];
    if (asks === 'when') return ['time'];
    return asks === 'why' || asks === 'how' ? ['cause'] : [];
  }
  if (/\bhow do (?:you|we) know\b/.test(text)) return ['evidence'];
  if (asks === 'who')
    return /\bwho did (?:this|that|it)\b/.test(text)
      ? ['run']
      : spokenOf.length > 0 && /\bdid\b|\bwho terminate/.test(text)
        ? ['run']
        : [];
  if (asks === 'why')
    return spokenOf.some((word) => !TARGET_NAME.test(word)) ||
      /\byou\b.*\b(?:do|doing)\b/.test(text) ||
      /\bdid you do\b/.test(text)
      ? ['run']
      : spokenOf.length === 0 && /^(?:and |so |but )?why(?: (?:is|was) (?:it|this|that))?$/.test(text)
        ? ['cause']
        : [];
  if (asks === 'when')
    return /^(?:and |so )?when$/.test(text)
      ? ['time']
      : spokenOf.some((word) => !TARGET_NAME.test(word)) && /\bdid you\b|\bwas\b/.test(text)
        ? ['run']
        : [];
  if (/\b(?:did|do|have|has)\b.*\b(?:do|done)\b/.test(text) && asks === 'what') return ['run'];
  if (/\b(?:did|have) (?:you|sentry)\b/.test(text) && spokenOf.some((word) => !TARGET_NAME.test(word)))
    return ['run'];
  if (
    /^(?:is|are) (?:it|this|that|everything|we|things|all|[\w-]+) (?:still |all )?(?:ok|still)\b/.test(text)
  )
    return ['over'];
  if (/\bstill\b|\bok\b/.test(text) && weak.includes('over')) return ['over'];
  return /\b(?:now|going on|going|doing)\b/.test(text) ||
    /^(?:and |so )?(?:what is (?:up|it)|how is it)$/.test(text)
    ? ['now']
    : [];
}

/**
 * What somebody asks why it was not done (“why not restart?”, “why vacuum instead of a restart?”): the words for it, none
 * for “why not?”. Null: another question, also one for what people did not do or what is not so (“why is it not over?”).
 */
export function askedWhyNot(text: string): readonly string[] | null {
  const [, after] =
    /\b(?:why|how come)\b.*?\b(?:instead of|rather than)\b(.*)/is.exec(text) ??
    /\b(?:why|how come)\s+not\b(.*)/is.exec(text) ??
    /\b(?:why|how come)\b(?=.*\b(?:you|sentry|we)\b).*?(?:\bnot\b|n[’']t\b|\b(?:did|do|is|was|have|could|would)nt\b)(.*)/is.exec(
      text,
    ) ??
    [];
  if (after === undefined) return null;
  const words = wordsOf(after);
  const isOther = words.some((word) =>
    subjectOf.some(
      ([subject, pattern]) =>
        !['run', 'over', 'stopped', 'next', 'target'].includes(subject) &&
        pattern.test(word) &&
        !sentence.has(word),
    ),
  );
  return isOther ? null : words.filter((word) => !sentence.has(word) && !auxiliary.has(word));
}

const isCounted = (word: string | undefined): boolean =>
  word === undefined ||
  /^(times|often|did|does|do|has|have|was|is|it|this|that|money|tokens?|dollars?|actions?|commands?|approvals?|people|incidents)$/.test(
    word,
  );

/** “what is open?”, “any other incidents?”, but not “is it open?” or “when was it opened?”. */
const isOpenList = (words: readonly string[]): boolean =>
  words.includes('incidents') || (words.includes('open') && !words.includes('it') && !words.includes('this'));

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

/** Words in which people speak of a problem that is there or not, whatever it is. */
const states =
  /^(down|up|blocked|blocking|waiting|waits?|stuck|hanging|hangs?|slow|full|red|green|failing|broken|healthy|locked|there|happening|running|dead|alive|bad|ill|reachable|back|over|gone|fixed|left|free|used)$/;

/**
 * Whether a question asks how the symptom is at this moment, which only a look can tell: “how many are blocked now?”, “is it
 * still down?”. Every word of it has to be understood, and one at least has to speak of the symptom.
 *
 * @param symptom words of what the incident is about and of what would be read, lower-case
 */
export function asksForNow(text: string, symptom: ReadonlySet<string>): boolean {
  const said = plain(text);
  if (UNCERTAIN.test(said) || PICKS.test(said)) return false;
  const words = wordsOf(text);
  const speaks = (word: string): boolean => states.test(word) || isOwn(word, symptom);
  const isPlain = (word: string): boolean =>
    sentence.has(word) || ['current', 'currently', 'moment', 'still'].includes(word);
  const isPresent =
    /^(is|are|does|do|has|have)$/.test(words[0] ?? '') ||
    words.some((word) => ['now', 'still', 'currently', 'current', 'moment'].includes(word)) ||
    (words[0] === 'how' && ['many', 'much', 'long', 'full'].includes(words[1] ?? ''));
  const isPast = words.some((word) => /^(was|were|did|had|when|why|who)$/.test(word));
  return isPresent && !isPast && words.some(speaks) && words.every((word) => speaks(word) || isPlain(word));
}

/** The same word, whatever its ending: “terminated” and “pg_terminate_backend”. */
export function isOwn(word: string, own: ReadonlySet<string>): boolean {
  if (own.has(word)) return true;
  const stem = word.replace(/(?:ing|ed|es|s|e)$/, '');
  return stem.length > 3 && [...own].some((each) => each.startsWith(stem) && each.length - stem.length <= 3);
}

/** Whether enough of it is English to be read: word by word there is none of it in another language. */
export function isEnglish(text: string): boolean {
  const words = wordsOf(plain(text.replace(MENTION, '')));
  const known = words.filter((word) => sentence.has(word) || wordSubject(word) !== undefined);
  return (
    !/[^\p{Script=Latin}\p{Script=Common}\p{Extended_Pictographic}]/u.test(text) &&
    known.length * 3 >= words.length
  );
}
