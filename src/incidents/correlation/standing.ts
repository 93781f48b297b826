import type { ChosenEffort } from '../../core/effort.ts';
import { isResting } from '../../core/effort.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Incident } from '../../core/incident.ts';
import type { Sql, Tx } from '../../core/sql.ts';
import type { AlertFacts } from '../../safety/alert-matcher.ts';
import { chooseEffort } from '../phases/effort.ts';
import type { Side } from './correlate.ts';

/** How an incident stands, as far as it matters for what it is a part of. */
export interface Standing extends Side<IncidentId> {
  readonly mergedInto: IncidentId | null;
  readonly isOver: boolean;
  readonly isMuted: boolean;
  /** Somebody has it, or did something with it. */
  readonly isAcknowledged: boolean;
}

type Row = Pick<
  Incident,
  | 'id'
  | 'target'
  | 'state'
  | 'title'
  | 'alertName'
  | 'severity'
  | 'labels'
  | 'annotations'
  | 'mergedInto'
  | 'mutedBy'
  | 'effort'
> & {
  readonly source: string;
  readonly beganAt: string;
  readonly fires: boolean;
  readonly flaps: boolean;
  readonly acts: boolean;
  readonly isAcknowledged: boolean;
};

/** Those of them that there are, with their rows locked where that is asked. */
export async function readStandings(
  db: Sql | Tx,
  ids: readonly IncidentId[],
  isLocked = false,
): Promise<readonly Standing[]> {
  // By id, as whoever writes to the rows of several incidents does: two of them never wait for each other.
  if (isLocked)
    await db`SELECT FROM incident WHERE id = ANY (${db.array(ids)}::text[]) ORDER BY id COLLATE "C" FOR UPDATE`;
  const rows = await db<Row>`
    SELECT i.id, i.target, i.state, i.title, i.alert_name AS "alertName", i.severity, i.labels, i.annotations, i.source, i.effort,
           i.merged_into AS "mergedInto", i.muted_by AS "mutedBy",
           coalesce(i.fired_again_at, least(i.opened_at, (
             SELECT min(a.starts_at) FROM alert a JOIN alert_state s USING (incident_id, source, fingerprint)
              WHERE a.incident_id = i.id AND s.firing AND a.status = 'firing'))) AS "beganAt",
           i.source_resolved_at IS NULL AND (i.state NOT IN ('ignored', 'resolved') OR i.fired_again_at > i.ended_at) IS TRUE AS fires,
           (i.flapping_until > clock_timestamp()) IS TRUE AS flaps,
           EXISTS (SELECT FROM action o WHERE o.incident_id = i.id AND NOT o.audit_only
                      AND o.state IN ('proposed', 'approved', 'queued', 'started', 'unknown')) AS acts,
           (SELECT c.acknowledged_at > coalesce(c.released_at, '-infinity')
              FROM escalation c WHERE c.incident_id = i.id) IS TRUE AS "isAcknowledged"
      FROM incident i WHERE i.id = ANY (${db.array(ids)}::text[])`;
  return rows.map(standingOf);
}

function standingOf({ beganAt, mutedBy, effort, flaps, mergedInto, ...row }: Row): Standing {
  return {
    ...row,
    beganAt: new Date(beganAt),
    mergedInto,
    isMember: mergedInto !== null,
    isMuted: mutedBy !== null,
    isOver: !row.fires,
    rests: mutedBy !== null || flaps || isResting(effort),
  };
}

/** Whether the policy will have it rest as soon as its turn comes. */
export async function willRest(
  deps: { readonly sql: Sql; readonly effort: (facts: AlertFacts) => Promise<ChosenEffort> },
  incident: Standing,
): Promise<boolean> {
  if (incident.state !== 'open') return false;
  return isResting((await chooseEffort({ deps, incident }))?.effort ?? null);
}
