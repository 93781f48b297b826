import { type Action, stepsOf, undoOf } from '../../core/action.ts';
import { clipLine } from '../../core/clip.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { undoneOf as undoneOfPlan } from '../../core/undone.ts';
import { type Around, commandsOf, ended, type Line, newestFirst, people, SENTENCE } from './answer-lines.ts';

/** What was taken back, at whose word, and what became of it; the newest first. */
export function undoneOf(record: IncidentRecord): readonly Line[] {
  const undos = undosOf(record);
  const told = new Set<string>();
  const lines = undos.flatMap((undo) => {
    const steps = undoneBy(record, undo);
    const whole = ofPlan(record, steps);
    const plan = steps[0]?.planId;
    if (whole === null || plan === undefined) return [becameOf(record, undo)];
    if (told.has(plan)) return [];
    told.add(plan);
    return [whole];
  });
  if (lines.length > 0) return lines;
  return [[ranOf(record).length > 0 ? 'Nothing was taken back.' : 'Nothing ran, so nothing was taken back.']];
}

/** All steps of the plan that it takes back, or a part of. */
function undoneBy({ actions }: IncidentRecord, undo: Action): readonly Action[] {
  const of = actions.find(({ id }) => id === undo.undoes);
  return of ? stepsOf(actions, of) : [];
}

/** How a plan of several steps stands, whose steps were taken back one by one; null: it is none, or nothing became of it. */
function ofPlan(record: IncidentRecord, steps: readonly Action[]): Line | null {
  const [first] = steps;
  const undone = steps.length > 1 ? undoneOfPlan(record.actions, steps) : null;
  if (first === undefined || undone === null) return null;
  const { says, by, at } = undone;
  return [
    `${says} `,
    ...(by === null ? ['a person'] : people([by])),
    ...(at === null ? [] : [' at ', { at }]),
    ': ',
    ...commandsOf(record, first),
    '.',
  ];
}

function becameOf(record: IncidentRecord, undo: Action): Line {
  const by = undo.requestedBy ?? undo.decidedBy;
  const who: Line = by === null ? [] : [' by ', ...people([by])];
  const what: Line = [': ', ...commandsOf(record, undo), '.'];
  switch (undo.state) {
    case 'succeeded':
      return ['Taken back', ...who, ' at ', { at: undo.startedAt ?? undo.proposedAt }, ...what];
    case 'failed':
    case 'unknown':
      return [
        `It was to be taken back and ${undo.state === 'failed' ? 'that failed' : 'nobody knows whether it was'}: `,
        ended(clipLine(undo.outcome ?? 'nothing more is known', SENTENCE)),
      ];
    case 'denied':
    case 'expired':
    case 'void':
    case 'skipped':
      return ['It was asked to be taken back', ...who, ', and was not', ...what];
    case 'proposed':
    case 'queued':
    case 'approved':
    case 'started':
      return ['It is being taken back', ...who, ': ', ...commandsOf(record, undo), '.'];
  }
}

/** What of it can be taken back now, by whom and how; the newest first. */
export function undoableOf(record: IncidentRecord, around: Around): readonly Line[] {
  const ran = ranOf(record);
  if (ran.length === 0) return [['Nothing ran, so there is nothing to take back.']];
  return ran.map((first) => {
    const steps = stepsOf(record.actions, first);
    const undo = steps.flatMap((step) => undoOf(record.actions, step) ?? [])[0];
    if (undo) return ofPlan(record, steps) ?? becameOf(record, undo);
    const can = steps.filter((step) => step.state === 'succeeded' && around.mayUndo(step));
    const what = commandsOf(record, first);
    if (can.length === 0) return ['I have no way to take this back: ', ...what, ` (${undoWords(first)}).`];
    const part = can.length < steps.length ? ` (${can.map(({ step }) => `step ${step}`).join(', ')})` : '';
    return [
      'Yes, with “Undo” on its card, by whoever may approve it: ',
      ...what,
      `${part} (${undoWords(can.at(-1) ?? first)}).`,
    ];
  });
}

const undoWords = ({ undo }: Action): string => clipLine(undo, SENTENCE).replace(/[.\s]+$/, '');

const ranOf = (record: IncidentRecord): readonly Action[] =>
  newestFirst(record).filter(({ startedAt, undoes }) => startedAt !== null && undoes === null);

export const undosOf = (record: IncidentRecord): readonly Action[] =>
  newestFirst(record).filter(({ undoes }) => undoes !== null);
