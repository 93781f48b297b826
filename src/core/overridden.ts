import type { Action } from './action.ts';
import type { Denial } from './denial.ts';
import type { IncidentRecord } from './incident-record.ts';

/** The Noes that a plan ran against, or is to: they stood on its card, or were taken back before the same was asked for again. */
export const overriddenBy = (
  { denials, actions }: Pick<IncidentRecord, 'denials' | 'actions'>,
  steps: readonly Action[],
): readonly Denial[] =>
  denials.filter(({ id, actionId, takenBackAt }) => {
    if (steps.some(({ denialsAcknowledged }) => denialsAcknowledged.includes(id))) return true;
    const denied = takenBackAt === null ? undefined : actions.find((each) => each.id === actionId);
    return steps.some(
      ({ tool, command, target, proposedAt }) =>
        tool === denied?.tool &&
        command === denied.command &&
        target === denied.target &&
        proposedAt > denied.proposedAt,
    );
  });
