import { objectKeys } from '../../core/denial.ts';
import { type Refusal, refuse } from '../../core/errors.ts';
import { sameCommand } from '../../core/same-command.ts';
import type { Called, Drafted } from './draft-step.ts';

/** A refusal of one step, which says which; a limit that keeps one back keeps the plan back, and as long. */
export function ofStep(at: number, of: number, what: string, refusal: Refusal): Refusal {
  return of === 1 ? refusal : { ...refusal, reason: `Step ${at + 1} of ${of}, ${what}: ${refusal.reason}` };
}

/**
 * Steps must not stand in each other's way: what one changes would void the approval of another that touches it, and what
 * may be done only so often may not be planned more often.
 */
export function clashIn(steps: readonly Drafted[]): Refusal | undefined {
  for (const [at, { plan, limit }] of steps.entries()) {
    const earlier = steps.slice(0, at);
    const clash = (code: string, reason: string) =>
      ofStep(at, steps.length, plan.command, refuse(code, reason));
    if (earlier.some(({ plan: one }) => one.tool === plan.tool && sameCommand(one.command, plan.command)))
      return clash('SAME_STEP', 'It is the same as a step before it.');
    const keys = new Set(objectKeys(plan.objects));
    const shared = earlier.flatMap(({ plan: one }) => one.objects).find((each) => hasKey(keys, each));
    if (shared)
      return clash(
        'SAME_OBJECT',
        `It touches ${shared.label}, as a step before it does: what that one changes cannot be foreseen. Propose it on its own.`,
      );
    const alike = earlier.filter((one) => one.limit && one.limit.key === limit?.key).length;
    if (limit && alike >= limit.times)
      return clash(
        'RATE_LIMITED',
        `At most ${limit.times} ${limit.what} in ${Math.round(limit.withinMs / 60_000)} minutes, and the plan holds more.`,
      );
  }
  return undefined;
}

const hasKey = (keys: ReadonlySet<string>, object: Drafted['plan']['objects'][number]): boolean =>
  objectKeys([object]).some((key) => keys.has(key));

/** Where taking it all back ends: undefined when every step has its inverse or destroys nothing. */
export function pointOfNoReturn(calls: readonly Called[], drafts: readonly Drafted[]): string | undefined {
  const at = calls.findIndex(({ tool }, step) => !tool.inverse && !drafts[step]?.losesNothing);
  return at >= 0 && calls.length > 1
    ? `After step ${at + 1} of ${calls.length} it cannot be wholly taken back.`
    : undefined;
}
