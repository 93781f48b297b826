import { type Action, stepsOf } from '../../core/action.ts';
import { clipLine } from '../../core/clip.ts';
import { count } from '../../core/count.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { CLAUDES_WORDS, isWhyInModelsWords } from '../../core/model-words.ts';
import { stepResult } from '../../core/plan-progress.ts';
import { causeOf } from './answer-cause.ts';
import { approvalOf } from './answer-decisions.ts';
import { COMMAND, commandsOf, ended, type Line, newestFirst, SENTENCE } from './answer-lines.ts';

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

export function whyRun(record: IncidentRecord): readonly Line[] {
  const [action] = newestFirst(record);
  if (!action) return [['Nothing ran; nothing was changed.'], causeOf(record)];
  return [
    [...(action.startedAt === null ? ['It has not run. '] : []), ...whyOf(record, action)],
    ...approvalOf(record, { approvers: null, open: [], now: new Date(0), elsewhere: false }).slice(0, 1),
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
