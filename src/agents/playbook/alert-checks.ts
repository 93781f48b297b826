import type { AlertCheck } from '../../actions/recovery/alert-checks.ts';
import type { Incident } from '../../core/incident.ts';
import type { VerifyStep } from '../../core/tool-call.ts';
import { checkExpression } from '../../runbooks/expression.ts';
import type { Runbook } from '../../runbooks/runbook.ts';
import { renderInput } from '../../runbooks/template.ts';
import { matchRunbooks } from './match-runbook.ts';
import { otherSubject } from './same-subject.ts';

/**
 * What the runbooks that list an incident's alert by its name say it is about: what they require to be read before they name
 * a cause, the other way round. One of the opposite side lists it by accident, and says nothing.
 */
export function alertChecks(runbooks: readonly Runbook[], incident: Incident): readonly AlertCheck[] {
  return matchRunbooks(runbooks, incident, [], [])
    .filter(({ isListed }) => isListed)
    .flatMap(({ runbook, sided }): AlertCheck[] => {
      const step = overStep(runbook, incident);
      if (step === null) return [];
      const others = otherSubject(runbook, incident, { shown: '', isListed: true, isFault: false });
      const isCertain = sided && others === null;
      return [{ step, runbookId: runbook.id, isCertain }];
    });
}

/** Null: no one look tells whether it is over, or what would be asked follows from steps before it. */
function overStep({ requires, steps, title }: Runbook, incident: Incident): VerifyStep | null {
  const step = steps.find(({ id }) => id === requires?.step);
  if (requires === undefined || step === undefined || requires.measure === null) return null;
  const { title: told, alertName: alert, target, labels, annotations } = incident;
  const given = { incident: { title: told, alert, target, labels, annotations } };
  const input = renderInput(step.with, given);
  if (!input.ok) return null;
  const read = {
    tool: step.call,
    input: input.value,
    says: `“${title}”, which the alert is about, does not show`,
  };
  const { measure: name, bound, when } = requires;
  if (name !== undefined) return { ...read, measure: { name, ...(bound === undefined ? {} : { bound }) } };
  if (checkExpression(when, ['result', 'incident'], 'bool') !== undefined) return null;
  const needsAlert = checkExpression(when, ['result'], 'bool') !== undefined;
  return { ...read, holds: `!(${when})`, ...(needsAlert ? { given } : {}) };
}
