import { z } from 'zod';
import { type ChosenEffort, type Effort, efforts } from '../../core/effort.ts';
import { type AlertFacts, type AlertMatcher, mayQuieten, wholeMatcher } from '../../safety/alert-matcher.ts';

/** One entry of `effort` in policy.yaml. */
export interface EffortRule {
  readonly matcher: AlertMatcher;
  readonly effort: Effort;
}

export const EffortFields = z.strictObject({
  match: z.string().transform((text, context) => {
    const read = wholeMatcher(text);
    if (read.ok) return read.matcher;
    context.addIssue(read.reason);
    return z.NEVER;
  }),
  effort: z.enum(efforts),
});

/** The first rule that fits. One that asks for less than is usual fits a critical only where it says `severity`. */
export function effortRuleFor(rules: readonly EffortRule[], facts: AlertFacts): EffortRule | undefined {
  return rules.find(({ matcher, effort }) =>
    efforts.indexOf(effort) < efforts.indexOf('adaptive')
      ? mayQuieten(matcher, facts)
      : matcher.matches(facts),
  );
}

/** `adaptive` where no rule fits. */
export function effortFor(rules: readonly EffortRule[], facts: AlertFacts): ChosenEffort {
  const rule = effortRuleFor(rules, facts);
  return rule ? { effort: rule.effort, rule: rule.matcher.text } : { effort: 'adaptive', rule: null };
}
