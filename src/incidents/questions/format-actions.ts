import { type Action, isLastingFix, stepsOf } from '../../core/action.ts';
import { count } from '../../core/count.ts';
import type { Denial } from '../../core/denial.ts';
import { describePlan } from '../../core/describe-act.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { isWhyInModelsWords, label } from '../../core/model-words.ts';
import { stepResult } from '../../core/plan-progress.ts';
import { undoneOf } from '../../core/undone.ts';
import { lower } from './answer-lines.ts';
import { cited } from './format-cause.ts';
import { decisionOf, personOf } from './format-decision.ts';
import { checkedOf, formatChecked } from './format-lasting-fix.ts';
import { fixedWidth, moment } from './own-marks.ts';

/** What was proposed, decided and run, plan by plan: lines of `why`. */
export function formatActions(record: IncidentRecord): string[] {
  return record.actions.flatMap((action) => {
    if (action.step > 1) return [];
    const steps = stepsOf(record.actions, action);
    return steps.length > 1 ? planLines(record, steps, action) : actionLines(record, action);
  });
}

/** A plan of several steps: decided once, told step by step. */
function planLines(record: IncidentRecord, steps: readonly Action[], first: Action): string[] {
  return [
    `*Plan* on ${first.target}, ${count(steps.length, 'step')}: ${describePlan(steps)}`,
    ...lastingOf(record, first),
    `• ${decisionOf(first, true)}`,
    ...formatUndone(record, steps),
    ...steps.flatMap((step) => denialsOf(record, step)),
    ...steps.flatMap((step) => {
      const { mark, says } = stepResult(step, steps);
      return [
        `• ${mark} step ${step.step}, ${says}: ${fixedWidth(step.command)}`,
        `   ${label('why', isWhyInModelsWords(step, record.events))}${step.why || 'not said'}`,
        ...(step.outcome && step.state !== 'skipped'
          ? [`   result: ${step.outcome}${cited(step.toolCallId ? [step.toolCallId] : [])}`]
          : []),
      ];
    }),
    '',
  ];
}

function actionLines(record: IncidentRecord, action: Action): string[] {
  return [
    `*Action* on ${action.target}: ${fixedWidth(action.command)}`,
    `• ${label('why', isWhyInModelsWords(action, record.events))}${action.why || 'not said'}`,
    ...lastingOf(record, action),
    `• ${decisionOf(action)}`,
    ...formatUndone(record, [action]),
    ...denialsOf(record, action),
    ...(action.outcome
      ? [`• result: ${action.outcome}${cited(action.toolCallId ? [action.toolCallId] : [])}`]
      : []),
    '',
  ];
}

/** Who has undone it, or tried to. */
export function formatUndone({ actions }: IncidentRecord, steps: readonly Action[]): string[] {
  const undone = undoneOf(actions, steps);
  if (undone === null) return [];
  const { says, by, at } = undone;
  return [
    `• ${lower(says)} ${by === null ? 'a person' : personOf(by)}${at === null ? '' : ` at ${moment(at)}`}`,
  ];
}

/** It has no part in how the incident ended. */
function lastingOf(record: IncidentRecord, action: Action): string[] {
  if (!isLastingFix(action)) return [];
  const checked = checkedOf(record, action);
  return [
    '• asked for once it was fixed, to keep it from coming back',
    ...(checked ? [`• ${formatChecked(checked)}`] : []),
  ];
}

/** What people have said no to: here in full; elsewhere who to ask, since its reader need not be able to read there. */
function denialsOf(
  { denials, incident }: IncidentRecord,
  { id, denialsAcknowledged, approvedBy }: Action,
): string[] {
  const back = ({ takenBackBy, takenBackAt }: Denial): readonly string[] =>
    takenBackBy && takenBackAt ? [`• taken back by <@${takenBackBy}> at ${moment(takenBackAt)}`] : [];
  const own = denials
    .filter(({ actionId, scope }) => actionId === id && scope !== 'action')
    .flatMap((denial) => [
      `• the No is about ${denial.scope === 'act' ? `“${denial.label}” in every incident` : `anything done to ${denial.label}`}, until ${denial.until ? moment(denial.until) : 'it is gone'}`,
      ...back(denial),
    ]);
  const shown = denials
    .filter((denial) => denialsAcknowledged.includes(denial.id))
    .flatMap((denial) => {
      const { saidBy, saidAt, reason, incidentId } = denial;
      const because =
        incidentId === incident.id ? (reason ? `: “${reason}”` : '') : ' in another incident (ask them)';
      return [
        `• ${approvedBy.length > 0 ? 'approved although ' : ''}<@${saidBy}> had said no at ${moment(saidAt)}${because}`,
        ...back(denial),
      ];
    });
  return [...own, ...shown];
}
