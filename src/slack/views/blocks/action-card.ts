import { type Action, isLastingFix, MAX_COMMAND, restOf, stepsOf, undoOf } from '../../../core/action.ts';
import { count } from '../../../core/count.ts';
import { describeAct, describePlan, nameOfRun } from '../../../core/describe-act.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { isWhyInModelsWords, label } from '../../../core/model-words.ts';
import { isMcpPrincipal } from '../../../core/principal.ts';
import { isSymptom } from '../../../core/tool-call.ts';
import { checkedOf, formatChecked } from '../../../incidents/questions/format-lasting-fix.ts';
import {
  type Block,
  bold,
  button,
  buttons,
  heading,
  list,
  literal,
  mentionsOf,
  moment,
  paragraph,
  person,
  prose,
  type Span,
  words,
} from './build.ts';
import { approveAlthough, changeOfMind, denialLines, reachLine, whatRuns } from './denials.ts';
import { LIMITS } from './limits.ts';
import { drawMarks, drawSteps, endedTitle, inSentence, LONGER, riskOf, wayBack } from './plan-steps.ts';
import { ACTIONS, type DrawOptions, type Slot } from './slot.ts';
import { stopLines } from './stop-lines.ts';
import { cut, escape, oneLine } from './text.ts';

/**
 * The card of one plan, mostly of one step: what is approved is what it shows. What it costs and the buttons stand first, for
 * a phone; what it rests on stands below. Decided, it is a line: who, when and what came of it.
 */
export function drawActionCard(record: IncidentRecord, action: Action, options: DrawOptions): Slot {
  const steps = stepsOf(record.actions, action);
  const isOpen = action.state === 'proposed';
  const asks = isOpen && !action.auditOnly;
  const title = isOpen ? askedTitle(steps, action) : endedTitle(steps, checkedOf(record, action));
  const rung = mentionsOf(asks ? (options.ring ?? []) : []);
  const commands = isOpen
    ? `${action.auditOnly ? ':' : ''} ${steps.map(({ command }) => cut(oneLine(command), 400)).join(' · ')}`
    : '';
  return {
    slot: `action:${action.id}`,
    inThread: true,
    text: `${rung.text}${escape(`${record.incident.id}${asks ? ' asks' : ''}: ${title}${commands}`)}`,
    blocks: isOpen
      ? drawAsked(record, steps, action, options, title, rung.spans)
      : drawEnded(record, steps, action, options, title),
  };
}

function drawAsked(
  record: IncidentRecord,
  steps: readonly Action[],
  action: Action,
  options: DrawOptions,
  title: string,
  rung: readonly Span[],
): readonly Block[] {
  const act = steps.length > 1 ? drawSteps(record, steps) : drawStatement(action);
  // What is dangerous is read before it is pressed.
  const isHigh = steps.some(({ risk }) => risk === 'high');
  const evidence = [...(steps.length > 1 ? [] : reasons(record, action)), ...aim(action)];
  const stops = stopsOf(record, action);
  return [
    heading(title),
    prose(...price(steps, action), ...suspicious(record)),
    ...(isHigh ? act : []),
    ...objections(record, steps, options),
    ...(action.auditOnly
      ? [
          prose(
            paragraph(
              words('Sentry is in audit mode or stopped: it says what it would do and changes nothing.'),
            ),
          ),
        ]
      : [
          prose(
            ...soFar(action),
            ...stops.map((line) => paragraph(...line)),
            ...(rung.length > 0 ? [paragraph(...rung, words('This is critical, and waits for you.'))] : []),
            paragraph(...terms(steps, action, options)),
          ),
        ]),
    buttons(
      ...(action.auditOnly
        ? []
        : [
            ...(stops.length > 0 ? [] : [approveButton(record, steps, action, options)]),
            button({ text: 'Don’t', action: ACTIONS.deny, value: planOf(action) }),
          ]),
      details(action),
    ),
    ...(isHigh ? [] : act),
    ...(evidence.length > 0 ? [prose(...evidence)] : []),
  ];
}

/** Why *Approve* would be refused now; the card is drawn anew when somebody resumes. */
function stopsOf({ incident, events }: IncidentRecord, { id, beside }: Action): readonly (readonly Span[])[] {
  const stop = events.findLast((event) => event.type === 'incident.stopped');
  if (incident.state === 'stopped' && !beside)
    return [
      [
        bold('Stopped'),
        ...(stop ? [words(' by '), person(stop.by)] : []),
        words('. When somebody resumes, I look again and ask again.'),
      ],
    ];
  // Where it was stopped before, this would not have been asked for.
  const asked = events.findIndex((event) => event.type === 'action.proposed' && event.actionId === id);
  return stopLines(events.slice(asked + 1)).map((line) => [
    ...line,
    words(' · it can be approved when somebody resumes'),
  ]);
}

const approveButton = (
  record: IncidentRecord,
  steps: readonly Action[],
  action: Action,
  options: DrawOptions,
) =>
  steps.some(({ denialsAcknowledged }) => denialsAcknowledged.length > 0)
    ? approveAlthough(record, steps, options, planOf(action))
    : approve(steps, action);

const details = (action: Action) => button({ text: 'Details', action: ACTIONS.evidence, value: action.id });

/** What it frees and costs, and whether it can be taken back. */
function price(steps: readonly Action[], action: Action) {
  if (steps.length > 1)
    return [
      paragraph(words(`${count(steps.length, 'step')} in this order; one that fails stops the rest.`)),
      // The title names two.
      ...(steps.length > 2 ? [list(steps.map((step) => [words(cut(oneLine(describeAct(step)), 90))]))] : []),
      paragraph(...wayBack(action)),
    ];
  return [
    paragraph(bold('Touches: '), words(cut(oneLine(action.blastRadius), 400))),
    paragraph(bold('Undo: '), words(cut(oneLine(action.undo), 400))),
  ];
}

/** A plan of one step: what runs, to the letter. */
const drawStatement = ({ command }: Action): readonly Block[] => [
  prose(paragraph(bold('Exactly this runs:'))),
  literal(cut(command, MAX_COMMAND)),
  // Only on cards of before longer ones were refused.
  ...(command.length > MAX_COMMAND ? [LONGER] : []),
];

function reasons(record: IncidentRecord, action: Action) {
  return [
    paragraph(bold(whyLabel(record, action)), words(cut(oneLine(action.why), 600))),
    ...preflight(action),
    paragraph(...riskOf([action], action)),
  ];
}

/** Whose words the reason is: Sentry's own, a model's, or those of a client outside. */
const whyLabel = ({ events }: IncidentRecord, action: Action): string =>
  isMcpPrincipal(action.requestedBy)
    ? `Why (proposed by ${action.requestedBy}, in its words): `
    : label('Why', isWhyInModelsWords(action, events));

/** Who may, until when, how often. */
function terms(steps: readonly Action[], action: Action, options: DrawOptions): readonly Span[] {
  const once =
    steps.length > 1
      ? ' · one approval is for all of it; each step runs once, only if nothing has changed'
      : ' · runs once, only if nothing has changed';
  return [
    words(
      options.approvers
        ? `${cut(options.approvers, 300)} may decide · open until `
        : 'Nobody is configured who may approve this (SENTRY_APPROVERS) · open until ',
    ),
    moment(action.expiresAt),
    words(once),
  ];
}

/** Whoever decides has to know that somebody may have wanted this proposal. */
function suspicious({ events }: IncidentRecord): readonly ReturnType<typeof paragraph>[] {
  const places = events.flatMap((event) => (event.type === 'injection.found' ? [event.where] : []));
  if (places.length === 0) return [];
  const where = [...new Set(places)].map((place) => cut(oneLine(place), 80));
  const more = where.length > 3 ? ` and ${where.length - 3} more` : '';
  return [
    paragraph(
      bold('Careful: '),
      words(
        `what the model read holds text that reads like instructions to it (${where.slice(0, 3).join(', ')}${more}). Judge the command by itself.`,
      ),
    ),
  ];
}

/** The act with its object. */
function askedTitle(steps: readonly Action[], { auditOnly, target }: Action): string {
  const act = `${cut(oneLine(describePlan(steps)), 90)} on ${cut(oneLine(target), 40)}`;
  return auditOnly ? `Would propose (audit mode: nothing will run): ${inSentence(act)}` : `${act}?`;
}

function preflight(action: Action) {
  if (action.preflight.length === 0) return [];
  const shown = action.preflight.slice(0, 6).map((line) => [words(cut(oneLine(line), 200))]);
  return [paragraph(bold('Seen just before:')), list(shown)];
}

/** How its success will be judged; or that nothing is wrong now that it could mend. */
function aim(action: Action) {
  const { purpose, verify } = action;
  if (isLastingFix(action))
    return [
      paragraph(
        bold('To keep it from coming back: '),
        words('the problem is over already, and stays counted as fixed whatever becomes of this.'),
      ),
    ];
  if (purpose === 'prevent')
    return [
      paragraph(
        bold('To prevent: '),
        words('it mends nothing that is wrong now, and is done once it has taken effect.'),
      ),
    ];
  const steps = purpose === 'repair' ? verify.steps.filter(isSymptom) : [];
  if (steps.length === 0) return [];
  return [
    paragraph(bold('Fixed when: ')),
    list(steps.slice(0, 6).map(({ says }) => [words(cut(oneLine(says), 200))])),
  ];
}

/** A line of what became of it, and what can still be done; what it was is in its details, and what it said below. */
function drawEnded(
  record: IncidentRecord,
  steps: readonly Action[],
  action: Action,
  options: DrawOptions,
  title: string,
): readonly Block[] {
  const checked = checkedOf(record, action);
  const ended: readonly (readonly Span[])[] = [
    [bold(title), ...decision(action)],
    ...(action.state === 'void' && action.outcome ? [[words(cut(oneLine(action.outcome), 600))]] : []),
    ...(checked ? [[words(cut(oneLine(formatChecked(checked)), 400))]] : []),
    ...reachLine(record, action),
    ...undone(record, steps),
  ];
  return [
    prose(...ended.map((spans) => paragraph(...spans)), ...(steps.length > 1 ? drawMarks(steps) : [])),
    ...objections(record, steps, options),
    buttons(
      ...afterwards(record, steps, action, options),
      ...rest(record, steps, action, options),
      ...changeOfMind(record, action, options, planOf(action)),
      details(action),
    ),
  ];
}

/** `, approved by @olivia, 10:13`. */
function decision(action: Action): readonly Span[] {
  if (!action.decidedBy) return [];
  const { state, decidedAt, decisionReason } = action;
  const at = decidedAt ? [words(', '), moment(decidedAt)] : [];
  const why = decisionReason ? [words(`: “${cut(oneLine(decisionReason), 400)}”`)] : [];
  return state === 'denied'
    ? [words('. '), ...deciders(action), words(' said no'), ...at, ...why]
    : [words(', approved by '), ...deciders(action), ...at, ...why];
}

/** Whoever decides has to know that somebody has said no to it. */
function objections(
  record: IncidentRecord,
  steps: readonly Action[],
  options: DrawOptions,
): readonly Block[] {
  const lines = denialLines(record, steps, options);
  return lines.length === 0 ? [] : [prose(...lines.map((spans) => paragraph(...spans)))];
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
  const what = undoable.map((step) => `step ${step.step}`).join(' and ');
  return [
    button({
      text: 'Undo',
      action: ACTIONS.undo,
      value: planOf(action),
      confirm: {
        title: 'Take this back?',
        text: `${undoable.length === steps.length ? 'What this card shows' : `Of what this card shows, ${what}`} is undone on ${oneLine(action.target)}, now and once, if it still is exactly what was written.${reopens(record, action)}${undoable.length === 1 ? ` ${cut(oneLine(undoable[0]?.undo ?? ''), 120)}` : ''}`,
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

function undone(record: IncidentRecord, steps: readonly Action[]): readonly (readonly Span[])[] {
  const [undo] = steps.flatMap((step) => undoOf(record.actions, step) ?? []);
  const said = undo && undoLabels[undo.state];
  if (!undo || !said) return [];
  return [[bold(said), ...(undo.requestedBy ? [words(' asked for by '), person(undo.requestedBy)] : [])]];
}

const undoLabels: Partial<Record<Action['state'], string>> = {
  proposed: 'Undo waits for approval,',
  approved: 'Being undone,',
  started: 'Being undone,',
  succeeded: 'Undone,',
  unknown: 'Unknown whether its undo ran,',
};

/** Who has approved of the several who have to, and when it runs unasked. */
function soFar(action: Action) {
  const { approvalsNeeded: needed, approvedBy: by, autonomousAt, policyRule } = action;
  const lines = [];
  if (needed > 1)
    lines.push(
      paragraph(
        bold(`Approved by ${by.length} of ${needed}`),
        ...(by.length > 0 ? [words(': '), ...people(by)] : []),
        words(`. ${needed - by.length} more ${needed - by.length === 1 ? 'person has' : 'people have'} to.`),
      ),
    );
  if (autonomousAt)
    lines.push(
      paragraph(
        bold('Runs by itself at '),
        moment(autonomousAt, '{time_secs}'),
        words(
          `, as the rule “${cut(oneLine(policyRule ?? ''), 100)}” lets it, unless somebody presses Deny before.`,
        ),
      ),
    );
  return lines;
}

const people = (ids: readonly string[]): readonly Span[] =>
  ids.flatMap((id, index) => (index === 0 ? [person(id)] : [words(', '), person(id)]));

function deciders({ state, decidedBy, approvedBy }: Action): readonly Span[] {
  if (decidedBy === 'policy') return [words('the policy')];
  if (state === 'denied' || approvedBy.length === 0) return decidedBy ? [person(decidedBy)] : [];
  return people(approvedBy);
}

/** What a click says is the action and the plan seen, nothing else; who clicked comes from Slack. */
const planOf = (action: Action): string => `${action.id}:${action.planHash}`;

function approve(steps: readonly Action[], action: Action) {
  const isHigh = steps.some(({ risk }) => risk === 'high');
  const text = nameOfRun(steps);
  return button({
    text,
    action: ACTIONS.approve,
    value: planOf(action),
    style: isHigh ? 'danger' : 'primary',
    ...(isHigh
      ? { confirm: { title: 'High risk: run this?', text: whatRuns(steps, LIMITS.confirmText), yes: text } }
      : {}),
  });
}
