import type { TriedAction } from '../agents/ports.ts';
import { isLastingFix, neverRan, stepsOf } from '../core/action.ts';
import type { IncidentRecord } from '../core/incident-record.ts';

/**
 * What was run in an incident, with what the live system showed after it. *Did not help* is said of what was verified so, and
 * of nothing else: not of what succeeded and was not looked at, and never of what a person denied.
 */
export function triedIn({ actions, events }: IncidentRecord): readonly TriedAction[] {
  const ran = actions.filter(
    (action) => ['succeeded', 'failed', 'unknown'].includes(action.state) && !neverRan(action),
  );
  return ran.map((action) => {
    const ended = events.findLast(
      (event) => event.type === 'action.finished' && event.actionId === action.id,
    );
    // What keeps a problem away that is over is judged by nothing.
    if (isLastingFix(action)) return { ...action, verdict: null };
    // The steps of one plan are judged as one, after the last of them; a lasting fix beside it ends no judgement.
    const plan = new Set([...stepsOf(actions, action), ...actions.filter(isLastingFix)].map(({ id }) => id));
    const next =
      ended &&
      events.find(
        (event) => event.type === 'action.started' && event.seq > ended.seq && !plan.has(event.actionId),
      );
    const verified = events.findLast(
      (event) =>
        event.type === 'verification.concluded' &&
        event.seq > (ended?.seq ?? Number.POSITIVE_INFINITY) &&
        event.seq < (next?.seq ?? Number.POSITIVE_INFINITY),
    );
    return { ...action, verdict: verified?.type === 'verification.concluded' ? verified.verdict : null };
  });
}
