import type { VerifyStep } from '../../core/tool-call.ts';
import type { RunbookVerify } from '../../runbooks/runbook.ts';
import { renderExpression, renderInput, renderText } from '../../runbooks/template.ts';
import type { Run } from './run.ts';

/** Fills a verify block from what was read; a text: why it cannot be filled. */
export function verifySteps(run: Run, verify: RunbookVerify): readonly VerifyStep[] | string {
  const steps: VerifyStep[] = [];
  for (const step of verify.steps) {
    const input = renderInput(step.with, run.variables);
    const says = renderText(step.says, run.variables);
    if (!input.ok) return input.reason;
    if (!says.ok) return says.reason;
    const asked = { tool: step.call, input: input.value, says: says.text };
    if (step.measure !== undefined) {
      steps.push({
        ...asked,
        measure: { name: step.measure, ...(step.bound === undefined ? {} : { bound: step.bound }) },
      });
      continue;
    }
    const holds = renderExpression(step.holds ?? '', run.variables);
    if (!holds.ok) return holds.reason;
    steps.push({ ...asked, holds: holds.text });
  }
  return steps;
}
