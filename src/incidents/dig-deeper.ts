import { type Refusal, refuse } from '../core/errors.ts';
import type { IncidentId } from '../core/ids.ts';
import { addRequester } from '../record/record.ts';
import type { InvestigationDeps } from './deps.ts';
import { moveAlone } from './move.ts';
import type { Steered } from './steering.ts';

/** What stands on record as the hint of who has it looked at deeper. */
export const DIG_HINT = 'Dig deeper: the report so far is not enough.';

/** What another round may cost, US dollars. */
export interface DigEstimate {
  readonly ok: true;
  /** What detectives cost in an incident at full effort of the last 30 days, on average; null when there was none. */
  readonly usualUsd: number | null;
  /** The limits of a round: it ends there. */
  readonly atMostUsd: number;
}

/** Has Claude look again, at high effort, where an investigation ended in a report. */
export interface DigDeeper {
  /** Before anything is spent; a refusal says why there is nothing to dig into. */
  estimate(incidentId: IncidentId): Promise<DigEstimate | Refusal>;
  dig(incidentId: IncidentId, by: string): Promise<Steered>;
}

/** `atMostUsd`: what the limits of one more diagnosis and plan add up to. */
export function createDigDeeper(deps: InvestigationDeps, atMostUsd: number): DigDeeper {
  const { sql, records } = deps;

  async function diggable(incidentId: IncidentId) {
    if (deps.claude === null)
      return refuse('NO_MODEL', 'No model is configured; the runbooks have said what they know.');
    const incident = await records.incident(incidentId);
    if (incident === null) return refuse('UNKNOWN_INCIDENT', `There is no ${incidentId}.`);
    return incident.state === 'reported' || incident.state === 'escalated'
      ? { ok: true as const, incident }
      : refuse('NOT_REPORTED', `${incidentId} is ${incident.state}; there is nothing to dig into now.`);
  }

  return {
    async estimate(incidentId) {
      const may = await diggable(incidentId);
      if (!may.ok) return may;
      const [row] = await sql<{ usual: number | null }>`
        SELECT avg(usd)::float8 AS usual FROM (
          SELECT incident_id, sum(cost_usd) AS usd FROM usage
          WHERE role = 'detective' AND at > statement_timestamp() - interval '30 days' GROUP BY incident_id) AS each
        WHERE (SELECT effort FROM incident WHERE id = each.incident_id) = 'full'`;
      return { ok: true, usualUsd: row?.usual ?? null, atMostUsd };
    },

    async dig(incidentId, by) {
      const may = await diggable(incidentId);
      if (!may.ok) return may;
      const { incident } = may;
      const moved = await sql.begin(async (tx) => {
        const outcome = await moveAlone(tx, deps, incident, {
          from: incident.state,
          to: 'diagnosing',
          reason: 'A person asked to dig deeper.',
          key: `dig:${incident.round}`,
          changes: {
            round: incident.round + 1,
            investigator: 'claude',
            effort: 'full',
            nextStep: 'Looking again, deeper.',
          },
          events: [
            { type: 'hint.given', by, text: DIG_HINT },
            { type: 'effort.chosen', effort: 'full', rule: null, by },
          ],
        });
        if (outcome === 'moved') await addRequester(tx, incidentId, by);
        return outcome;
      });
      return moved === 'moved'
        ? { ok: true, text: 'Looking again, deeper.' }
        : refuse('MOVED', 'It has just moved on; look at the thread.');
    },
  };
}
