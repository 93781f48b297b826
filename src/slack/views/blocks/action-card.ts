import { type Action, isLastingFix, MAX_COMMAND, stepsOf, TRIED_BEFORE } from '../../../core/action.ts';
import { count } from '../../../core/count.ts';
import { describeAct, describePlan, nameOfRun } from '../../../core/describe-act.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { isWhyInModelsWords, label } from '../../../core/model-words.ts';
import { isMcpPrincipal } from '../../../core/principal.ts';
import { isSymptom } from '../../../core/tool-call.ts';
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
  overflow,
  paragraph,
  person,
  prose,
  type Span,
  small,
  words,
} from './build.ts';
import { folded } from './container-block.ts';
import { details, drawEnded, people, planOf } from './decided-card.ts';
import { approveAlthough, objections, whatRuns } from './denials.ts';
import { LIMITS } from './limits.ts';
import { drawSteps, inSentence, LONGER, riskOf, wayBack } from './plan-steps.ts';
import { ACTIONS, type DrawOptions, type Slot } from './slot.ts';
import { stopLines } from './stop-lines.ts';
import { cut, escape, oneLine } from './text.ts';

/**
 * The card of one plan, mostly of one step: what is approved is what it shows. What it costs and the buttons stand first, for
 * a phone; what it rests on is folded below. Decided, it is a line or two: who, when and what came of it.
 */
export function drawActionCard(record: IncidentRecord, action: Action, options: DrawOptions): Slot {
  const steps = stepsOf(record.actions, action);
  const slot = `action:${action.id}`;
  if (action.state !== 'proposed')
    return { slot, inThread: true, ...drawEnded(record, steps, action, options) };
  const asks = !action.auditOnly;
  const title = askedTitle(steps, action);
  const rung = mentionsOf(asks ? (options.ring ?? []) : []);
  const commands = steps.map(({ command }) => cut(oneLine(command), 400)).join(' · ');
  return {
    slot,
    inThread: true,
    text: `${rung.text}${escape(`${record.incident.id}${asks ? ' asks' : ''}: ${title}${asks ? '' : ':'} ${commands}`)}`,
    ...drawAsked(record, steps, action, options, title, rung.spans),
  };
}

function drawAsked(
  record: IncidentRecord,
  steps: readonly Action[],
  action: Action,
  options: DrawOptions,
  title: string,
  rung: readonly Span[],
): Pick<Slot, 'blocks' | 'simpler'> {
  const act = steps.length > 1 ? drawSteps(record, steps) : [literal(cut(action.command, MAX_COMMAND))];
  const careful = suspicious(record);
  const stops = stopsOf(record, action);
  const above = [heading(title), prose(...price(steps, action, title, options), ...careful)];
  const decision = [
    ...objections(record, steps, options),
    ...triedBefore(steps),
    prose(
      ...(action.auditOnly
        ? [
            paragraph(
              words('Sentry is in audit mode or stopped: it says what it would do and changes nothing.'),
            ),
          ]
        : [
            ...soFar(record, action),
            ...stops.map((line) => paragraph(...line)),
            paragraph(...rung, ...terms(action, options, rung.length > 0)),
          ]),
    ),
    buttons(
      ...(action.auditOnly
        ? []
        : [
            ...(stops.length > 0 ? [] : [approveButton(record, steps, action, options)]),
            button({ text: 'Don’t', action: ACTIONS.deny, value: planOf(action) }),
          ]),
      details(action),
      ...(action.auditOnly ? [] : [more(steps, action, options)]),
    ),
  ];
  const grounds = [
    ...(steps.length > 1 ? [] : reasons(record, action)),
    ...aim(action),
    ...(action.auditOnly ? [] : [paragraph(...allTerms(steps, options))]),
  ];
  // Only on cards of before longer ones were refused; of several steps `drawSteps` says it.
  const longer = steps.length === 1 && action.command.length > MAX_COMMAND ? [LONGER] : [];
  // What is dangerous, or was perhaps put into the model's mouth, is read before it is pressed.
  const open =
    careful.length > 0 || steps.some(({ risk }) => risk === 'high')
      ? openly(careful.length > 0 ? steps : steps.filter(({ risk }) => risk === 'high'))
      : [];
  return {
    blocks: [
      ...above,
      ...open,
      ...decision,
      ...folded('Exactly this runs, and why', [...act, ...longer, prose(...grounds)]),
    ],
    simpler: [...above, ...act, ...longer, ...decision, prose(...grounds)],
  };
}

/** What is chosen behind the three dots: `another:<action>:<plan hash>`. */
export const cardMoreActions = ['another', 'why', 'edit', 'hand'] as const;

/** What people may do with an open plan beside deciding on it. */
function more(steps: readonly Action[], action: Action, { mayEdit }: DrawOptions) {
  const option = (verb: (typeof cardMoreActions)[number], text: string) => ({
    text,
    value: `${verb}:${planOf(action)}`,
  });
  return overflow(ACTIONS.cardMore, [
    ...(action.beside ? [] : [option('another', 'Look for another way')]),
    option('why', 'Ask why'),
    ...(mayEdit?.(steps) ? [option('edit', 'Change the plan')] : []),
    option('hand', 'Ask somebody else'),
  ]);
}

/** Of the commands that stand open on a card. */
const OPEN_COMMANDS = 130;
const MOST_OPEN = 2;

/** The first of these commands, as far as there is room above the buttons. */
function openly(dangerous: readonly Action[]): readonly Block[] {
  const shown = dangerous.slice(0, MOST_OPEN);
  const room = Math.floor(OPEN_COMMANDS / shown.length);
  const isCut = dangerous.length > shown.length || shown.some(({ command }) => command.length > room);
  return [
    ...shown.map(({ command }) => literal(cut(command, room))),
    ...(isCut ? [small('It goes on: read all of it below before you decide.')] : []),
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

/** What its title and these say together fits the first screen of a phone. */
const PRICE = 240;
const LEAST_PRICE = 60;
const UNDO = 60;

/** What it frees and costs, and whether it can be taken back. */
function price(steps: readonly Action[], action: Action, title: string, options: DrawOptions) {
  if (action.undoes !== null)
    return [
      paragraph(
        words('Takes back what was done here: the problem may come back. Asked for by '),
        ...(action.requestedBy === null ? [words('a person')] : [person(action.requestedBy)]),
        words('.'),
      ),
      paragraph(bold('Touches: '), words(cut(oneLine(action.blastRadius), LEAST_PRICE * 2))),
    ];
  if (steps.length > 1)
    return [
      paragraph(words(`${count(steps.length, 'step')} in this order; one that fails stops the rest.`)),
      // The title names two.
      ...(steps.length > 2 ? [list(someOf(steps))] : []),
      paragraph(...wayBack(steps, options)),
    ];
  const { frees, costs } = action.verbs ?? {};
  const undo = cut(oneLine(action.undo), UNDO);
  const room = Math.max(LEAST_PRICE, PRICE - title.length - undo.length - (frees?.length ?? 0));
  const touched = oneLine(action.blastRadius);
  return [
    ...(frees === undefined ? [] : [paragraph(bold('Frees: '), words(frees))]),
    // Cut in the middle of a sentence it would say less than the tool does of every such act.
    touched.length > room && costs !== undefined
      ? paragraph(bold('Costs: '), words(costs))
      : paragraph(bold('Touches: '), words(cut(touched, room))),
    paragraph(bold('Undo: '), words(undo)),
  ];
}

const MOST_STEPS = 3;
/** The first steps of a plan; all of them are folded below. */
const someOf = (steps: readonly Action[]): readonly (readonly Span[])[] => [
  ...steps.slice(0, MOST_STEPS).map((step) => [words(cut(oneLine(describeAct(step)), 48))]),
  ...(steps.length > MOST_STEPS ? [[words(`and ${steps.length - MOST_STEPS} more, folded below`)]] : []),
];

function reasons(record: IncidentRecord, action: Action) {
  return [
    paragraph(bold(whyLabel(record, action)), words(cut(oneLine(action.why), 600))),
    ...whole('Touches: ', action.blastRadius, LEAST_PRICE),
    ...whole('Undo: ', action.undo, UNDO),
    ...preflight(action),
    paragraph(...riskOf([action], action)),
  ];
}

/** What did not fit above. */
const whole = (title: string, text: string, room: number) =>
  oneLine(text).length <= room ? [] : [paragraph(bold(title), words(cut(oneLine(text), 400)))];

/** Whose words the reason is: Sentry's own, a model's, or those of a client outside. */
const whyLabel = ({ events }: IncidentRecord, action: Action): string =>
  isMcpPrincipal(action.requestedBy)
    ? `Why (proposed by ${action.requestedBy}, in its words): `
    : label('Why', isWhyInModelsWords(action, events));

/** Until when, and who may where nobody is mentioned. */
function terms(action: Action, { approvers }: DrawOptions, isRung: boolean): readonly Span[] {
  const who = approvers
    ? isRung
      ? 'open until '
      : `${cut(approvers, 40)} may decide · open until `
    : 'Nobody is configured who may approve this: /sentry settings · open until ';
  return [words(who), moment(action.expiresAt), words(' · runs once, only if nothing has changed')];
}

/** Who may, all of them, and how often. */
function allTerms(steps: readonly Action[], { approvers }: DrawOptions): readonly Span[] {
  const once =
    steps.length > 1
      ? 'One approval is for all of it; each step runs once, only if nothing has changed.'
      : 'It runs once, only if nothing has changed.';
  return [words(approvers ? `${cut(approvers, 300)} may decide. ${once}` : once)];
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
function askedTitle(steps: readonly Action[], { auditOnly, target, undoes }: Action): string {
  const does = `${cut(oneLine(describePlan(steps)), 90)} on ${cut(oneLine(target), 40)}`;
  // The way back often has the words of a repair.
  const act = undoes === null ? does : `Undo: ${inSentence(does)}`;
  return auditOnly ? `Would propose (audit mode: nothing will run): ${inSentence(act)}` : `${act}?`;
}

const isTriedBefore = (line: string): boolean => line.startsWith(TRIED_BEFORE);

/** Whoever decides has to know that it did not help the last time. */
function triedBefore(steps: readonly Action[]): readonly Block[] {
  const lines = steps.flatMap((step) =>
    step.preflight.filter(isTriedBefore).map((line) => {
      const says = cut(oneLine(line.slice(TRIED_BEFORE.length)), 120);
      return paragraph(bold(TRIED_BEFORE), words(steps.length === 1 ? says : `step ${step.step}: ${says}`));
    }),
  );
  return lines.length === 0 ? [] : [prose(...lines.slice(0, 2))];
}

function preflight(action: Action) {
  const seen = action.preflight.filter((line) => !isTriedBefore(line));
  if (seen.length === 0) return [];
  const shown = seen.slice(0, 6).map((line) => [words(cut(oneLine(line), 200))]);
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
    paragraph(
      bold(verify.holdMs > 0 ? `Fixed when, for ${Math.ceil(verify.holdMs / 1000)} s: ` : 'Fixed when: '),
    ),
    list(steps.slice(0, 6).map(({ says }) => [words(cut(oneLine(says), 200))])),
  ];
}

/** Who has approved of the several who have to, and when it runs unasked. */
function soFar({ events }: IncidentRecord, action: Action) {
  const { approvalsNeeded: needed, approvedBy: by, autonomousAt, policyRule } = action;
  const lines = [];
  const at = events.findIndex((event) => event.type === 'action.proposed' && event.actionId === action.id);
  // It is stored with the proposal that it makes.
  const edit = events
    .slice(Math.max(0, at))
    .find((event) => event.type === 'action.edited' && event.actionId !== action.id);
  if (edit?.type === 'action.edited' && edit.by === action.requestedBy)
    lines.push(paragraph(words('Changed by '), person(edit.by), words('; asked for anew.')));
  const left = needed - by.length === 1 ? 'one more' : `${needed - by.length} more`;
  if (needed > 1)
    lines.push(
      paragraph(
        ...(by.length === 0
          ? [bold(`It takes ${needed} people`)]
          : [bold(`${by.length} of ${needed}`), words(': '), ...people(by), words(`; ${left}`)]),
        words('.'),
      ),
    );
  if (autonomousAt)
    lines.push(
      paragraph(
        bold('Runs by itself at '),
        moment(autonomousAt, '{time_secs}'),
        words(
          `, as the rule “${cut(oneLine(policyRule ?? ''), 100)}” lets it, unless somebody presses Don’t before.`,
        ),
      ),
    );
  return lines;
}

function approve(steps: readonly Action[], action: Action) {
  const isHigh = steps.some(({ risk }) => risk === 'high');
  const text = action.undoes === null ? nameOfRun(steps) : 'Undo it';
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
