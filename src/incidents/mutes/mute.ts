import { count } from '../../core/count.ts';
import type { Sql, Tx } from '../../core/sql.ts';
import { formatSetter } from '../../core/switch-scope.ts';
import { minute } from '../../safety/kill-switch/kill-switch.ts';

/** Alerts that a matcher fits wait from `begunAt` to `until`. Times are ISO 8601, by the database's clock. */
export interface Mute {
  /** `M3`. */
  readonly id: string;
  readonly matcher: string;
  /** A Slack user id, who used the command line, or `maintenance`. */
  readonly by: string;
  readonly reason: string;
  readonly begunAt: string;
  readonly until: string;
  /** Who ended it before its time; null: nobody. */
  readonly endedBy: string | null;
  /** When what it held back went on; null: not yet. */
  readonly closedAt: string | null;
  /** Alerts that came while it held, and of how many incidents. */
  readonly alerts: number;
  readonly incidents: number;
  /** Incidents of it that still fire; once closed, that did then. */
  readonly firing: number;
}

/** Who mutes by `sentry.yaml`. */
export const BY_MAINTENANCE = 'maintenance';

/** Of those that are not closed, the counts are as of now. */
async function read(db: Sql | Tx, ids: readonly string[]): Promise<readonly Mute[]> {
  return db<Mute>`
    SELECT m.id, m.matcher, m.by, m.reason, m.begun_at AS "begunAt", m.until, m.ended_by AS "endedBy", m.closed_at AS "closedAt",
           coalesce(n.alerts, m.alerts)::int AS alerts, coalesce(n.incidents, m.incidents)::int AS incidents,
           coalesce(n.firing, m.firing)::int AS firing
      FROM mute m LEFT JOIN LATERAL (
        SELECT count(*) AS incidents, count(*) FILTER (WHERE i.source_resolved_at IS NULL
                 AND (i.state NOT IN ('ignored', 'resolved') OR i.fired_again_at > i.ended_at)) AS firing,
               coalesce(sum((SELECT count(*) FROM alert a WHERE a.incident_id = i.id AND a.status = 'firing'
                               AND a.received_at >= m.begun_at)), 0) AS alerts
          FROM incident i WHERE i.muted_by = m.id) n ON m.closed_at IS NULL
     WHERE m.id = ANY (${db.array(ids)}::text[])
     ORDER BY m.until, m.id`;
}

export async function readMute(db: Sql | Tx, id: string): Promise<Mute | null> {
  return (await read(db, [id]))[0] ?? null;
}

/** Those whose alerts still wait, the first to end first. */
export async function openMutes(db: Sql | Tx): Promise<readonly Mute[]> {
  const open = await db<Pick<Mute, 'id'>>`SELECT id FROM mute WHERE closed_at IS NULL`;
  return open.length === 0
    ? []
    : read(
        db,
        open.map(({ id }) => id),
      );
}

/** `M3: alertname="DiskFull" until 2026-11-22 14:00 UTC, by <@U1>: deploying. 12 alerts of 3 incidents wait, 2 still fire.` */
export function formatMute(mute: Mute): string {
  const { id, matcher, by, reason, until } = mute;
  return `${id}: ${matcher} until ${minute(until)}, by ${formatSetter(by)}${reason ? `: ${reason}` : ''}. ${waiting(mute)}`;
}

function waiting({ alerts, incidents, firing }: Mute): string {
  if (incidents === 0) return 'Nothing has come yet.';
  return `${count(alerts, 'alert')} of ${count(incidents, 'incident')}, ${firing} still firing.`;
}

/** What came of it, said at its end. */
export function formatMuteEnd({ alerts, incidents, firing }: Mute): string {
  if (incidents === 0) return 'No alert came.';
  const came = `${count(alerts, 'alert')} of ${count(incidents, 'incident')} came`;
  if (firing === 0) return `${came}, and all are over.`;
  return `${came}, ${firing} still ${firing === 1 ? 'fires' : 'fire'}: opening ${firing === 1 ? 'it' : 'them'}.`;
}

/** What other programs are told of one that stands. */
export function summaryOfMute(mute: Mute): Omit<Mute, 'endedBy' | 'closedAt'> {
  const { id, matcher, by, reason, begunAt, until, alerts, incidents, firing } = mute;
  return { id, matcher, by, reason, begunAt, until, alerts, incidents, firing };
}
