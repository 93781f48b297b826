import { judgeChanges } from '../changes/judge-changes.ts';
import { isMadeFor } from '../changes/made-for.ts';
import { WIDEST } from '../changes/read-changes.ts';
import { type Change, namesOf } from '../core/change.ts';
import type { IncidentId } from '../core/ids.ts';
import type { Incident } from '../core/incident.ts';
import type { Tx } from '../core/sql.ts';
import type { Target } from '../core/target.ts';
import type { IncidentRecords } from '../record/record.ts';
import { type IncidentRow, toIncident } from '../record/rows.ts';
import { changesSubjectOf } from './changes-around.ts';

/** What was changed longer before a problem is no news of it, however late it is told. */
const BEFORE_MS = 2 * 60 * 60_000;
/** So many changes are kept by name for one look: of a storm of them it is enough that there is one. */
const MOST_NAMED = 20;

interface ChangeDeps {
  readonly records: Pick<IncidentRecords, 'append'>;
  readonly targets: ReadonlyMap<string, Target>;
}

/** What is told of incidents has them looked at once more, by the transaction that records it; see phases/look-again.ts. */
export async function tellNews(tx: Tx, ids: readonly IncidentId[]): Promise<void> {
  await tx`SELECT sentry_tell_news(${tx.array([...ids])}::text[])`;
}

/** A change of the very thing that an open incident is about, and that was not made for it, is news of it. */
export async function tellChange(tx: Tx, deps: ChangeDeps, change: Change): Promise<void> {
  if (change.state === 'failed' || change.where.length > WIDEST) return;
  for (const { id } of await touchedBy(tx, deps, change)) {
    const { source, title } = change;
    const event = { type: 'change.told', source, change: change.id, title } as const;
    const isNamed = await hasRoom(tx, id);
    const key = `change:${source} ${change.id} ${change.state}`;
    if (!isNamed || (await deps.records.append(tx, id, event, key))) await tellNews(tx, [id]);
  }
}

/** In one order: two changes at one moment must not wait for each other. */
async function touchedBy(tx: Tx, { targets }: ChangeDeps, change: Change): Promise<readonly Incident[]> {
  const names = namesOf(change.where);
  const called = [...targets.values()].flatMap(({ name, aliases }) =>
    namesOf([name, ...aliases]).some((each) => names.includes(each)) ? [name] : [],
  );
  const rows = await tx<IncidentRow>`
    SELECT * FROM incident
     WHERE state IN ('diagnosing', 'planning', 'awaiting_approval', 'reported', 'escalated', 'stopped')
       AND state NOT IN ('ignored', 'resolved') AND opened_at > statement_timestamp() - interval '7 days'
       AND (target = ANY (${tx.array(called)}::text[])
            OR EXISTS (SELECT FROM jsonb_each_text(labels) AS l WHERE lower(l.value) = ANY (${tx.array([...names])}::text[])))
     ORDER BY id COLLATE "C"`;
  return rows.map(toIncident).filter((incident) => touches(incident, change, targets));
}

function touches(incident: Incident, change: Change, targets: ReadonlyMap<string, Target>): boolean {
  const subject = changesSubjectOf({ incident, alerts: [], events: [] }, targets);
  if (isMadeFor(change, incident.id) || Date.parse(change.at) < Date.parse(subject.beganAt) - BEFORE_MS)
    return false;
  const { at } = change;
  const { suspects, afterwards } = judgeChanges(subject, {
    from: at,
    to: at,
    changes: [change],
    inAll: 1,
    looked: [],
    couldNotLook: [],
  });
  return [...suspects, ...afterwards].some((each) => each.touches === 'it');
}

async function hasRoom(tx: Tx, id: IncidentId): Promise<boolean> {
  const [row] = await tx<{ readonly n: number }>`
    SELECT count(*)::int AS n FROM event e
     WHERE e.incident_id = ${id} AND e.type = 'change.told'
       AND e.seq > coalesce((SELECT max(l.seq) FROM event l WHERE l.incident_id = ${id} AND l.type = 'incident.looked'), 0)`;
  return (row?.n ?? 0) < MOST_NAMED;
}
