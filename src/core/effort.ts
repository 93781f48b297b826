/**
 * How much is done about an alert, the least first. `none`: it is recorded; `on_demand`: a person has it looked into; `triage`: a first
 * look, and no more; `adaptive`: what the first look asks for; `full`: the cause is looked for at high effort, whatever that says.
 */
export const efforts = ['none', 'on_demand', 'triage', 'adaptive', 'full'] as const;
export type Effort = (typeof efforts)[number];

/** One of policy.yaml, and the rule that says so. */
export interface ChosenEffort {
  readonly effort: Effort;
  /** Its matcher; null: no rule fits. */
  readonly rule: string | null;
}

/** With these an incident rests as reported until a person wants more. */
export const isResting = (effort: Effort | null): effort is 'none' | 'on_demand' | 'triage' =>
  effort === 'none' || effort === 'on_demand' || effort === 'triage';

/** What is enough for all of them: the most. */
export function mostEffort(chosen: readonly ChosenEffort[]): ChosenEffort | null {
  return chosen.toSorted((a, b) => efforts.indexOf(b.effort) - efforts.indexOf(a.effort))[0] ?? null;
}

/** For people, after “Effort: ”. */
export const effortLabels: Readonly<Record<Effort, string>> = {
  none: 'none, it is recorded',
  on_demand: 'on demand, when somebody presses Investigate',
  triage: 'a first look',
  adaptive: 'adaptive, as much as the first look asks for',
  full: 'full',
};
