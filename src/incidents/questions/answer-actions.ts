import { type Action, stepsOf } from '../../core/action.ts';
import { clipLine } from '../../core/clip.ts';
import { count } from '../../core/count.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { CLAUDES_WORDS, isWhyInModelsWords } from '../../core/model-words.ts';
import { stepResult } from '../../core/plan-progress.ts';
import { causeOf } from './answer-cause.ts';
import { approvalOf } from './answer-decisions.ts';
import {
  type Around,
  COMMAND,
  commandsOf,
  ended,
  type Line,
  newestFirst,
  people,
  SENTENCE,
} from './answer-lines.ts';

export function runOf(record: IncidentRecord): readonly Line[] {
  const ran = newestFirst(record).filter(({ startedAt }) => startedAt !== null);
  const waits = record.actions.find(({ state, auditOnly }) => state === 'proposed' && !auditOnly);
  const waiting: Line[] = waits ? [['Waiting for approval: ', ...commandsOf(record, waits), '.']] : [];
  if (ran.length === 0) return [['Nothing ran; nothing was changed.'], ...waiting];
  return [
    ...ran.map((action): Line => {
      const at: Line = [', at ', { at: action.startedAt ?? action.proposedAt }, ': '];
      const steps = stepsOf(record.actions, action);
      return steps.length < 2
        ? [...commandsOf(record, action), ...at, resultOf(action)]
        : [`${count(steps.length, 'step')} on ${action.target}`, ...at, ...resultsOf(steps), '.'];
    }),
    ...waiting,
  ];
}

/** Each step and what became of it, in one line. */
function resultsOf(steps: readonly Action[]): Line {
  return steps.flatMap((step): Line => {
    const { mark, says } = stepResult(step, steps);
    const said = step.outcome && step.state === 'failed' ? ` (${clipLine(step.outcome, COMMAND / 2)})` : '';
    const head = `${step.step > 1 ? '; ' : ''}${mark} ${step.step} `;
    return [head, { code: clipLine(step.command, COMMAND / 2) }, ` ${clipLine(says, COMMAND)}${said}`];
  });
}

function resultOf(action: Action): string {
  const said = action.outcome ? ` (${clipLine(action.outcome, 140)})` : '';
  if (action.state === 'succeeded') return `it ran${said}.`;
  if (action.state === 'started') return 'it is running.';
  return action.state === 'failed' ? `it failed${said}.` : `nobody knows whether it took effect${said}.`;
}

/** What is asked for; where nothing waits, what ran, or else became of it. */
export function proposedOf(record: IncidentRecord, around: Around): readonly Line[] {
  const newest = newestPlan(record);
  if (newest === undefined) return [['Nothing has been proposed.']];
  const by: Line = newest.requestedBy === null ? ['by me'] : ['by ', ...people([newest.requestedBy])];
  const head: Line = [
    'Proposed ',
    ...by,
    ' at ',
    { at: newest.proposedAt },
    ': ',
    ...commandsOf(record, newest),
  ];
  if (newest.auditOnly) return [[...head, '; nothing may be changed now.'], whyOf(record, newest)];
  const became = newest.startedAt === null ? approvalOf(record, around) : runOf(record);
  return [[...head, '.'], newest.state === 'proposed' ? whyOf(record, newest) : (became[0] ?? [])];
}

/** What the newest plan may break. */
export function blastOf(record: IncidentRecord): readonly Line[] {
  const newest = newestPlan(record);
  if (newest === undefined) return [['Nothing has been proposed, so nothing is at risk by it.']];
  const steps = stepsOf(record.actions, newest);
  const touched = [...new Set(steps.map(({ blastRadius }) => clipLine(blastRadius, SENTENCE)))];
  return [
    [`It affects ${ended(touched.join('; '))} Risk: ${newest.risk}.`],
    [...commandsOf(record, newest), `. Undo: ${ended(clipLine(newest.undo, COMMAND))}`],
  ];
}

/** The one that waits, else the last. */
const newestPlan = (record: IncidentRecord): Action | undefined =>
  newestFirst(record).find(({ undoes }) => undoes === null);

/** Whether it was Sentry. */
export function mineOf(record: IncidentRecord, around: Around): readonly Line[] {
  const ran = record.actions.filter(({ startedAt }) => startedAt !== null);
  if (ran.length === 0) return [['No: nothing was run by me here.']];
  const [approved] = approvalOf({ ...record, actions: ran }, around);
  return [['Yes, I ran it. ', ...(approved ?? [])], ...runOf(record).slice(0, 1)];
}

export function whyRun(record: IncidentRecord): readonly Line[] {
  const [action] = newestFirst(record);
  if (!action) return [['Nothing ran; nothing was changed.'], causeOf(record)];
  return [
    [...(action.startedAt === null ? ['It has not run. '] : []), ...whyOf(record, action)],
    ...approvalOf(record, {
      approvers: null,
      open: [],
      now: new Date(0),
      mayUndo: () => false,
      elsewhere: false,
    }).slice(0, 1),
  ];
}

/** Why it was proposed, and whose words that is. */
export function whyOf({ events }: IncidentRecord, action: Action): Line {
  if (action.why === '') return ['Why it was proposed is not on record.'];
  const whose = isWhyInModelsWords(action, events) ? `${CLAUDES_WORDS}: ` : '';
  return [`It was proposed because: ${whose}${ended(clipLine(action.why, SENTENCE))}`];
}

export function costOf(record: IncidentRecord): Line {
  const { length } = record.toolCalls;
  const calls = `${length} ${length === 1 ? 'call' : 'calls'} of tools`;
  return [
    usedModel(record)
      ? `$${record.incident.costUsd.toFixed(4)} for the model, ${calls}.`
      : `Nothing: no model was used, ${calls}.`,
  ];
}

/** Also one that costs nothing here. */
export function usedModel({ incident, events }: Pick<IncidentRecord, 'incident' | 'events'>): boolean {
  return (
    incident.costUsd > 0 ||
    events.some((event) => event.type === 'investigator.chosen' && event.investigator === 'claude')
  );
}
