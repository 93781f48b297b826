import { type Action, isLastingFix, stepsOf, undoOf } from '../../core/action.ts';
import { describePlan } from '../../core/describe-act.ts';
import type { IncidentEvent } from '../../core/event.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { tellingStep } from '../../core/plan-progress.ts';

type Checked = Extract<IncidentEvent, { type: 'action.checked' }>;

/** What was seen of a lasting fix after it ran; undefined: nothing yet. */
export function checkedOf(
  { events }: Pick<IncidentRecord, 'events'>,
  { planId }: Pick<Action, 'planId'>,
): Checked | undefined {
  const found = events.findLast((event) => event.type === 'action.checked' && event.actionId === planId);
  return found?.type === 'action.checked' ? found : undefined;
}

/** What was seen, in words; `Done as asked` is said of what the live system shows. */
export function formatChecked({ seen, text }: Checked): string {
  if (seen === true) return `Done as asked: ${text}`;
  return seen === false
    ? `It ran, and its effect is not to be seen: ${text}`
    : `It ran; whether it is done could not be read: ${text}`;
}

/** What is to keep the problem from coming back, and how that stands; null: nothing was asked for. */
export function formatLastingFix(
  record: Pick<IncidentRecord, 'incident' | 'actions' | 'events'>,
): string | null {
  const { incident, actions } = record;
  const first = actions.findLast(
    (action) => isLastingFix(action) && action.step === 1 && action.round === incident.round,
  );
  if (!first) return null;
  const steps = stepsOf(actions, first);
  const act = describePlan(steps);
  return `To keep it from coming back: ${act.charAt(0).toLowerCase()}${act.slice(1)}. ${standing(record, steps)}`;
}

function standing(record: Pick<IncidentRecord, 'actions' | 'events'>, steps: readonly Action[]): string {
  const step = tellingStep(steps);
  if (step === undefined) return '';
  switch (step.state) {
    case 'proposed':
      return step.auditOnly ? 'Nothing may be changed now.' : 'It waits for approval.';
    case 'approved':
    case 'queued':
      return 'It is about to run.';
    case 'started':
      return 'It is running.';
    case 'succeeded':
      return afterRun(record, steps, step);
    case 'failed':
      return `It failed${step.outcome ? `: ${step.outcome}` : '.'}`;
    case 'unknown':
      return 'Nobody knows whether it ran.';
    case 'denied':
      return 'Somebody said no to it.';
    case 'expired':
      return 'Nobody decided in time; it was not done.';
    case 'void':
    case 'skipped':
      return `It was not done${step.outcome ? `: ${step.outcome}` : '.'}`;
  }
}

function afterRun(
  record: Pick<IncidentRecord, 'actions' | 'events'>,
  steps: readonly Action[],
  step: Action,
): string {
  if (steps.some((each) => undoOf(record.actions, each)?.state === 'succeeded')) return 'It was taken back.';
  if (steps.some(({ state }) => state === 'skipped')) return 'Only a part of it ran.';
  const checked = checkedOf(record, step);
  return checked ? formatChecked(checked) : 'It ran; looking whether it is done.';
}
