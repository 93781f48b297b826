import { type Action, isLastingFix } from '../../../core/action.ts';
import { count } from '../../../core/count.ts';
import type { Denial } from '../../../core/denial.ts';
import { describePlan } from '../../../core/describe-act.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { type Block, bold, button, moment, paragraph, person, prose, type Span, words } from './build.ts';
import { LIMITS } from './limits.ts';
import { ACTIONS, type DrawOptions } from './slot.ts';
import { cut, oneLine } from './text.ts';

/** What people have said No to and this plan touches, as it stood when it was proposed. */
export function acknowledgedBy({ denials }: IncidentRecord, steps: readonly Action[]): readonly Denial[] {
  return denials.filter(({ id }) => steps.some((step) => step.denialsAcknowledged.includes(id)));
}

/** A line for each No on a card: who, when and why; no more than that there is one where its reader may not know. */
export function denialLines(
  record: IncidentRecord,
  steps: readonly Action[],
  options: DrawOptions,
): readonly (readonly Span[])[] {
  const [action] = steps;
  if (action === undefined) return [];
  return acknowledgedBy(record, steps).map((denial) => [
    ...saidNo(record, denial, action, steps.length === 1, options),
    ...(denial.takenBackBy ? [words(' Taken back since by '), person(denial.takenBackBy), words('.')] : []),
  ]);
}

/** Whoever decides has to know that somebody has said no to it. */
export function objections(
  record: IncidentRecord,
  steps: readonly Action[],
  options: DrawOptions,
): readonly Block[] {
  const lines = denialLines(record, steps, options);
  return lines.length === 0 ? [] : [prose(...lines.map((spans) => paragraph(...spans)))];
}

function saidNo(
  record: IncidentRecord,
  denial: Denial,
  { proposedAt }: Action,
  isOneStep: boolean,
  options: DrawOptions,
): readonly Span[] {
  const { saidBy, saidAt, reason, scope, label } = denial;
  if (!mayTell(record, denial, options))
    return [bold('Somebody said no'), words(' where you cannot read; ask '), person(saidBy), words('.')];
  const today = saidAt.slice(0, 10) === proposedAt.slice(0, 10);
  const why = cut(oneLine(reason), 300);
  return [
    person(saidBy),
    bold(' said no'),
    words(today ? ' at ' : ' on '),
    moment(saidAt, today ? '{time}' : '{date_short} at {time}'),
    words(why ? `: “${why}”` : ', without a reason'),
    // The card's title names the act already; of several, only one may have been denied.
    ...(scope === 'action' || (scope === 'act' && isOneStep)
      ? []
      : [words(` (${cut(oneLine(label), 100)})`)]),
    words('.'),
  ];
}

const mayTell = (record: IncidentRecord, denial: Denial, { mayTell: told }: DrawOptions): boolean =>
  denial.incidentId === record.incident.id || told?.(denial) === true;

/** Its own words, and asked once more: who approves this approves it against somebody. */
export function approveAlthough(
  record: IncidentRecord,
  steps: readonly Action[],
  options: DrawOptions,
  value: string,
) {
  const standing = acknowledgedBy(record, steps);
  const people = [...new Set(standing.map(({ saidBy }) => saidBy))];
  const [only] = people;
  const known = people.length === 1 && only ? options.nameOf?.(only) : null;
  const shown = standing.filter((denial) => mayTell(record, denial, options));
  const who =
    people.length > 1 ? `${people.length} people` : known && shown.length > 0 ? oneLine(known) : 'somebody';
  const why = shown.findLast(({ reason }) => reason)?.reason ?? '';
  const told = why ? `“${cut(oneLine(why), 120)}” ` : '';
  return button({
    text: `Approve although ${cut(who, 40)} said no`,
    action: ACTIONS.approve,
    value,
    style: 'danger',
    confirm: {
      title: `Run this although ${cut(who, 40)} said no?`,
      text: `${told}${whatRuns(steps, LIMITS.confirmText - told.length)}`,
      yes: 'Run anyway',
    },
  });
}

/** What a window that asks once more says of it: all of it, or where all of it stands; a piece of a command is another one. */
export function whatRuns(steps: readonly Action[], room: number): string {
  const [first] = steps;
  const on = `On ${cut(oneLine(first?.target ?? ''), 60)}: `;
  if (steps.length > 1)
    return `${on}${cut(oneLine(`${count(steps.length, 'step')}: ${describePlan(steps)}`), 100)}.`;
  const whole = `${on}${first?.command ?? ''}`;
  return whole.length <= room && !whole.includes('\n')
    ? whole
    : `${on}exactly the statement on the card; all of it is in Details.`;
}

/** How far the No of a denied card reaches, and whether it still does. */
export function reachLine({ denials }: IncidentRecord, action: Action): readonly (readonly Span[])[] {
  const denial = denials.findLast(({ actionId }) => actionId === action.id);
  if (!denial) return [];
  const { scope, label, until, takenBackBy, takenBackAt } = denial;
  if (takenBackBy)
    return [
      [
        words('The No was taken back by '),
        person(takenBackBy),
        ...(takenBackAt ? [words(' at '), moment(takenBackAt)] : []),
        words('.'),
      ],
    ];
  if (scope === 'action') return [[words('The No is about this action in this incident only.')]];
  const stands = words(
    scope === 'act'
      ? 'The No holds in every incident until '
      : `It covers anything done to ${cut(oneLine(label), 120)}, in every incident, until `,
  );
  return [
    [stands, ...(until ? [moment(until, '{date_short} at {time}')] : [words('it is gone')]), words('.')],
  ];
}

/** What people may still do with a card that was denied. */
export function changeOfMind(record: IncidentRecord, action: Action, options: DrawOptions, value: string) {
  if (action.state !== 'denied' || action.undoes !== null || options.mayChangeMind !== true) return [];
  const { state, round } = record.incident;
  const rests = isLastingFix(action)
    ? state === 'resolved' && round === action.round
    : state === 'reported' || state === 'escalated';
  const stands = record.denials.some(
    ({ actionId, takenBackAt }) => actionId === action.id && takenBackAt === null,
  );
  return [
    ...(rests ? [button({ text: 'Approve after all', action: ACTIONS.afterAll, value })] : []),
    ...(stands
      ? [
          button({
            text: 'Take the No back',
            action: ACTIONS.takeBack,
            value,
            confirm: {
              title: 'Take the No back?',
              text: 'No card shows it any more. Where this still waits for people, I ask again; nothing runs before somebody approves.',
              yes: 'Take it back',
            },
          }),
        ]
      : []),
  ];
}
