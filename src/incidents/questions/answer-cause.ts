import { clipLine } from '../../core/clip.ts';
import { describeVerdict } from '../../core/diagnosis.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { CLAUDES_WORDS, isModels } from '../../core/model-words.ts';
import { ended, type Line, lower, SENTENCE } from './answer-lines.ts';
import { formatState } from './format-state.ts';
import { plain } from './plain-question.ts';
import { isOwn, NEGATED, sentence, wordsOf } from './sentence.ts';
import { wordSubject } from './subjects.ts';

const said = `${CLAUDES_WORDS}: `;

export function causeOf({ events, incident }: IncidentRecord): Line {
  const last = events.findLast((event) => event.type === 'diagnosis.concluded');
  if (!last) return [`No cause is known yet: ${lower(formatState(incident.state))}.`];
  const { verdict, rootCause, unexplained, confidence, disagreement } = last.diagnosis;
  const whose = isModels(last.diagnosis, events) && disagreement === undefined ? said : '';
  const seenAt: Line = [' As of ', { at: last.at }, '.'];
  if (verdict === 'cause_found' && unexplained !== undefined)
    return [
      `${whose}${ended(clipLine(rootCause, SENTENCE))} Not known is ${ended(clipLine(unexplained, SENTENCE))}`,
      ...seenAt,
    ];
  if (verdict === 'cause_found')
    return [
      `${whose}${ended(clipLine(rootCause, SENTENCE))} (${Math.round(confidence * 100)} % sure)`,
      ...seenAt,
    ];
  return [`${whose}${describeVerdict(last.diagnosis)}: ${ended(clipLine(rootCause, SENTENCE))}`, ...seenAt];
}

export function evidenceOf(record: IncidentRecord): readonly Line[] {
  const last = record.events.findLast((event) => event.type === 'diagnosis.concluded');
  const claims = last?.diagnosis.evidence ?? [];
  if (claims.length === 0) return [['There is no evidence on record yet.']];
  return claims.map(({ claim }) => [`• ${ended(clipLine(claim, SENTENCE))}`]);
}

/** What was weighed and is not the cause; null: nothing, or nothing that these words name. */
export function ruledOutOf({ events }: IncidentRecord, named: readonly string[]): Line | null {
  const last = events.findLast((event) => event.type === 'diagnosis.concluded');
  const causes = (last?.diagnosis.ruledOut ?? []).filter((each) => {
    const words = new Set(wordsOf(each));
    return named.every((word) => isOwn(word, words));
  });
  if (!last || causes.length === 0) return null;
  const told = causes.slice(0, 5).map((each) => clipLine(each, SENTENCE / 3));
  return [`Ruled out: ${ended(told.join('; '))}`, ' As of ', { at: last.at }, '.'];
}

/** What else was weighed: what is ruled out, and what still may be. */
export function consideredOf(record: IncidentRecord): readonly Line[] {
  const out = ruledOutOf(record, []);
  const last = record.events.findLast((event) => event.type === 'diagnosis.concluded');
  const open = (last?.diagnosis.hypotheses ?? []).filter(
    ({ cause, end }) => end === 'open' && cause !== last?.diagnosis.rootCause,
  );
  const causes = open.slice(0, 3).map(({ cause }) => clipLine(cause, SENTENCE / 3));
  const left: readonly Line[] = open.length === 0 ? [] : [[`Not ruled out: ${ended(causes.join('; '))}`]];
  return out === null && left.length === 0
    ? [['Nothing has been ruled out on record.']]
    : [...(out === null ? [] : [out]), ...left];
}

/** What would show that the diagnosis is wrong. */
export function doubtOf(record: IncidentRecord): readonly Line[] {
  const last = record.events.findLast((event) => event.type === 'diagnosis.concluded');
  if (!last) return [causeOf(record)];
  const { wouldChangeMyMind, confidence } = last.diagnosis;
  return [
    [
      wouldChangeMyMind
        ? `Wrong if: ${ended(clipLine(wouldChangeMyMind, SENTENCE))}`
        : 'What would show it to be wrong was not said.',
      ` I am ${Math.round(confidence * 100)} % sure.`,
    ],
  ];
}

/** By which runbook it was looked into. */
export function runbookOf(record: IncidentRecord): Line {
  const id = runbookIdOf(record);
  return id === null ? ['No runbook was followed.'] : [`I followed the runbook ${id}.`];
}

export const runbookIdOf = ({ events, actions }: IncidentRecord): string | null =>
  events.findLast((event) => event.type === 'diagnosis.concluded')?.diagnosis.runbookId ??
  actions.find(({ runbookId }) => runbookId !== null)?.runbookId ??
  null;

/** Whom or what the problem affects, as far as it was looked at. */
export function impactOf({ events, incident }: IncidentRecord): readonly Line[] {
  const last = events.findLast((event) => event.type === 'diagnosis.concluded');
  const radius = last?.diagnosis.blastRadius;
  if (!last || !radius) return [[`What it affects beyond ${incident.target ?? 'itself'} is not known yet.`]];
  return [[`It affects: ${ended(clipLine(radius, SENTENCE))}`, ' As of ', { at: last.at }, '.']];
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
