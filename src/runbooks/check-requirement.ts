import type { z } from 'zod';
import { checkExpression } from './expression.ts';
import type { RunbookProblem } from './runbook.ts';
import type { frontMatter, StepBlock } from './schema.ts';
import type { LocatedYaml } from './yaml-part.ts';

/** Whoever names a cause, or calls a system healthy, has to say first what must be read for it. */
export function checkRequirement(
  top: LocatedYaml<z.output<typeof frontMatter>>,
  steps: readonly LocatedYaml<StepBlock>[],
): readonly RunbookProblem[] {
  const judges = (step: StepBlock): boolean =>
    step.checks.some((check) => check.conclude !== undefined || check.healthy !== undefined);
  const { requires } = top.value;
  if (requires === undefined)
    return steps.some(({ value }) => judges(value))
      ? [
          top.problem(
            [],
            'it names a cause or calls something healthy: add "requires" (step, when, bad), what must be read true before it may',
          ),
        ]
      : [];
  const problems: RunbookProblem[] = [];
  const at = steps.findIndex(({ value }) => value.id === requires.step);
  if (at === -1)
    problems.push(
      top.problem(
        ['requires', 'step'],
        `there is no step "${requires.step}"; steps: ${steps.map(({ value }) => value.id).join(', ')}`,
      ),
    );
  else if (steps[at]?.value.optional === true)
    problems.push(
      top.problem(['requires', 'step'], `"${requires.step}" is optional; what is required may not be`),
    );
  for (const { value, problem } of at === -1 ? [] : steps.slice(0, at)) {
    const early = value.checks.findIndex((check) => check.conclude !== undefined);
    if (early !== -1)
      problems.push(
        problem(
          ['checks', early, 'conclude'],
          `it names a cause before the step "${requires.step}" has read what "requires" asks for`,
        ),
      );
  }
  const known = ['result', 'incident', ...steps.slice(0, at + 1).map(({ value }) => value.id)];
  const lets = steps
    .slice(0, at)
    .flatMap(({ value }) => value.checks.flatMap((check) => Object.keys(check.let ?? {})));
  const fault = checkExpression(requires.when, [...known, ...lets], 'bool');
  if (fault !== undefined) problems.push(top.problem(['requires', 'when'], fault.message, fault.offset));
  return problems;
}
