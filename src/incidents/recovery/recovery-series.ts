import type { Gate } from '../../actions/gate.ts';
import { type Action, stepsOf } from '../../core/action.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { type Measure, staysAsItIs } from '../../core/measure.ts';

export type ReadsRecorded = Gate['readRecorded'];

/** A number that told of the problem, as it was read before a repair and after it. */
export interface RecoverySeries {
  readonly measure: Measure;
  /** When the repair began to run, ms since the epoch. */
  readonly ranAt: number;
  /** Oldest first. What could not be read is no point: it is never taken for 0. */
  readonly points: readonly { readonly at: number; readonly value: number }[];
  /** The last one before it ran, which was beyond its bound. */
  readonly before: number;
  /** The last one, which is within. */
  readonly after: number;
}

/** A number that told of the problem, as it was last seen. */
export interface SeenWrong {
  readonly measure: Measure;
  readonly value: number;
  /** ISO 8601. */
  readonly at: string;
}

/**
 * The last read since `from`, ms since the epoch, in which what the newest repair is to mend was beyond its bound, before that began to
 * run; null: there is none, or nothing was proposed.
 */
export function seenWrong(
  { toolCalls, actions }: Pick<IncidentRecord, 'toolCalls' | 'actions'>,
  from: number,
  read: ReadsRecorded,
): SeenWrong | null {
  const repair = actions.findLast(
    ({ purpose, step, proposedAt }) => purpose === 'repair' && step === 1 && Date.parse(proposedAt) >= from,
  );
  if (!repair) return null;
  const until = repair.startedAt === null ? Number.POSITIVE_INFINITY : Date.parse(repair.startedAt);
  for (const step of repair.verify.steps) {
    if (step.measure === undefined) continue;
    for (const call of toolCalls.toReversed()) {
      const at = Date.parse(call.startedAt);
      if (at < from || at > until || call.target !== (step.target ?? repair.target)) continue;
      const seen = read(step, call);
      if (seen?.isHealthy !== false || seen.value === null || staysAsItIs(seen.measure)) continue;
      return { measure: seen.measure, value: seen.value, at: call.startedAt };
    }
  }
  return null;
}

/**
 * What the reads on record between two moments say of the first measure of a repair's criterion that was wrong before it and is
 * healthy at the end; null: there is none. `from`, `until`: ms since the epoch.
 */
export function recoverySeries(
  { toolCalls, actions }: Pick<IncidentRecord, 'toolCalls' | 'actions'>,
  action: Action,
  { from, until }: { readonly from: number; readonly until: number },
  read: ReadsRecorded,
): RecoverySeries | null {
  const ranAt = Date.parse(stepsOf(actions, action)[0]?.startedAt ?? action.startedAt ?? '');
  if (!Number.isFinite(ranAt)) return null;
  for (const step of action.verify.steps) {
    if (step.measure === undefined) continue;
    const looks = toolCalls.flatMap((call) => {
      const at = Date.parse(call.startedAt);
      if (at < from || at > until || call.target !== (step.target ?? action.target)) return [];
      const seen = read(step, call);
      return seen === null || seen.value === null ? [] : [{ ...seen, value: seen.value, at }];
    });
    const before = looks.findLast(({ at }) => at <= ranAt);
    const last = looks.at(-1);
    if (before?.isHealthy !== false || last?.isHealthy !== true || staysAsItIs(last.measure)) continue;
    return {
      measure: last.measure,
      ranAt,
      points: looks.map(({ at, value }) => ({ at, value })),
      before: before.value,
      after: last.value,
    };
  }
  return null;
}
