import type { Diagnosis, Hypothesis } from '../../core/diagnosis.ts';
import type { ToolCallId } from '../../core/ids.ts';
import type { Incident } from '../../core/incident.ts';
import type { ToolCall } from '../../core/tool-call.ts';
import { latest } from '../recovery/red-now.ts';
import { contradictedCount } from './contradicted-count.ts';
import { problemWith, saysTheSame } from './problems.ts';

/**
 * The alternatives with only those calls that happened: what nothing speaks for is not ruled in, what nothing speaks
 * against is not ruled out. A model's own words end nothing that what they cite does not carry, or that they end twice and
 * otherwise; such a one stays open.
 *
 * @param read what succeeded in this incident
 */
export function settleHypotheses(
  { hypotheses, origin }: Pick<Diagnosis, 'hypotheses' | 'origin'>,
  read: readonly ToolCall[],
  incident: Incident,
): Pick<Diagnosis, 'hypotheses'> {
  if (hypotheses === undefined) return {};
  const callsOf = (ids: readonly ToolCallId[]) => read.filter(({ id }) => ids.includes(id));
  const isCarried = ({ cause, end, forIds }: Hypothesis): boolean => {
    if (origin === 'runbook') return true;
    if (hypotheses.some((other) => other.end !== end && saysTheSame(other.cause, cause))) return false;
    if (contradictedCount(cause, latest(read)) !== undefined) return false;
    return end !== 'ruled_in' || problemWith(cause, callsOf(forIds), incident) === undefined;
  };
  return {
    hypotheses: hypotheses.map((each): Hypothesis => {
      const forIds = callsOf(each.forIds).map(({ id }) => id);
      const againstIds = callsOf(each.againstIds).map(({ id }) => id);
      const stands = { ruled_in: forIds.length > 0, ruled_out: againstIds.length > 0, open: true }[each.end];
      const settled = { ...each, forIds, againstIds };
      return stands && isCarried(settled) ? settled : { ...settled, end: 'open' };
    }),
  };
}
