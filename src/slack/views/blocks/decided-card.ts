import { type Action, isLastingFix, MAX_STEPS, restOf, undoOf } from '../../../core/action.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { runningStep, tellingStep } from '../../../core/plan-progress.ts';
import { undoneOf } from '../../../core/undone.ts';
import { checkedOf, formatChecked } from '../../../incidents/questions/format-lasting-fix.ts';
import { bold, button, buttons, moment, paragraph, person, prose, type Span, words } from './build.ts';
import { changeOfMind, objections, reachLine } from './denials.ts';
import { drawMarks, endedTitle, undoReach } from './plan-steps.ts';
import { ACTIONS, type DrawOptions, type Slot } from './slot.ts';
import { cut, escape, oneLine } from './text.ts';

/** A line or two of what became of it, and what can still be done; what it was and what it said is in its details. */
export function drawEnded(
  record: IncidentRecord,
  steps: readonly Action[],
  action: Action,
  options: DrawOptions,
): Pick<Slot, 'text' | 'blocks'> {
  const checked = checkedOf(record, action);
  const told = `${action.undoes === null ? '' : 'Undo · '}${endedTitle(steps, checked)}`;
  const title = steps.length > 1 ? told : cut(told, TITLE);
  const marks =
    steps.length > 1 && steps.some(({ state }) => state !== 'succeeded')
      ? cut(drawMarks(steps), steps.length > MAX_STEPS ? 85 : 160)
      : '';
  const became = outcomeOf(record, steps, action);
  const room = Math.max(LEAST_SAID, SEEN - title.length - marks.length);
  const ended: readonly (readonly Span[])[] = [
    [bold(title), ...decision(record, action)],
    ...(became === null ? [] : [[words(cut(became, room))]]),
    ...(marks === '' ? [] : [[words(marks)]]),
    ...(checked ? [[words(cut(oneLine(formatChecked(checked)), 200))]] : []),
    ...reachLine(record, action),
    ...undoneLine(record, steps),
  ];
  return {
    text: escape(oneLine(`${record.incident.id}: ${title}${became === null ? '' : `. ${became}`}`)),
    blocks: [
      prose(...ended.map((spans) => paragraph(...spans))),
      ...objections(record, steps, options),
      buttons(
        ...afterwards(record, steps, action, options),
        ...rest(record, steps, action, options),
        ...changeOfMind(record, action, options, planOf(action)),
        details(action),
      ),
    ],
  };
}

/** Why it did not work, or whether it helped, in a sentence; null: nothing is to be said yet, or the closing says it. */
function outcomeOf(record: IncidentRecord, steps: readonly Action[], action: Action): string | null {
  const telling = tellingStep(steps) ?? action;
  if (telling.state !== 'succeeded') {
    const said = ['failed', 'void', 'unknown', 'expired'].includes(telling.state)
      ? (lastWord(record, telling) ?? telling.outcome)
      : null;
    return said ? cut(oneLine(said), SAID) : null;
  }
  const isRepair = action.undoes === null && !action.beside && !isLastingFix(action);
  return isRepair && runningStep(steps) === undefined ? helped(record, steps) : null;
}

/** Of a sentence that says what came of it. */
const SAID = 160;
/** What is seen of a decided card, but for who decided it and its buttons; and the least of what came of it. */
const SEEN = 150;
const LEAST_SAID = 45;
/** The longest names are cut, not what is said of them. */
const TITLE = 88;

/** What was unknown may have been settled since. */
function lastWord({ events }: IncidentRecord, { id }: Action): string | undefined {
  const last = events.findLast(
    (event) => (event.type === 'action.finished' || event.type === 'action.void') && event.actionId === id,
  );
  if (last?.type === 'action.finished') return last.text;
  return last?.type === 'action.void' ? last.reason : undefined;
}

/** Whether what ran has helped, as the live system was seen after it. */
function helped({ incident, events }: IncidentRecord, steps: readonly Action[]): string | null {
  const ran = events.findLast(
    (event) => event.type === 'action.finished' && steps.some(({ id }) => id === event.actionId),
  );
  if (ran === undefined) return null;
  const since = events.filter(({ seq }) => seq > ran.seq);
  const end = since.findIndex((event) => event.type === 'state.changed' && event.from === 'verifying');
  const seen = end < 0 ? since : since.slice(0, end);
  const verified = seen.findLast((event) => event.type === 'verification.concluded');
  if (verified?.type === 'verification.concluded') {
    if (verified.verdict === 'not_fixed')
      return `✗ It ran, and the problem is still there: ${cut(oneLine(verified.reason), SAID)}`;
    return verified.verdict === 'cannot_tell'
      ? `❔ It ran; whether it helped cannot be told: ${cut(oneLine(verified.reason), SAID)}`
      : null;
  }
  const check = seen.findLast((event) => event.type === 'verification.checked');
  if (end >= 0 || incident.state !== 'verifying')
    return check?.type === 'verification.checked' && check.holds !== true
      ? `It ran; when I stopped looking it was not yet as it should be: ${cut(oneLine(check.lines[0] ?? '…'), 120)}`
      : null;
  if (check?.type !== 'verification.checked') return 'Checking on the live system that it is really gone …';
  const holds =
    check.holds === null
      ? 'it could not be read'
      : check.holds
        ? 'it holds so far'
        : 'not yet as it should be';
  return `Checking on the live system, ${holds}: ${cut(oneLine(check.lines[0] ?? '…'), 120)}`;
}

/** `, approved by @olivia, 10:13`. */
function decision({ events }: IncidentRecord, action: Action): readonly Span[] {
  const edit = events.findLast((event) => event.type === 'action.edited' && event.actionId === action.id);
  if (edit?.type === 'action.edited')
    return [words('. Changed by '), person(edit.by), words(', '), moment(edit.at)];
  if (!action.decidedBy) return [];
  const { state, decidedAt, decisionReason } = action;
  const at = decidedAt ? [words(', '), moment(decidedAt)] : [];
  const why = decisionReason ? [words(`: “${cut(oneLine(decisionReason), 120)}”`)] : [];
  return state === 'denied'
    ? [words('. '), ...deciders(action), words(' said no'), ...at, ...why]
    : [words(', approved by '), ...deciders(action), ...at, ...why];
}

/** What a person may still do when it is over: take it back, or say whether it ran. */
function afterwards(record: IncidentRecord, steps: readonly Action[], action: Action, options: DrawOptions) {
  const unknown = steps.find(({ state }) => state === 'unknown');
  if (unknown && options.maySettle) {
    const which = steps.length > 1 ? `Step ${unknown.step}` : 'It';
    return [
      settling(`${which} ran`, ACTIONS.ran, unknown, 'took effect'),
      settling(`${which} did not run`, ACTIONS.didNotRun, unknown, 'took no effect'),
    ];
  }
  const undoable = steps.filter((step) => step.state === 'succeeded' && options.mayUndo?.(step));
  if (undoable.length === 0 || steps.some((step) => undoOf(record.actions, step))) return [];
  // What has not run is not undone.
  const ran = steps.filter(({ state }) => state === 'succeeded');
  return [
    button({
      text: 'Undo',
      action: ACTIONS.undo,
      value: planOf(action),
      confirm: {
        title: 'Take this back?',
        text: `${steps.length === 1 ? 'What this card shows is taken back' : `It ${undoReach(ran, options)}`}, on ${oneLine(action.target)}, once, now or when everybody who has to has approved it, if it still is exactly what was written.${reopens(record, action)}${undoable.length === 1 ? ` ${cut(oneLine(undoable[0]?.undo ?? ''), 120)}` : ''}`,
        yes: 'Undo it',
      },
    }),
  ];
}

/** Asks for what the plan has left undone, while people are what the incident waits for. */
function rest(record: IncidentRecord, steps: readonly Action[], action: Action, options: DrawOptions) {
  const { state } = record.incident;
  if (options.mayChangeMind !== true || (state !== 'reported' && state !== 'escalated')) return [];
  return !action.beside && restOf(record.actions, steps).length > 0
    ? [button({ text: 'Run the rest', action: ACTIONS.rest, value: planOf(action) })]
    : [];
}

const settling = (text: string, name: string, action: Action, effect: string) =>
  button({
    text,
    action: name,
    value: planOf(action),
    confirm: {
      title: 'Have you looked?',
      text: `You say that it ${effect} on ${oneLine(action.target)}. It is not run again, and the target is free for other actions.`,
      yes: text,
    },
  });

/** Whoever takes back what made the incident green should know that it may not stay so. */
const reopens = ({ incident }: IncidentRecord, { purpose }: Action): string =>
  purpose === 'repair' && incident.state === 'resolved' && incident.resolvedBy === 'confirmed'
    ? ` ${incident.id} is fixed by it: the problem may come back, and ${incident.id} is opened again.`
    : '';

/** That it does not stand any more, or may not, and by whom. */
export function undoneLine(
  { actions }: Pick<IncidentRecord, 'actions'>,
  steps: readonly Action[],
): readonly (readonly Span[])[] {
  const undone = undoneOf(actions, steps);
  if (undone === null) return [];
  const { says, by, at } = undone;
  return [
    [
      bold(`${says} `),
      by === null ? words('a person') : person(by),
      ...(at === null ? [] : [words(', '), moment(at)]),
    ],
  ];
}

export const people = (ids: readonly string[]): readonly Span[] =>
  ids.flatMap((id, index) => (index === 0 ? [person(id)] : [words(', '), person(id)]));

function deciders({ state, decidedBy, approvedBy }: Action): readonly Span[] {
  if (decidedBy === 'policy') return [words('the policy')];
  if (state === 'denied' || approvedBy.length === 0) return decidedBy ? [person(decidedBy)] : [];
  return people(approvedBy);
}

/** What a click says is the action and the plan seen, nothing else; who clicked comes from Slack. */
export const planOf = (action: Action): string => `${action.id}:${action.planHash}`;

export const details = (action: Action) =>
  button({ text: 'Details', action: ACTIONS.evidence, value: action.id });
