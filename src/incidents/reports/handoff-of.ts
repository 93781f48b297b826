import type { Denial } from '../../core/denial.ts';
import type { IncidentId } from '../../core/ids.ts';
import type { Incident } from '../../core/incident.ts';
import { hideMerged } from '../../core/merged-with.ts';
import type { Sql } from '../../core/sql.ts';
import type { IncidentRecords } from '../../record/record.ts';
import { type DenialRow, toDenial } from '../../record/rows.ts';
import type { ReadsRecorded } from '../recovery/recovery-series.ts';
import { handoff, type OpenIncident } from './handoff.ts';
import { worstFirst } from './sitrep.ts';

export interface HandoffDeps {
  readonly sql: Sql;
  readonly records: Pick<IncidentRecords, 'list' | 'load' | 'incidents'>;
  readonly read: ReadsRecorded;
  readonly mutedLines: () => Promise<readonly string[]>;
  readonly stoppedLines: () => Promise<readonly string[]>;
}

/** Whether it is told of this incident; what cannot be told is not. */
export type MayTell = (incident: Incident) => Promise<boolean>;

/** So many incidents are looked at, and so many read whole. */
const OPEN = 200;
const WHOLE = 12;
const DENIALS = 100;
/** What a shift is taken for where no schedule says when it began. */
const DAY_MS = 24 * 3_600_000;

/** What to hand over to somebody; `since`: when the shift began that ends, else when those on call now came on. */
export type HandoffOf = (mayTell: MayTell, since?: string) => Promise<string>;

export const createHandoff =
  (deps: HandoffDeps): HandoffOf =>
  async (mayTell, given) => {
    const { sql, records } = deps;
    const now = new Date();
    const since = given ?? (await shiftBegan(sql)) ?? new Date(now.getTime() - DAY_MS).toISOString();
    const open = worstFirst(await filtered(await records.list({ limit: OPEN, open: true }), mayTell));
    const over = await filtered(await records.incidents(await endedOrWaiting(sql, since)), mayTell);
    const closed = over
      .filter(({ endedAt }) => endedAt !== null)
      .toSorted((a, b) => (b.endedAt ?? '').localeCompare(a.endedAt ?? ''));
    const names = new Set([...open, ...over].map(({ id }) => id));
    const load = async ({ id }: Incident) => {
      const record = await records.load(id);
      return record === null ? [] : [hideMerged(record, (other) => names.has(other))];
    };
    const calls = await nextCalls(
      sql,
      open.map(({ id }) => id),
    );
    const opened: OpenIncident[] = [];
    for (const incident of open.slice(0, WHOLE))
      for (const record of await load(incident))
        opened.push({ record, nextCallAt: calls.get(incident.id) ?? null });
    const closedRecords = [];
    for (const incident of closed.slice(0, WHOLE)) closedRecords.push(...(await load(incident)));
    return handoff(
      {
        now,
        since,
        open: opened,
        openCount: open.length,
        closed: closedRecords,
        muted: await deps.mutedLines(),
        stopped: await deps.stoppedLines(),
        denials: await standingDenials(deps, now, mayTell),
      },
      deps.read,
    );
  };

async function filtered(incidents: readonly Incident[], mayTell: MayTell): Promise<readonly Incident[]> {
  const may = await Promise.all(incidents.map(mayTell));
  return incidents.filter((_, at) => may[at]);
}

/** When the last of those on call now came on; null: no schedule tells. */
async function shiftBegan(sql: Sql): Promise<string | null> {
  const [row] = await sql<{ readonly since: string | null }>`SELECT max(changed_at) AS since FROM on_call`;
  return row?.since ?? null;
}

/** What ended since, and what has an action that waits for somebody: a decision, or whether it ran. */
async function endedOrWaiting(sql: Sql, since: string): Promise<readonly IncidentId[]> {
  const ended = await sql<{ readonly id: IncidentId }>`
    SELECT id FROM incident
     WHERE state IN ('ignored', 'resolved') AND details_deleted_at IS NULL AND ended_at >= ${since}::timestamptz
     ORDER BY ended_at DESC LIMIT ${OPEN}`;
  const waiting = await sql<{ readonly id: IncidentId; readonly state: string }>`
    SELECT incident_id AS id, state FROM action WHERE state IN ('started', 'unknown') LIMIT ${OPEN}`;
  const asked = await sql<{ readonly id: IncidentId; readonly state: string }>`
    SELECT incident_id AS id, state FROM action WHERE state IN ('proposed', 'approved', 'started') LIMIT ${OPEN}`;
  const matters = [...waiting, ...asked].filter(({ state }) => state === 'unknown' || state === 'proposed');
  return [...new Set([...matters, ...ended].map(({ id }) => id))];
}

/** When somebody is called for them unless somebody takes them. */
export async function nextCalls(
  sql: Sql,
  ids: readonly IncidentId[],
): Promise<ReadonlyMap<IncidentId, string>> {
  if (ids.length === 0) return new Map();
  const rows = await sql<{ readonly id: IncidentId; readonly at: string }>`
    SELECT incident_id AS id, next_at AS at FROM escalation
     WHERE incident_id = ANY (${sql.array([...ids])}::text[]) AND next_at IS NOT NULL`;
  return new Map(rows.map(({ id, at }) => [id, at]));
}

/** Where it may be told of the incident in which it was said. */
async function standingDenials(
  { sql, records }: HandoffDeps,
  now: Date,
  mayTell: MayTell,
): Promise<readonly Denial[]> {
  const rows = await sql<DenialRow>`
    SELECT * FROM denial WHERE taken_back_at IS NULL ORDER BY said_at DESC LIMIT ${DENIALS}`;
  const standing = rows
    .map(toDenial)
    .filter(
      ({ scope, until }) => scope !== 'action' && (until === null || Date.parse(until) > now.getTime()),
    );
  const of = await records.incidents([...new Set(standing.map(({ incidentId }) => incidentId))]);
  const may = new Set((await filtered(of, mayTell)).map(({ id }) => id));
  return standing.filter(({ incidentId }) => may.has(incidentId));
}
