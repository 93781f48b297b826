/** What of an incident's record a question asks for. */
export type Subject =
  | 'approval'
  | 'denial'
  | 'asked'
  | 'run'
  | 'cost'
  | 'over'
  | 'now'
  | 'open'
  | 'next'
  | 'time'
  | 'count'
  | 'cause'
  | 'target'
  | 'evidence'
  | 'stopped'
  | 'end';

/** A question of which every word is understood: what it asks for, in the order in which it asks. */
export interface RecordQuestion {
  readonly subjects: readonly Subject[];
  readonly why: boolean;
}

/** Words by which people speak of what a record holds; a word that is none of these, and no word of sentences, is not on record. */
const subjectOf: ReadonlyArray<readonly [Subject, RegExp]> = [
  [
    'approval',
    /^(approv\w*|allow\w*|authori[sz]\w*|permit\w*|permission|agreed?|confirmed|decid\w*|decision|accept\w*)$/,
  ],
  ['denial', /^(den(y|ied|ies|ial|ying)|reject\w*|refus\w*|declin\w*|expir\w*|void\w*)$/],
  ['asked', /^(ask(s|ed|ing)?|request\w*|paged?|notif\w*|pinged|waits?|waiting|responsible|on-?call)$/],
  ['cost', /^(costs?|spen[dt]|price|expensive|money|dollars?|tokens?|usd|bill|cheap)$/],
  ['stopped', /^(stop\w*|paus\w*|resum\w*)$/],
  [
    'over',
    /^(over|resolved?|fixed|gone|ended|end|finished|closed?|solved|healthy|ok|okay|fine|well|recovered|still|help(ed|s)?|work(ed|s)?|better|success\w*)$/,
  ],
  ['open', /^(incidents|unresolved|others?)$/],
  ['next', /^(next|plan(s|ned)?|todo|recommend\w*|advice|suggest\w*|should)$/],
  ['count', /^(often|times|seen|recur\w*|repeat\w*|occur\w*|fired?|again|before)$/],
  ['time', /^(long|duration|took|takes?|lasted|since|start(ed)?|beg[au]n|opened|old|timeline)$/],
  [
    'cause',
    /^(causes?|caused|root|wrong|broken?|broke|diagnosis|culprit|blame|explanation|sure|certain|confiden\w*)$/,
  ],
  ['target', /^(target|affected|impacted|server|host|database|machine|where)$/],
  ['evidence', /^(evidence|proof|prove|know)$/],
  [
    'run',
    /^(r[au]n|running|execut\w*|do|done|did|doing|chang\w*|actions?|commands?|fix|fixes|tr(y|ied)|acted|happen\w*|steps?|appl(y|ied)|touch\w*|perform\w*|fail\w*)$/,
  ],
  ['now', /^(now|current\w*|status|state|stands?|progress|going|summary|update|story)$/],
];
const endings = /^(escalat\w*|ignor\w*|reported)$/;

/** Words that only make a sentence, or point at what the thread is about. */
const sentence = new Set(
  `a an the this that these those it its he she they them their we us our you your i me my mine who whom whose what which why when
  how is are was were be been being am has have had does did do can could will would may might must shall of to in on at by for
  from with about into as and or but if so than then there here please just really actually exactly already yet so far ever any
  anybody anyone anything someone somebody something everything everybody all every each one ones much many more most some no not
  nothing nobody right today tell show explain give list say hey hi hello ok gave given said says sentry incident problem issue alert thing person people
  human team action know me out up last latest first time s t d re ve ll m did that's it's what's who's whats wrong? get got make made
  need needs needed want like look looks looking also only even else open still now`.split(/\s+/),
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
  'happened',
  'happens',
  'happening',
  'doing',
]);

/**
 * Reads a question by its structure: which words of it are subjects of a record, and that the rest are words of a sentence or
 * words of this incident's own actions. Null: something is asked that no record holds (“what about replication?”).
 *
 * @param own words with which the incident's actions and target may be spoken of, lower-case
 */
export function readQuestion(text: string, own: ReadonlySet<string>): RecordQuestion | null {
  const words = wordsOf(text);
  const found: Subject[] = [];
  const weak: Subject[] = [];
  let spokenOf = false;
  for (const [n, word] of words.entries()) {
    const subject =
      subjectOf.find(([, pattern]) => pattern.test(word))?.[0] ?? (endings.test(word) ? 'end' : undefined);
    // “how many sessions” asks for a number that only the live system knows.
    if ((word === 'many' || word === 'much') && words[n - 1] === 'how' && !isCounted(words[n + 1]))
      return null;
    if (subject !== undefined) (auxiliary.has(word) ? weak : found).push(subject);
    else if (isOwn(word, own)) spokenOf = true;
    else if (!sentence.has(word)) return null;
  }
  // What failed tells itself why.
  const why =
    (words.includes('why') || /\bhow come\b/i.test(text)) && !words.some((word) => word.startsWith('fail'));
  const when = words.includes('when');
  const strong = [...new Set(found)];
  if (strong.length === 1 && strong[0] === 'count' && why) return null;
  if (isOpenList(words)) return { subjects: ['open'], why: false };
  if (strong.length > 0) return { subjects: words.includes('who') ? byWhom(strong) : strong, why };
  if (why)
    return {
      subjects: [
        spokenOf || words.some((word) => ['do', 'did', 'doing'].includes(word) && words.includes('you'))
          ? 'run'
          : 'cause',
      ],
      why,
    };
  if (when) return { subjects: ['time'], why };
  if (weak.length > 0) return { subjects: weakest(words, weak), why };
  // A state can be asked after by nothing but the name of what is ill (“and shop-db?”).
  return spokenOf && words.length > 0 ? null : { subjects: ['now'], why };
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

/** Who did something is who let it be done. */
function byWhom(subjects: readonly Subject[]): readonly Subject[] {
  if (subjects.includes('approval')) return subjects;
  return subjects.flatMap((subject): readonly Subject[] =>
    subject === 'run' ? ['approval'] : subject === 'over' ? ['approval', 'over'] : [subject],
  );
}

function weakest(words: readonly string[], weak: readonly Subject[]): readonly Subject[] {
  if (words.includes('happened')) return ['cause', 'run', 'over'];
  if (words.includes('know')) return ['evidence'];
  if (words.includes('who') && weak.includes('run')) return ['approval'];
  if (words.some((word) => ['still', 'ok'].includes(word))) return ['over'];
  if (words.some((word) => ['now', 'going', 'happening', 'doing'].includes(word))) return ['now'];
  return [weak.includes('run') ? 'run' : 'now'];
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
