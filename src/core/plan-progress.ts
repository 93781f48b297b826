import { type Action, neverRan } from './action.ts';

/** The step by which its plan stands or falls: the last one that is more than waiting, or left out. */
export function tellingStep(steps: readonly Action[]): Action | undefined {
  return steps.findLast(({ state }) => state !== 'queued' && state !== 'skipped') ?? steps[0];
}

/** The step that runs now or runs next, once the plan has begun and nothing has stopped it; undefined otherwise. */
export function runningStep(steps: readonly Action[]): Action | undefined {
  const step = tellingStep(steps);
  if (step?.state === 'started' || (step?.state === 'approved' && step.step > 1)) return step;
  const next = step?.state === 'succeeded' ? steps.find((each) => each.step === step.step + 1) : undefined;
  return next?.state === 'queued' ? next : undefined;
}

/** What became of one step, truthfully: a mark, and words for it. */
export interface StepResult {
  readonly mark: '✓' | '✗' | '?' | '–' | '…' | '·';
  readonly says: string;
}

/** Of one step among all steps of its plan. */
export function stepResult(step: Action, steps: readonly Action[]): StepResult {
  switch (step.state) {
    case 'proposed':
      return { mark: '·', says: 'not decided yet' };
    case 'queued':
      return { mark: '·', says: 'waits its turn' };
    case 'approved':
      return { mark: '·', says: 'about to run' };
    case 'started':
      return { mark: '…', says: 'running' };
    case 'succeeded':
      return { mark: '✓', says: 'ran' };
    case 'failed':
      return neverRan(step) ? { mark: '–', says: 'not run' } : { mark: '✗', says: 'failed' };
    case 'unknown':
      return { mark: '?', says: 'unknown whether it ran' };
    case 'denied':
      return { mark: '–', says: 'not run: denied' };
    case 'expired':
      return { mark: '–', says: 'not run: nobody decided in time' };
    case 'void':
      return { mark: '–', says: 'not run: called off' };
    case 'skipped':
      return { mark: '–', says: `not run: ${whySkipped(step, steps)}` };
  }
}

function whySkipped({ step }: Action, steps: readonly Action[]): string {
  const before = steps.findLast((each) => each.step < step && each.state !== 'skipped');
  if (before?.state === 'failed')
    return neverRan(before) ? 'the step before was not run' : 'the step before failed';
  const known = before && reasons[before.state];
  if (known) return known;
  // The first step that was left out says why; what follows it only follows.
  const said = steps.find(({ state }) => state === 'skipped')?.outcome ?? '';
  return said.replace(/^Not run: /, '').replace(/\.$/, '') || 'the plan was ended before it';
}

const reasons: Partial<Record<Action['state'], string>> = {
  denied: 'the plan was denied',
  expired: 'nobody decided in time',
  unknown: 'unknown whether the step before ran',
  void: 'the step before was called off',
};
