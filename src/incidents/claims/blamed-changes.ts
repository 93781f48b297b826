import { describeChange, describeWhen } from '../../core/describe-changes.ts';
import type { Diagnosis } from '../../core/diagnosis.ts';
import type { Incident } from '../../core/incident.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import type { JudgedChange, RelatedChange } from '../../core/what-changed.ts';
import { marksOf, marksOfCommit, namesMark, showsMark } from './change-marks.ts';
import { answersIn, changesOf, isAnswer } from './judged-changes.ts';

interface BehindBlame {
  readonly incident: Incident;
  readonly read: readonly ToolCall[];
  /** The calls behind the claims that stand. */
  readonly cited: readonly ToolCall[];
  readonly judged: readonly JudgedChange[];
}

/** Words that speak of a change as an act, not of what runs since. A *deployment* alone is a thing of a cluster. */
const ACTS: readonly RegExp[] = [
  /\b(?:re-?)?deploy(?:s|ed|ing)?\b|\b(?:recent|last|latest|new|this|previous) deployment\b|\bdeployment of\b/i,
  /\broll(?:ed|s|ing)?[ -]?(?:out|back)s?\b/i,
  /\b(?:new|recent|last|latest|this) release\b|\brelease of\b|\breleased (?:at|by)\b/i,
  /\bupgrad(?:e[sd]?|ing)\b/i,
  /\bmigrations?\b/i,
  /\b(?:was|were|been) changed\b|\bchange (?:of|to|in|by|at)\b|\b(?:config(?:uration)?|settings?|recent|last) changes?\b/i,
  /\bcommits?\b/i,
  /\b(?:shipped|bumped|(?:the|a|last|recent) (?:bump|push)|pushed (?:by|at)|merged|pull request|went to)\b|\bPR \d/i,
];

/** What is said to have done it. */
const DID: RegExp =
  /\b(?:makes?|made|caus(?:es|ed)|br(?:eaks?|oke|oken)|introduc(?:es|ed)|brought|le(?:ads|d) to|result(?:s|ed) in|regress\w*)\b/i;

/** “since 1.4.2”, “due to shop-api v1.4.2”; a time behind such a word is no change. */
const BEFORE_IT = String.raw`\b(?:since|after|as of|due to|because of|from|with)\s+(?:the\s+)?(?:\p{L}[\p{L}\p{N}_./-]*\s+)?(?:version\s+)?v?`;

/** Who says this leaves it open. */
const HEDGED =
  /\b(?:may|might|either\b.*\bor|whether|possibl[ey]|perhaps|suspects?|suspected|unclear|not (?:known|shown|clear|proven))\b/i;

/**
 * What of a model's cause blames a change that the record does not bear out, each as a sentence: one that came after, one
 * that is a suspect only, one that nobody knows of, or one commit of several that nothing singles out.
 */
export function blameProblems(
  { verdict, rootCause }: Pick<Diagnosis, 'verdict' | 'rootCause'>,
  { incident, read, cited, judged }: BehindBlame,
): readonly string[] {
  const answers = answersIn(read);
  if (verdict !== 'cause_found' || answers.length === 0) return [];
  const known = answers.flatMap(changesOf);
  const causes = judged.filter(({ part }) => part === 'cause').map(({ title }) => title);
  const isCause = (change: RelatedChange): boolean => causes.includes(describeChange(change));
  const evidence = cited.filter((call) => !isAnswer(call));
  return rootCause.split(/(?<=[.;!?])\s+/).flatMap((sentence) => {
    const isShown = (word: string): boolean => evidence.some(({ output }) => namesMark(output, word));
    const named = known.filter(
      (change) => isNamed(sentence, change, incident) || isToldOf(sentence, change, isShown),
    );
    const acts = ACTS.filter((act) => act.test(sentence));
    const isBlamed = named.some((change) => isSaidToDoIt(sentence, change, incident, isShown));
    if (acts.length === 0 && !isBlamed) return [];
    const areLate = named.length > 0 && named.every(({ when }) => when === 'after');
    if (!areLate && isHedged(sentence, named, incident)) return [];
    const blamed = named.find(isCause);
    if (blamed !== undefined) return commitProblem(sentence, blamed, evidence);
    const [late] = named;
    if (late !== undefined && areLate)
      return [`“${describeChange(late)}” was changed ${describeWhen(late)}.`];
    // What a read itself says was rolled out, changed or migrated may be said.
    if (acts.some((act) => evidence.some(({ output }) => act.test(output)))) return [];
    const suspect = named.find(({ when }) => when !== 'after');
    if (suspect !== undefined)
      return [`It blames “${describeChange(suspect)}”: that is a suspect, and what it cites shows no more.`];
    return causes.length > 0
      ? []
      : ['It blames a change, and nothing that it cites shows which one, or that it did it.'];
  });
}

/** By who made it, or the number of its pull request, which no read of the system shows. */
function isToldOf(sentence: string, { by, url }: RelatedChange, isShown: (word: string) => boolean): boolean {
  const request = /\/(\d{2,})\/?$/.exec(url ?? '')?.[1];
  return [by, request].some(
    (word) => word !== null && word !== undefined && namesMark(sentence, word) && !isShown(word),
  );
}

/** “shop-api 1.4.2 makes sessions wait”, “olivia broke it”: no act is named, and yet it is blamed. What a read shows runs. */
function isSaidToDoIt(
  sentence: string,
  change: RelatedChange,
  incident: Incident,
  isShown: (word: string) => boolean,
): boolean {
  const { put } = marksOf(change, incident);
  const named = put.filter((mark) => namesMark(sentence, mark) && !isShown(mark));
  return DID.test(sentence)
    ? named.length > 0 || isToldOf(sentence, change, isShown)
    : named.some((mark) =>
        new RegExp(`${BEFORE_IT}${mark.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`, 'iu').test(sentence),
      );
}

/** In the clause that blames: what follows from it may be put carefully. */
function isHedged(sentence: string, named: readonly RelatedChange[], incident: Incident): boolean {
  const clauses = sentence.split(/,?\s+(?:so|because|which|while|and so)\s+/i);
  return clauses.some(
    (clause) =>
      HEDGED.test(clause) &&
      (ACTS.some((act) => act.test(clause)) || named.some((change) => isNamed(clause, change, incident))),
  );
}

/** By its version where it has one: its service may have been changed more than once. */
function isNamed(sentence: string, change: RelatedChange, incident: Incident): boolean {
  const { made, names } = marksOf(change, incident);
  const marks = made.length > 0 ? made : names;
  return marks.some((mark) => namesMark(sentence, mark));
}

/** A deploy is tied to a commit by the object that is wrong, never by which came last. */
function commitProblem(
  sentence: string,
  { commits, to }: RelatedChange,
  evidence: readonly ToolCall[],
): readonly string[] {
  if (commits.length === 1 && commits[0]?.title !== null) return [];
  // Of a deploy whose commits nobody has told, its revision is the last of them.
  const last = { sha: to, title: null, by: null, files: [] };
  const marks =
    commits.length > 0
      ? commits.map(marksOfCommit)
      : /\bcommits?\b/i.test(sentence)
        ? [marksOfCommit(last)]
        : [];
  const own = marks.map((each) =>
    each.filter((mark) => marks.every((other) => other === each || !other.includes(mark))),
  );
  const singled = own.filter((each) => each.some((mark) => namesMark(sentence, mark)));
  return singled.length === 0 || singled.flat().some((mark) => evidence.some((call) => showsMark(call, mark)))
    ? []
    : ['Nothing that it cites shows which commit of that change it was: name the change alone.'];
}
