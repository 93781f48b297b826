import { refuse } from '../../domain/errors.ts';
import type { Sql } from '../../domain/sql.ts';
import type { Station } from '../station.ts';

/** More calls than any incident has needed; a loop that reaches it is stuck. The validator watches, so it is not counted. */
const CALLS_PER_INCIDENT_HOUR = 300;

/**
 * Station 4: an incident's calls in the last hour stay under the limit, over all processes. Calls on their way are not on
 * record yet, so this process counts its own: a hundred at once are a hundred. (An incident is worked on by one process
 * at a time.)
 */
export function callBudget(sql: Sql): Station {
  const onTheWay = new Map<string, number>();

  function enter(incidentId: string): { readonly before: number; readonly leave: () => void } {
    const before = onTheWay.get(incidentId) ?? 0;
    onTheWay.set(incidentId, before + 1);
    const leave = (): void => {
      const left = (onTheWay.get(incidentId) ?? 1) - 1;
      if (left === 0) onTheWay.delete(incidentId);
      else onTheWay.set(incidentId, left);
    };
    return { before, leave };
  }

  return async ({ credential, ended }) => {
    if (credential.role === 'validator') return undefined;
    const { before, leave } = enter(credential.incidentId);
    ended.push(leave);
    const [row] = await sql`
      SELECT count(*) AS calls FROM tool_call
      WHERE incident_id = ${credential.incidentId} AND started_at > clock_timestamp() - interval '1 hour'`;
    return Number(row?.['calls'] ?? 0) + before >= CALLS_PER_INCIDENT_HOUR
      ? refuse(
          'TOO_MANY_CALLS',
          `This incident has used ${CALLS_PER_INCIDENT_HOUR} tool calls in an hour; more are refused until some are an hour old.`,
        )
      : undefined;
  };
}
