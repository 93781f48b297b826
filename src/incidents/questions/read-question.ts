import type { ChangesAsked } from './changes-asked.ts';
import { ofPeople } from './of-people.ts';
import { plain } from './plain-question.ts';
import { readFurther } from './read-further.ts';
import {
  auxiliary,
  corrected,
  isKnown,
  isOwn,
  MENTION,
  NEGATED,
  PICKS,
  sentence,
  UNCERTAIN,
  wordsOf,
} from './sentence.ts';
import { askedBy, ofActions, type Subject, wordSubject } from './subjects.ts';
import { wholeQuestion } from './whole-questions.ts';

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
  /** What of the changes around it, where those are asked for. */
  readonly changes?: ChangesAsked;
}

/** What is planned is on record. */
const PLANNED = /^(?:so |and |ok )?what\b.*\b(?:next|plan|planned|recommend|suggest|should (?:we|i) do)\b/;
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
  const whole = wholeQuestion(text);
  if (whole !== null) return { subjects: [whole], why: false };
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
  // How to do something is no part of what happened; “how do we know” asks for evidence.
  if (/\bhow (?:to|(?:do|can|could|should) (?:i|we|one))\b/.test(text) && !subjects.includes('evidence'))
    return null;
  // To take back a No is another thing than to take back what ran.
  if (subjects.includes('undone') && /\b(?:no|den\w+|refus\w+)\b/.test(text)) return null;
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

/** By what a question asks; null: it asks whether, or only names something. */
function askingWord(text: string): string | null {
  const how = /\bhow (come|long|often|many|much)\b/.exec(text)?.[1];
  if (how !== undefined)
    return how === 'come' ? 'why' : how === 'many' && /\bhow many times\b/.test(text) ? 'often' : how;
  const asked = /\b(why|who|whom|by whom|when|where|which|how|what)\b/.exec(text)?.[1];
  if (asked === undefined) return null;
  return asked === 'whom' ? 'who' : /\bwhy\b/.test(text) ? 'why' : asked;
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

const isCounted = (word: string | undefined): boolean =>
  word === undefined ||
  /^(times|often|did|does|do|has|have|was|is|it|this|that|money|tokens?|dollars?|actions?|commands?|approvals?|people|incidents)$/.test(
    word,
  );

/** “what is open?”, “any other incidents?”, but not “is it open?” or “when was it opened?”. */
const isOpenList = (words: readonly string[]): boolean =>
  words.includes('incidents') || (words.includes('open') && !words.includes('it') && !words.includes('this'));
