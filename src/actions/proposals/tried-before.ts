import { TRIED_BEFORE } from '../../core/action.ts';
import { applicationKeys } from '../../core/denial.ts';
import type { IncidentId } from '../../core/ids.ts';
import { toldOf } from '../../memory/audiences.ts';
import { formatTimes } from '../../memory/past/incident-end.ts';
import type { GateDeps } from '../gate-deps.ts';
import type { Drafted } from './draft-step.ts';

/** So many of the same act are looked at, newest first. */
const MOST = 50;

/**
 * The drafts, with a line on the card of each whose act did not help the last time it was done to the same system in another incident:
 * whoever approves it is to know. What helped since is no warning, and what may not be told in this incident's thread is not.
 */
export async function withTriedBefore(
  deps: Pick<GateDeps, 'sql' | 'audiences' | 'log'>,
  incidentId: IncidentId,
  system: string,
  drafts: readonly Drafted[],
): Promise<readonly Drafted[]> {
  const { audiences } = deps;
  if (audiences === undefined) return drafts;
  return Promise.all(
    drafts.map(async (draft) => {
      const says = await howItWent({ ...deps, audiences }, incidentId, system, draft.plan);
      if (says === null) return draft;
      return {
        ...draft,
        plan: { ...draft.plan, preflight: [`${TRIED_BEFORE}${says}`, ...draft.plan.preflight] },
      };
    }),
  );
}

/** Null: it was not done there, or helped the last time. */
async function howItWent(
  deps: Pick<GateDeps, 'sql' | 'log'> & { readonly audiences: NonNullable<GateDeps['audiences']> },
  incidentId: IncidentId,
  system: string,
  { tool, target, input, objects }: Drafted['plan'],
): Promise<string | null> {
  const { sql } = deps;
  // What ends by itself, a session, is never the same thing again: then it is the same act where the application is.
  const applications = applicationKeys(objects);
  const rows = await sql<{ incidentId: IncidentId; success: boolean }>`
    SELECT a.incident_id AS "incidentId", e.success FROM action a JOIN episode e ON e.action_id = a.id
     WHERE a.tool = ${tool} AND a.target = ${target} AND a.identity = ${system} AND a.incident_id <> ${incidentId}
       AND e.success IS NOT NULL AND e.archived_at IS NULL
       AND (a.input = ${sql.json(input)} OR a.object_keys && ${sql.array([...applications])}::text[])
     ORDER BY a.proposed_at DESC LIMIT ${MOST}`;
  const told = await toldOf(deps, incidentId, [...new Set(rows.map((row) => row.incidentId))]);
  const known = rows.filter((row) => told.ids.has(row.incidentId));
  const [last] = known;
  if (last === undefined || last.success) return null;
  const helped = known.filter(({ success }) => success).length;
  const before = helped === 0 ? '' : ` Before that it helped ${formatTimes(helped)}.`;
  return `it did not help in ${last.incidentId}.${before}`;
}
