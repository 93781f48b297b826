import type { Gate } from '../../actions/gate.ts';
import type { ReadingPhase } from '../../actions/proposals/aim.ts';
import { type Action, stepsOf } from '../../core/action.ts';
import type { ActionId } from '../../core/ids.ts';
import type { IncidentRecord } from '../../core/incident-record.ts';
import { staysAsItIs } from '../../core/measure.ts';
import type { Sql } from '../../core/sql.ts';
import type { VerifyStep } from '../../core/tool-call.ts';
import { longestGreenGap, type WatchReading } from '../recovery/judge-recovery.ts';

/** One look at an action's criterion, as it stands on record. */
export interface StoredReading extends WatchReading {
  readonly state: 'red' | 'green' | 'unread';
}

/** All looks at an action's criterion since it ran (`watch`), or since it was called fixed (`after`), oldest first, by the database's clock. */
export async function storedReadings(
  sql: Sql,
  actionId: ActionId,
  phase: Extract<ReadingPhase, 'watch' | 'after'>,
): Promise<readonly StoredReading[]> {
  return sql<StoredReading>`
    SELECT state, holds, readings AS values, (extract(epoch FROM at) * 1000)::float8 AS at FROM criterion_reading
     WHERE action_id = ${actionId} AND phase = ${phase} ORDER BY id`;
}

/** The steps of its criterion whose number must stay as it is. */
export function steadySteps(gate: Pick<Gate, 'measures'>, { verify }: Action): readonly number[] {
  return verify.steps.flatMap((step, at) => {
    const measure = measureOf(gate, step);
    return measure && staysAsItIs(measure) ? [at] : [];
  });
}

/**
 * The longest time for which what comes and goes by nature was read healthy in this incident, and unhealthy again, before the
 * action ran: it says nothing for a repair to stay away for as long as the problem did by itself. 0: it never did.
 */
export function wentAwayMs(
  gate: Pick<Gate, 'measures' | 'readRecorded'>,
  { toolCalls, actions }: Pick<IncidentRecord, 'toolCalls' | 'actions'>,
  action: Action,
): number {
  const { verify } = action;
  const startedAt = stepsOf(actions, action)[0]?.startedAt ?? action.startedAt;
  const before = toolCalls.filter((call) => startedAt === null || call.startedAt < startedAt);
  const gaps = verify.steps
    .filter((step) => measureOf(gate, step)?.intermittent === true)
    .map((step) =>
      longestGreenGap(
        before.flatMap((call) => {
          if (call.target !== (step.target ?? action.target)) return [];
          const holds = gate.readRecorded(step, call)?.isHealthy ?? null;
          return holds === null ? [] : [{ holds, at: Date.parse(call.startedAt) }];
        }),
      ),
    );
  return Math.max(0, ...gaps);
}

function measureOf(gate: Pick<Gate, 'measures'>, { tool, measure }: VerifyStep) {
  return gate.measures(tool).find(({ name }) => name === measure?.name);
}
