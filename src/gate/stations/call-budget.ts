import { refuse } from '../../domain/errors.ts';
import type { Sql } from '../../domain/sql.ts';
import type { Station } from '../station.ts';

/** More calls than any incident has needed; a loop that reaches it is stuck. The validator watches, so it is not counted. */
const CALLS_PER_INCIDENT_HOUR = 300;

/** Station 4: an incident's calls in the last hour stay under the limit, over all processes. */
export function callBudget(sql: Sql): Station {
  return async ({ credential }) => {
    if (credential.role === 'validator') return undefined;
    const [row] = await sql`
      SELECT count(*) AS calls FROM tool_call
      WHERE incident_id = ${credential.incidentId} AND started_at > clock_timestamp() - interval '1 hour'`;
    return Number(row?.['calls'] ?? 0) >= CALLS_PER_INCIDENT_HOUR
      ? refuse(
          'TOO_MANY_CALLS',
          `This incident has used ${CALLS_PER_INCIDENT_HOUR} tool calls in an hour; more are refused until some are an hour old.`,
        )
      : undefined;
  };
}
