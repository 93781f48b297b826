import type { Severity } from '../../core/alert.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Sql, Tx } from '../../core/sql.ts';
import type { IncidentRecords } from '../../record/record.ts';
import { type AlertFacts, type AlertMatcher, mayQuieten, wholeMatcher } from '../../safety/alert-matcher.ts';
import { alertFacts, factsOf } from '../alert-facts.ts';

/** What is needed to have an incident wait. */
export interface HoldDeps {
  readonly sql: Sql;
  readonly records: Pick<IncidentRecords, 'append'>;
}

interface ActiveMute {
  readonly id: string;
  readonly matcher: string;
  readonly by: string;
  readonly reason: string;
  readonly begunAt: string;
  readonly until: string;
  readonly fits: AlertMatcher;
}

interface Candidate {
  readonly id: IncidentId;
  readonly severity: Severity;
  readonly target: string | null;
  readonly alertName: string | null;
  readonly source: string;
  readonly title: string;
  readonly labels: AlertFacts['labels'];
  readonly mutedBy: string | null;
  /** One alert opened it, and none has come since. */
  readonly isAlone: boolean;
  /** Whether it began, or fires again, since the mute's begin: what was open before goes on. */
  readonly since: string;
}

/**
 * Has those of the incidents wait that a mute is for, and answers which of them wait now. An incident waits when all of its alerts that
 * fire fit one mute, and it began after the mute; what was open before goes on.
 */
export async function holdMuted(
  deps: HoldDeps,
  ids: readonly IncidentId[],
): Promise<ReadonlySet<IncidentId>> {
  const active = await activeMutes(deps.sql);
  const held = new Set<IncidentId>();
  if (active.length === 0 || ids.length === 0) return held;
  const rows = await candidates(deps.sql, ids);
  // What opened it says enough of one alert: most need no transaction of their own.
  const fits = (row: Candidate): boolean =>
    active.some((mute) => mayHold(mute, row) && (!row.isAlone || mayQuieten(mute.fits, factsOf(row, row))));
  for (const { id } of rows.filter(fits)) if (await deps.sql.begin((tx) => hold(tx, deps, id))) held.add(id);
  return held;
}

/** With the incident's row: whoever adds an alert comes before it, or sees what it says (`sentry_alert_joins_muted`). */
async function hold(tx: Tx, { records }: HoldDeps, id: IncidentId): Promise<boolean> {
  const [row] = await candidates(tx, [id], true);
  if (!row) return false;
  const facts = await alertFacts(tx, row);
  // The one that ends last, so that it changes hands least.
  for (const mute of await activeMutes(tx)) {
    if (!mayHold(mute, row) || !facts.every((each) => mayQuieten(mute.fits, each))) continue;
    if (row.mutedBy === mute.id) return true;
    // Whoever closes it waits for this, and then finds the incident among its own.
    const [open] = await tx`
      SELECT 1 FROM mute WHERE id = ${mute.id} AND closed_at IS NULL AND until > clock_timestamp() FOR SHARE`;
    if (!open) continue;
    await tx`UPDATE incident SET muted_by = ${mute.id} WHERE id = ${id}`;
    const { matcher, by, reason, until } = mute;
    await records.append(tx, id, { type: 'incident.muted', mute: mute.id, by, matcher, reason, until });
    return true;
  }
  return false;
}

const mayHold = ({ begunAt }: ActiveMute, { since }: Candidate): boolean =>
  Date.parse(begunAt) <= Date.parse(since);

/** The last to end first. */
async function activeMutes(db: Sql | Tx): Promise<readonly ActiveMute[]> {
  const rows = await db<Omit<ActiveMute, 'fits'>>`
    SELECT id, matcher, by, reason, begun_at AS "begunAt", until FROM mute
     WHERE closed_at IS NULL AND until > clock_timestamp() ORDER BY until DESC, id`;
  return rows.flatMap((row) => {
    const read = wholeMatcher(row.matcher);
    return read.ok ? [{ ...row, fits: read.matcher }] : [];
  });
}

/** What a person has opened is not for a mute. One that is over may wait again once it fires again. */
async function candidates(
  db: Sql | Tx,
  ids: readonly IncidentId[],
  isLocked = false,
): Promise<readonly Candidate[]> {
  if (isLocked) await db`SELECT 1 FROM incident WHERE id = ANY (${db.array(ids)}::text[]) FOR UPDATE`;
  return db<Candidate>`
    SELECT id, severity, target, alert_name AS "alertName", source, title, labels, muted_by AS "mutedBy",
           state = 'open' AND NOT EXISTS (SELECT FROM alert a WHERE a.incident_id = incident.id OFFSET 1) AS "isAlone",
           CASE state WHEN 'open' THEN opened_at ELSE fired_again_at END AS since
      FROM incident WHERE id = ANY (${db.array(ids)}::text[]) AND source <> 'hand'
       AND (state = 'open' OR state = 'resolved' AND fired_again_at > ended_at)`;
}

/** The incident goes on: nothing mutes it any more. Only its turn does this, which goes on with it. One that ended unseen stays so. */
export async function releaseMuted({ sql, records }: HoldDeps, id: IncidentId): Promise<void> {
  await sql.begin(async (tx) => {
    const [row] = await tx<{ readonly mutedBy: string | null }>`
      SELECT muted_by AS "mutedBy" FROM incident
       WHERE id = ${id} AND (state = 'open' OR state = 'resolved' AND fired_again_at > ended_at) FOR UPDATE`;
    if (!row || row.mutedBy === null) return;
    await tx`UPDATE incident SET muted_by = NULL WHERE id = ${id}`;
    await records.append(tx, id, { type: 'incident.unmuted', mute: row.mutedBy });
  });
}
