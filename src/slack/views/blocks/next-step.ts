import type { Incident } from '../../../core/incident.ts';
import { moment, type Span, words } from './build.ts';
import type { PlanNone } from './diagnosis.ts';
import { cut, oneLine } from './text.ts';

/** What happens next, with the time at which Sentry comes back by itself; nothing where nothing is planned. */
export function nextStepOf(
  { nextStep, asksAgainAt }: Pick<Incident, 'nextStep' | 'asksAgainAt'>,
  max: number,
): readonly Span[] {
  if (!nextStep) return [];
  const said = words(cut(oneLine(nextStep), max));
  return asksAgainAt === null
    ? [said]
    : [said, words(' It may be done again at '), moment(asksAgainAt), words('; I’ll ask again then.')];
}

/** Why nothing is proposed; where that passes, when Sentry asks again. */
export const whyNoPlan = ({ reason, asksAgainAt }: PlanNone, max: number): readonly Span[] =>
  nextStepOf({ nextStep: reason.trim(), asksAgainAt: asksAgainAt ?? null }, max);
