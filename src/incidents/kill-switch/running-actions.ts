import { setTimeout as sleep } from 'node:timers/promises';
import type { ActionId, IncidentId } from '../../core/ids.ts';
import type { Sql, Tx } from '../../core/sql.ts';
import type { Target } from '../../core/target.ts';
import { namesOfSame } from '../../safety/kill-switch/target-identity.ts';

const POLL_MS = 50;

type Targets = ReadonlyMap<string, Pick<Target, 'domain'>>;

/** A mutation that had been claimed when the switch was set: it could still take effect. */
export interface RunningAction {
  readonly actionId: ActionId;
  readonly incidentId: IncidentId;
  readonly target: string;
  readonly command: string;
  /** How it stands: `started` while it runs; when *Stop* has answered, how it ended. */
  readonly state: string;
}

/** By all their names; null: every target. A target that is no longer configured belongs to every domain: rather one too many. */
export async function targetsIn(
  db: Sql | Tx,
  targets: Targets,
  scope: string,
): Promise<readonly string[] | null> {
  const name = targetIn(scope);
  if (name !== null) return namesOfSame(db, [name]);
  if (!scope.startsWith('domain:')) return null;
  const domain = scope.slice('domain:'.length);
  return namesOfSame(
    db,
    [...targets].filter(([, target]) => target.domain === domain).map(([each]) => each),
  );
}

export const targetIn = (scope: string): string | null =>
  scope.startsWith('target:') ? scope.slice('target:'.length) : null;

/** What has been claimed in the scope and could still take effect. */
export async function runningIn(
  sql: Sql,
  targets: Targets,
  scope: string,
): Promise<readonly RunningAction[]> {
  const names = await targetsIn(sql, targets, scope);
  const rows = await sql<RunningAction>`
    SELECT id AS "actionId", incident_id AS "incidentId", target, command, state FROM action
     WHERE state IN ('started', 'unknown') AND done_by > clock_timestamp() ORDER BY started_at`;
  return rows.filter(({ target }) => names === null || names.includes(target) || !targets.has(target));
}

/** Waits until none of them may take effect any more, and says how each ended. `unknown` before its time is up: its run was given up, not ended. */
export async function untilSettled(
  sql: Sql,
  actions: readonly RunningAction[],
): Promise<readonly RunningAction[]> {
  const ids = actions.map((action) => action.actionId);
  for (;;) {
    const rows = await sql<RunningAction & { underWay: boolean | null }>`
      SELECT id AS "actionId", incident_id AS "incidentId", target, command, state,
             state IN ('started', 'unknown') AND done_by > clock_timestamp() AS "underWay"
        FROM action WHERE id = ANY (${sql.array(ids)}::text[]) ORDER BY started_at`;
    const settled = rows.flatMap(({ underWay, ...action }) => (underWay ? [] : [action]));
    if (settled.length === rows.length) return settled;
    await sleep(POLL_MS);
  }
}
