import { type Action, isLastingFix, restOf, stepsOf, undoOf } from '../../../core/action.ts';
import { describePlan } from '../../../core/describe-act.ts';
import type { IncidentRecord } from '../../../core/incident-record.ts';
import { isWhyInModelsWords, label } from '../../../core/model-words.ts';
import { runningStep, tellingStep } from '../../../core/plan-progress.ts';
import { isSymptom } from '../../../core/tool-call.ts';
import { checkedOf, formatChecked } from '../../../incidents/questions/format-lasting-fix.ts';
import {
  type Block,
  bold,
  button,
  buttons,
  code,
  heading,
  list,
  moment,
  paragraph,
  person,
  prose,
  type Span,
  verbatim,
  words,
} from './build.ts';
import { approveAlthough, changeOfMind, denialLines, reachLine } from './denials.ts';
import { riskLabels } from './labels.ts';
import { drawSteps, LONGER } from './plan-steps.ts';
import { ACTIONS, type DrawOptions, type Slot } from './slot.ts';
import { cut, escape, oneLine } from './text.ts';

const SHOWN_COMMAND = 2800;

/** The card of one plan, mostly of one step: what is approved is what it shows. After the decision: who, when, result. */
export function drawActionCard(record: IncidentRecord, action: Action, options: DrawOptions): Slot {
  const steps = stepsOf(record.actions, action);
  const title = titleOf(steps, checkedOf(record, action));
  const commands = steps.map(({ command }) => cut(oneLine(command), 400)).join(' · ');
  const asks = action.state === 'proposed' && !action.auditOnly ? 'May I run this? ' : '';
  return {
    slot: `action:${action.id}`,
    inThread: true,
    text: escape(`${record.incident.id}: ${asks}${title}: ${commands}`),
    blocks: [
      heading(title),
      ...(steps.length > 1 ? drawSteps(record, steps) : drawAct(record, action)),
      ...besides(record, action),
      ...standing(record, steps, action, options),
    ],
  };
}

function besides(record: IncidentRecord, action: Action): readonly Block[] {
  const parts = [...aim(action), ...suspicious(record)];
  return parts.length === 0 ? [] : [prose(...parts)];
}

/** A plan of one step. */
function drawAct(record: IncidentRecord, action: Action): readonly Block[] {
  return [
    prose(
      paragraph(
        bold('On '),
        code(cut(action.target, 80)),
        words(' with '),
        code(cut(action.tool, 80)),
        words(':'),
      ),
      verbatim(cut(action.command, SHOWN_COMMAND)),
    ),
    ...(action.command.length > SHOWN_COMMAND ? [LONGER] : []),
    prose(
      paragraph(
        bold(label('Why', isWhyInModelsWords(action, record.events))),
        words(cut(oneLine(action.why), 600)),
      ),
      paragraph(bold('Blast radius: '), words(cut(oneLine(action.blastRadius), 400))),
      paragraph(bold('Undo: '), words(cut(oneLine(action.undo), 400))),
      paragraph(bold('Risk: '), words(riskLabels[action.risk]), ...runbook(action)),
      ...preflight(action),
    ),
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

/** The act with its object, and how it stands. */
function titleOf(steps: readonly Action[], checked?: ReturnType<typeof checkedOf>): string {
  const step = tellingStep(steps);
  const title = cut(oneLine(describePlan(steps)), 90);
  const act = `${title.charAt(0).toLowerCase()}${title.slice(1)}`;
  if (step === undefined) return title;
  const running = runningStep(steps);
  const at = steps.length > 1 ? ` at step ${(running ?? step).step} of ${steps.length}` : '';
  if (running) return `Running${at}: ${act}`;
  switch (step.state) {
    case 'proposed':
    case 'queued':
      return step.auditOnly
        ? `Would propose (audit mode: nothing will run): ${act}`
        : `${title} on ${cut(oneLine(step.target), 40)}?`;
    case 'approved':
    case 'started':
      return `About to run: ${act}`;
    case 'succeeded':
      if (checked)
        return `${checked.seen === true ? 'Done as asked' : 'Ran, and it is not to be seen'}: ${act}`;
      return step.step === steps.length ? `Done: ${act}` : `Ended${at}: ${act}`;
    case 'failed':
      return `Failed${at}: ${act}`;
    case 'unknown':
      return `Unknown whether it ran${at}: ${act}`;
    case 'denied':
      return `Denied, nothing was run: ${act}`;
    case 'expired':
      return `Expired, nothing was run: ${act}`;
    case 'void':
      return step.step > 1 ? `Called off${at}: ${act}` : `Void, nothing was run: ${act}`;
    case 'skipped':
      return `Not run: ${act}`;
  }
}

const runbook = (action: Action): readonly Span[] =>
  action.runbookId ? [words(' · by runbook '), code(cut(action.runbookId, 80))] : [];

function preflight(action: Action) {
  if (action.preflight.length === 0) return [];
  const shown = action.preflight.slice(0, 8).map((line) => [words(cut(oneLine(line), 200))]);
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
        words('no read shows anything wrong now. It is to keep the problem from coming back.'),
      ),
    ];
  const steps = purpose === 'repair' ? verify.steps.filter(isSymptom) : [];
  if (steps.length === 0) return [];
  return [
    paragraph(bold('Fixed when: ')),
    list(steps.slice(0, 6).map(({ says }) => [words(cut(oneLine(says), 200))])),
  ];
}

/** What can be done with the card now, or what became of it. */
function standing(
  record: IncidentRecord,
  steps: readonly Action[],
  action: Action,
  options: DrawOptions,
): readonly Block[] {
  const evidence = button({ text: 'Show evidence', action: ACTIONS.evidence, value: action.id });
  if (action.state === 'proposed' && !action.auditOnly)
    return [
      ...objections(record, steps, options),
      prose(
        ...soFar(action),
        paragraph(
          words(
            options.approvers
              ? `May be approved by ${cut(options.approvers, 300)}, until `
              : 'Nobody is configured who may approve this (SENTRY_APPROVERS). Open until ',
          ),
          moment(action.expiresAt),
          words(
            steps.length > 1
              ? '. One approval is for all of it. Each step runs once, exactly as shown, and only if its state above has not moved.'
              : '. It runs once, exactly as shown, and only if the state above has not moved.',
          ),
        ),
      ),
      buttons(
        steps.some(({ denialsAcknowledged }) => denialsAcknowledged.length > 0)
          ? approveAlthough(record, steps, options, planOf(action))
          : approve(steps, action),
        deny(action),
        evidence,
      ),
    ];
  const checked = checkedOf(record, action);
  const ended: readonly (readonly Span[])[] = [
    ...outcome(steps, action),
    ...(checked ? [[words(cut(oneLine(formatChecked(checked)), 400))]] : []),
    ...reachLine(record, action),
    ...undone(record, steps),
  ];
  return [
    ...objections(record, steps, options),
    prose(...ended.map((spans) => paragraph(...spans))),
    buttons(
      ...afterwards(record, steps, action, options),
      ...rest(record, steps, action, options),
      ...changeOfMind(record, action, options, planOf(action)),
      evidence,
    ),
  ];
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
        text: `${undoable.length === steps.length ? 'What this card shows' : `Of what this card shows, ${what}`} is undone on ${oneLine(action.target)}, now and once, if it still is exactly what was written.${reopens(record, action)}`,
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
  const high = steps.some(({ risk }) => risk === 'high');
  return button({
    text: 'Approve',
    action: ACTIONS.approve,
    value: planOf(action),
    style: high ? 'danger' : 'primary',
    ...(high
      ? {
          confirm: {
            title: 'High risk: run this?',
            text: `On ${oneLine(action.target)}: ${steps.length > 1 ? cut(oneLine(`${steps.length} steps: ${describePlan(steps)}`), 220) : cut(oneLine(action.command), 220)}`,
            yes: 'Run it',
          },
        }
      : {}),
  });
}

const deny = (action: Action) => button({ text: 'Deny', action: ACTIONS.deny, value: planOf(action) });

function outcome(steps: readonly Action[], action: Action): readonly (readonly Span[])[] {
  const lines: (readonly Span[])[] = [];
  if (action.auditOnly && action.state === 'proposed')
    lines.push([words('Sentry is in audit mode or stopped: it says what it would do and changes nothing.')]);
  if (action.decidedBy)
    lines.push([
      bold(action.state === 'denied' ? 'Denied by ' : 'Approved by '),
      ...deciders(action),
      ...(action.decidedAt ? [words(' at '), moment(action.decidedAt, '{time_secs}')] : []),
      ...(action.decisionReason ? [words(`: ${cut(oneLine(action.decisionReason), 400)}`)] : []),
    ]);
  if (action.state === 'expired') lines.push([words('Nobody decided in time.')]);
  if (action.state === 'started' && steps.length === 1) lines.push([words('Running …')]);
  if (action.outcome && steps.length === 1)
    lines.push([
      bold(action.state === 'void' ? 'Why it is void: ' : 'Result: '),
      words(cut(oneLine(action.outcome), 600)),
    ]);
  if (lines.length === 0) lines.push([words(titleOf(steps))]);
  return lines;
}
