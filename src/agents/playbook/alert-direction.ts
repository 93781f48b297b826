import type { RunbookRequirement } from '../../runbooks/runbook.ts';

/** Which side of its measure an alert means, beside the side that a runbook is about. */
export type AlertDirection =
  /** The side the runbook is about. */
  | 'same'
  /** The other side, or that it is over. */
  | 'opposite'
  /** It does not say, and its name alone leaves both open. */
  | 'unsaid';

const HIGH =
  /^(?:many|much|more|most|high\w*|above|over|exceed\w*|exhaust\w*|full\w*|grow\w*|grew|increas\w*|ris(?:e|es|en|ing)|rose|spik\w*|surg\w*|larg\w*|big\w*|huge|long\w*|old\w*|saturat\w*|peak\w*|flood\w*|excess\w*|fill\w*|behind|frequent\w*|storm\w*|leak\w*|overload\w*|near\w*|almost|approach\w*|pressure|double\w*|treble\w*|explo\w*|maxed)$/;
const LOW =
  /^(?:few\w*|low\w*|below|under|less|least|drop\w*|fall\w*|fell|decreas\w*|declin\w*|shrink\w*|shrank|shrunk|zero|0|none|no|nobody|empty|absent|absence|vanish\w*|disappear\w*|rare\w*|seldom|collaps\w*|insufficient|lack\w*|short\w*|starv\w*|reduc\w*|halved|small\w*|missing|without|gone|kein\w*|aucune?|ning[uú]n\w*|nessun\w*|geen)$/;
const ENDED = /^(?:recovered|recovers|cleared|clears|resolved|restored)$/;
const COMPARES = /^(?:than|above|over|beyond|below)$/;
const OVER =
  /^(?:healthy|fine|freed|reclaimed|normal\w*|ok|okay|succe\w*|complete[ds]?|finished|caught|solved|repaired|fixed|subsided)$/;
/** That something is wrong. Of a measure it does not say which side: a disk that fails is not full. */
const FAULT =
  /^(?:fail\w*|down|crash\w*|dead|died|dies|dying|stop\w*|broke\w*|error\w*|stuck|hang\w*|hung|invalid|bad|problem\w*|unreachable|unavailable|blocked|blocking|waiting|unhealthy|critical|exit\w*|kill(?:s|ed)|corrupt\w*|refus\w*|inactive|loop\w*|flap\w*|mismatch\w*|pending|evict\w*|unschedulable)$/;
const NEGATION = /^(?:not|never|isn|aren|doesn|don|hasn|haven|wasn|cannot|cant)$/;
/** "No blocked sessions" have none: of a fault a count of nothing is its end. */
const NOTHING = /^(?:no|zero|none|kein\w*|aucune?|ning[uú]n\w*|nessun\w*|geen)$/;
/** What a measure does is named by them; another side beside them says how it is. */
const GROWTH = /^(?:grow\w*|grew)$/;
const INVERSE = /^(?:free|available|availability|remaining|left|spare|headroom|unused)$/;
/** A word bears on those that stand so near. */
const REACH = 3;

/**
 * An alert may be named after a measure and mean either side of it: connections that are used up, or that have dropped to zero.
 * `texts`: what is said more closely comes first (title, name), then `descriptions`; the first that says anything counts.
 */
export function alertDirection(
  { bad, inverse, opposite }: Pick<RunbookRequirement, 'bad' | 'inverse' | 'opposite'>,
  texts: readonly string[],
  descriptions: readonly string[] = [],
): AlertDirection {
  const words: Vocabulary = {
    opposite: new Set(opposite.map((word) => word.toLowerCase())),
    inverse: new Set(inverse.flatMap((noun) => ['', 's', 'es'].map((end) => noun.toLowerCase() + end))),
    // What is left of a fault is no free room.
    spare: bad !== 'present',
  };
  const wanted = bad === 'low' ? 'low' : 'high';
  for (const [at, text] of [...texts, ...descriptions].entries()) {
    const found = new Set(clausesOf(text).flatMap((clause) => sidesOf(clause, words)));
    // Descriptions also say when an alert will be over.
    if (at < texts.length && found.has('ended')) return 'opposite';
    if (found.has(wanted) || (bad !== 'high' && found.has('fault'))) return 'same';
    if (found.has('ended') || found.has('over') || found.has('high') || found.has('low')) return 'opposite';
  }
  return bad === 'present' ? 'same' : 'unsaid';
}

/** Whether a word says which side of a measure is meant, or that it is over. */
export const sideWord = (word: string): boolean =>
  [HIGH, LOW, ENDED, OVER].some((pattern) => pattern.test(word));
export const faultWord = (word: string): boolean => FAULT.test(word);

type Side = 'high' | 'low' | 'over' | 'ended' | 'fault';
interface Vocabulary {
  readonly opposite: ReadonlySet<string>;
  readonly inverse: ReadonlySet<string>;
  readonly spare: boolean;
}

function sidesOf(clause: readonly string[], words: Vocabulary): readonly Side[] {
  const turned = clause.some((word) => words.inverse.has(word) || (words.spare && INVERSE.test(word)));
  const isLow = clause.some((token) => LOW.test(token));
  return clause.flatMap((token, at): Side[] => {
    if (isLow && GROWTH.test(token)) return [];
    const side = sideOf(token, words.opposite);
    const before = clause.slice(Math.max(0, at - REACH), at);
    if (side === null || (side === 'over' && before.some((word) => COMPARES.test(word)))) return [];
    const denied =
      before.some((word) => NEGATION.test(word) || (side === 'fault' && NOTHING.test(word))) ||
      (side === 'fault' && clause[0] === '0') ||
      (clause.includes('nomore') && side !== 'low');
    if (side === 'over' && !denied && at > 0 && at === clause.length - 1) return ['ended'];
    return [other(side, side === 'high' || side === 'low' ? denied !== turned : denied)];
  });
}

function sideOf(token: string, opposite: ReadonlySet<string>): Side | null {
  if (ENDED.test(token)) return 'ended';
  if (opposite.has(token) || OVER.test(token)) return 'over';
  if (FAULT.test(token)) return 'fault';
  if (HIGH.test(token)) return 'high';
  return LOW.test(token) ? 'low' : null;
}

/** "Not recovered" and "not running" are faults; "not failing" is none. */
function other(side: Side, turn: boolean): Side {
  if (!turn) return side;
  return side === 'high' ? 'low' : side === 'low' ? 'high' : side === 'fault' ? 'over' : 'fault';
}

/** Words in their clauses: what is said in one says nothing of the next. */
function clausesOf(text: string): readonly (readonly string[])[] {
  return (
    text
      .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
      .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
      .toLowerCase()
      .replace(/\b(?:no|any) ?(?:longer|more)\b/g, 'nomore')
      .replace(/\bnot enough\b/g, 'few')
      .replace(/\bno such\b/g, 'failed')
      // Of what is to run it is its death, of memory the side that is meant.
      .replace(/\bout of memory\b/g, ' exhausted died ')
      .replace(/\b(?:is|are|back|came|comes|now) up\b|\bback online\b/g, 'recovered')
      .replace(
        /\bback (?:to|in|within|below|under)\b|\bin sync\b|\bcaught up\b|\bcatching up\b/g,
        'recovered',
      )
      .replace(
        /\bno ?data\b|\bmetrics? (?:is |are )?(?:missing|absent|stale)\b|\babsent\(|\bgr(?:owth|owing)(?: has)? (?:stopped|ceased)\b/g,
        'recovered',
      )
      .replace(/\bused up\b|\brun(?:ning|s)? out\b|\bout of\b/g, ' exhausted ')
      .replace(/\bat most\b|\bat least\b/g, ' ')
      .split(/[.;:,!?()]+(?=\s|$)|\s+[–—-]\s+|\b(?:but|while|and)\b/)
      .map((clause) => clause.split(/[^a-z0-9]+/).filter((token) => token !== ''))
  );
}
