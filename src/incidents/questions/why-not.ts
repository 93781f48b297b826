import { type Action, stepsOf } from '../../core/action.ts';
import { clipLine } from '../../core/clip.ts';
import { describeAct } from '../../core/describe-act.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { whyOf } from './answer-actions.ts';
import { approvalOf, denialOf } from './answer-decisions.ts';
import { type Around, commandsOf, ended, type Line, newestFirst, SENTENCE } from './answer-lines.ts';
import { auxiliary, isOwn, sentence, wordsOf } from './sentence.ts';
import { subjectOf } from './subjects.ts';

interface WhyNot {
  readonly outcome: 'answered' | 'not_on_record';
  readonly lines: readonly Line[];
}

/**
 * Why something was not done, from what was decided, refused and planned. Null: the record holds no reason, and somebody else
 * can be asked.
 *
 * @param asked words for what was not done; none for whatever it was
 */
export function whyNot(record: IncidentRecord, asked: readonly string[], around: Around): WhyNot | null {
  const speaksOf = (text: string): boolean => {
    const own = new Set(wordsOf(text).flatMap((word) => [word, ...word.split(/[_.-]+/)]));
    return asked.length === 0 || asked.some((word) => isOwn(word, own));
  };
  const isMeant = (action: Action): boolean =>
    speaksOf(`${action.tool} ${action.command} ${describeAct(action)}`);
  const meant = newestFirst(record).find((first) => stepsOf(record.actions, first).some(isMeant));
  if (meant !== undefined)
    return {
      outcome: 'answered',
      lines: decided({ ...record, actions: stepsOf(record.actions, meant) }, meant, around),
    };
  const refused = record.toolCalls.findLast(
    ({ role, state, tool, input }) =>
      role === 'surgeon' && state === 'refused' && speaksOf(`${tool} ${JSON.stringify(input)}`),
  );
  if (refused !== undefined)
    return {
      outcome: 'answered',
      lines: [[`It was refused: ${ended(clipLine(refused.output, SENTENCE))}`], ...insteadOf(record)],
    };
  if (around.elsewhere) return null;
  const what = asked.length === 0 ? 'Nothing' : `Nothing like “${clipLine(asked.join(' '), 60)}”`;
  return {
    outcome: 'not_on_record',
    lines: [
      [`${what} was proposed or refused here, so no reason against it is on record.`],
      ...insteadOf(record),
    ],
  };
}

/** What became of it, as it was decided. */
function decided(record: IncidentRecord, action: Action, around: Around): readonly Line[] {
  if (['denied', 'expired', 'void'].includes(action.state)) return denialOf(record);
  if (action.startedAt === null) return [...approvalOf(record, around), whyOf(record, action)];
  return [
    ['It was done: ', ...commandsOf(record, action), ', at ', { at: action.startedAt }, '.'],
    whyOf(record, action),
  ];
}

/** What the record has in its place: the plan and its reason, or why there is none and what would help. */
function insteadOf(record: IncidentRecord): readonly Line[] {
  const [action] = newestFirst(record);
  if (action !== undefined)
    return [['Proposed was: ', ...commandsOf(record, action), '.'], whyOf(record, action)];
  const none = record.events.findLast((event) => event.type === 'plan.none');
  if (none) return [[`No action is proposed: ${ended(clipLine(none.reason, SENTENCE))}`]];
  const last = record.events.findLast((event) => event.type === 'diagnosis.concluded');
  const remedy = last?.diagnosis.remedy ?? null;
  return [
    [
      remedy === null
        ? 'No action has been planned.'
        : `What would help: ${ended(clipLine(remedy, SENTENCE))}`,
    ],
  ];
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
