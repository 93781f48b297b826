import { type Action, stepsOf } from '../../core/action.ts';
import { clipLine } from '../../core/clip.ts';
import { describePlan } from '../../core/describe-act.ts';
import type { Diagnosis } from '../../core/diagnosis.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { isModels, isWhyInModelsWords, label } from '../../core/model-words.ts';
import { ended, SENTENCE } from './answer-lines.ts';

/** A question that somebody has who is to decide, with what the record says to it. */
export interface Asked {
  readonly title: string;
  readonly lines: readonly string[];
}

const MOST = 6;

/** Why a plan is asked for: its reason, what shows it, what else was weighed and why not, and what would make it wrong. */
export function whyThis(record: IncidentRecord, action: Action): readonly Asked[] {
  const concluded = record.events.findLast(
    (event) => event.type === 'diagnosis.concluded' && event.at <= action.proposedAt,
  );
  const diagnosis = concluded?.type === 'diagnosis.concluded' ? concluded.diagnosis : null;
  const named = (title: string): string =>
    label(title, diagnosis !== null && isModels(diagnosis, record.events)).replace(/: $/, '');
  const parts: readonly Asked[] = [
    { title: whyTitle(record, action), lines: reasons(record, action, diagnosis) },
    { title: named('What shows it'), lines: (diagnosis?.evidence ?? []).map(({ claim }) => claim) },
    {
      title: 'What else was considered, and why not',
      lines: [
        ...(diagnosis?.ruledOut ?? []).map((cause) => `Another cause, ruled out: ${cause}`),
        ...others(record, action),
      ],
    },
    { title: named('It is wrong if'), lines: doubts(diagnosis) },
  ];
  return parts.map(({ title, lines }) => ({
    title,
    lines:
      lines.length === 0
        ? ['Nothing of that is on record.']
        : lines.slice(0, MOST).map((line) => ended(clipLine(line, SENTENCE))),
  }));
}

const whyTitle = (record: IncidentRecord, action: Action): string =>
  label('Why this', isWhyInModelsWords(action, record.events)).replace(/: $/, '');

function reasons(record: IncidentRecord, action: Action, diagnosis: Diagnosis | null): readonly string[] {
  const steps = stepsOf(record.actions, action);
  return [
    ...(diagnosis ? [`The cause: ${diagnosis.rootCause}`] : []),
    ...steps.map(({ why, step }) => (steps.length > 1 ? `Step ${step}: ${why}` : why)),
    ...(action.runbookId ? [`The runbook ${action.runbookId} says to do this`] : []),
  ];
}

/** What was asked for before, and what the gate would not have. */
function others(record: IncidentRecord, action: Action): readonly string[] {
  const plans = record.actions
    .filter((each) => each.step === 1 && each.id !== action.id && each.proposedAt <= action.proposedAt)
    .flatMap((each) => {
      const became = becameOf(each);
      return became === null ? [] : [`${describePlan(stepsOf(record.actions, each))}: ${became}`];
    });
  const refused = record.toolCalls
    .filter(
      ({ role, state, startedAt }) =>
        role === 'surgeon' && state === 'refused' && startedAt <= action.proposedAt,
    )
    .map(({ output }) => `Refused: ${output}`);
  return [...new Set([...plans, ...refused])];
}

function becameOf({ state, decisionReason, outcome }: Action): string | null {
  const because = decisionReason ? `: “${decisionReason}”` : '';
  switch (state) {
    case 'denied':
      return `somebody said no${because}`;
    case 'expired':
      return 'nobody decided in time';
    case 'void':
      return `called off: ${outcome ?? 'the state had changed'}`;
    case 'failed':
      return `it was tried and failed: ${outcome ?? 'nothing more is known'}`;
    case 'succeeded':
      return 'it was done already, and the problem is still there or came back';
    case 'unknown':
      return 'it is unknown whether it ran';
    case 'proposed':
    case 'queued':
    case 'approved':
    case 'started':
    case 'skipped':
      return null;
  }
}

function doubts(diagnosis: Diagnosis | null): readonly string[] {
  if (diagnosis === null) return [];
  const { wouldChangeMyMind, unexplained, confidence } = diagnosis;
  return [
    ...(wouldChangeMyMind ? [wouldChangeMyMind] : []),
    ...(unexplained === undefined ? [] : [`Not known is ${unexplained}`]),
    `I am ${Math.round(confidence * 100)} % sure of the cause; it is looked at once more right before anything runs`,
  ];
}
