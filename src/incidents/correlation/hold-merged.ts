import { sharedChange, suspectsOf } from '../../changes/read-changes.ts';
import { severities } from '../../core/alert.ts';
import type { ChosenEffort } from '../../core/effort.ts';
import type { IncidentId } from '../../core/ids.ts';
import { isEnded } from '../../core/machine.ts';
import type { MergeReason } from '../../core/merge.ts';
import type { Sql, Tx } from '../../core/sql.ts';
import type { IncidentRecords } from '../../record/record.ts';
import type { AlertFacts } from '../../safety/alert-matcher.ts';
import { tellNews } from '../tell-news.ts';
import { changeSubject } from './change-subject.ts';
import { carriesChange, correlate, mayLead, mayRest, type Neighbour } from './correlate.ts';
import { letGo } from './let-go.ts';
import { readStandings, type Standing, willRest } from './standing.ts';
import { relatedTo, topologyOf } from './topology.ts';

export interface HoldDeps {
  readonly sql: Sql;
  readonly records: Pick<IncidentRecords, 'append'>;
  /** How much is done about an alert: what will rest by itself is put under nothing. */
  readonly effort: (facts: AlertFacts) => Promise<ChosenEffort>;
  /** As they are configured now. */
  readonly systems: () => Iterable<Neighbour>;
  /** Two incidents of different systems that begin within so long of each other may be one problem. Null: none is merged by itself. */
  readonly windowMs: number | null;
  /** Whether whoever may read the one may read the other. */
  readonly isForSame: (a: IncidentId, b: IncidentId) => Promise<boolean>;
}

/** The reason of a turn that looks whether an incident rests under another; it is in prisma/migrations, too. */
const LEAD_TURN = 'lead moves';
/** So many others are looked at, the newest. */
const LOOKED_AT = 50;

/** Has those of them rest that are a part of another, lets go on what need not any more, and answers which rest. */
export async function holdMerged(
  deps: HoldDeps,
  ids: readonly IncidentId[],
): Promise<ReadonlySet<IncidentId>> {
  const held = new Set<IncidentId>();
  if (ids.length === 0) return held;
  for (const one of await readStandings(deps.sql, ids))
    if (one.mergedInto === null ? await seekLead(deps, one) : await staysUnder(deps, one, one.mergedInto))
      held.add(one.id);
  return held;
}

/** Whoever decides waits for who does, before they lock a row: of two at once none is put under what is being put under it. */
export async function decideAlone(tx: Tx): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock(hashtextextended('correlation', 0))`;
}

/** In a transaction that decides alone. */
export async function putUnder(
  tx: Tx,
  { records }: Pick<HoldDeps, 'records'>,
  [child, lead]: readonly [IncidentId, IncidentId],
  because: MergeReason,
): Promise<'merged' | 'cycle' | 'lost'> {
  const [cycle] = await tx`
    WITH RECURSIVE above(id) AS (
      SELECT ${lead}::text UNION SELECT (SELECT i.merged_into FROM incident i WHERE i.id = a.id) FROM above a WHERE a.id IS NOT NULL)
    SELECT FROM above WHERE id = ${child}`;
  if (cycle) return 'cycle';
  const now = await readStandings(tx, [child, lead], true);
  const [one, other] = [now.find(({ id }) => id === child), now.find(({ id }) => id === lead)];
  if (!one || !other || one.isMember || !one.fires || !mayRest(one) || !mayLead(other)) return 'lost';
  if (because.kind !== 'person' && callsAgain(one, other)) return 'lost';
  // It is worse than when that was decided.
  if (one.severity === 'critical' && isOneWord(because)) return 'lost';
  await tx`UPDATE incident SET merged_into = ${lead}, next_step = NULL WHERE id = ${child}`;
  await raise(tx, lead, one);
  await records.append(tx, child, { type: 'incident.merged', into: lead, because });
  await records.append(tx, lead, { type: 'member.merged', incident: child, because });
  await tellNews(tx, [lead]);
  return 'merged';
}

/** It is worse than what people know of the other, which they have seen: there nobody would be called for it. */
const callsAgain = (one: Standing, lead: Standing): boolean =>
  lead.isAcknowledged && severities.indexOf(one.severity) < severities.indexOf(lead.severity);

/** What leads is called for as the worst of what it leads. */
async function raise(db: Sql | Tx, lead: IncidentId, { severity }: Standing): Promise<void> {
  await db`
    UPDATE incident SET severity = sentry_worse_severity(severity, ${severity}), updated_at = clock_timestamp()
     WHERE id = ${lead} AND severity <> sentry_worse_severity(severity, ${severity})`;
}

/** True: it rests on. What is over ends as it does on its own, under whatever it rests. */
async function staysUnder(deps: HoldDeps, { id, isOver }: Standing, leadId: IncidentId): Promise<boolean> {
  if (isOver) return true;
  return deps.sql.begin(async (tx) => {
    await decideAlone(tx);
    const now = await readStandings(tx, [id, leadId], true);
    const [child, lead] = [now.find((one) => one.id === id), now.find((one) => one.id === leadId)];
    if (child?.mergedInto !== leadId) return child?.isMember ?? false;
    // One that fires again after its end is looked into afresh, where people see it.
    const mayStay = child.severity !== 'critical' || !(await restsByOneWord(tx, id));
    if (lead && mayLead(lead) && mayStay && !isEnded(child.state) && !callsAgain(child, lead)) {
      await raise(tx, leadId, child);
      return true;
    }
    await letGo(tx, deps, [id, leadId], null);
    await tx`UPDATE incident SET next_step = ${goesOn(leadId, lead)} WHERE id = ${id}`;
    return false;
  });
}

/** Nothing but one sender's word of a change says that they are one problem. */
const isOneWord = (because: MergeReason): boolean => because.kind === 'change' && !because.isTrusted;

async function restsByOneWord(tx: Tx, id: IncidentId): Promise<boolean> {
  const [last] = await tx<{ because: MergeReason }>`
    SELECT body->'because' AS because FROM event
     WHERE incident_id = ${id} AND type = 'incident.merged' ORDER BY seq DESC LIMIT 1`;
  return last ? isOneWord(last.because) : false;
}

function goesOn(leadId: IncidentId, lead: Standing | undefined): string {
  if (lead && mayLead(lead)) return 'I look into it by itself.';
  return `${leadId} ${lead && isEnded(lead.state) ? 'is over' : 'waits'}, and this still fires: I look into it by itself.`;
}

/** True: it rests under another from now on. */
async function seekLead(deps: HoldDeps, one: Standing): Promise<boolean> {
  const found = (await related(deps, one)).toSorted((a, b) => rankOf(a) - rankOf(b));
  for (const { child, lead, because } of found) {
    if (child !== one.id) {
      // It came before what it stands on: its own turn puts it under this.
      await deps.sql`SELECT sentry_enqueue_turn(${child}, ${LEAD_TURN}, 0)`;
      continue;
    }
    const outcome = await deps.sql.begin(async (tx) => {
      await decideAlone(tx);
      return putUnder(tx, deps, [child, lead], because);
    });
    if (outcome === 'merged') return true;
  }
  return false;
}

interface Pair {
  readonly child: IncidentId;
  readonly lead: IncidentId;
  readonly because: MergeReason;
}

/** What it stands on comes before what changed. */
const rankOf = ({ because }: Pair): number => (because.kind === 'neighbour' ? 0 : 1);

async function related(deps: HoldDeps, one: Standing): Promise<readonly Pair[]> {
  const { windowMs } = deps;
  if (windowMs === null || one.source === 'hand' || !one.fires || !(mayLead(one) || mayRest(one))) return [];
  const topology = topologyOf(deps.systems());
  const subjectOf = (standing: Standing) => changeSubject(standing, topology);
  // Also those that an earlier one of the same window may have followed.
  const suspects = await suspectsOf(deps.sql, subjectOf(one), windowMs);
  const pairs: Pair[] = [];
  for (const other of await candidates(deps, one, windowMs, suspects.length > 0 || carriesChange(one))) {
    const change = sharedChange(suspects, subjectOf(one), subjectOf(other));
    const decided = correlate(one, other, topology, change, windowMs);
    if (decided.kind !== 'merge') continue;
    // Of one that is to rest under this its own turn asks the rest.
    if (decided.child !== one.id || (await mayBeOne(deps, one, other))) pairs.push(decided);
  }
  return pairs;
}

async function mayBeOne(deps: HoldDeps, one: Standing, other: Standing): Promise<boolean> {
  if ((await willRest(deps, one)) || (await willRest(deps, other))) return false;
  return deps.isForSame(one.id, other.id);
}

/**
 * Those of related systems, and where a change may tell, the newest of others. What was put apart from it once, by a person or because
 * what led was over, is not put together again by itself.
 */
async function candidates(
  deps: HoldDeps,
  one: Standing,
  windowMs: number,
  isChanged: boolean,
): Promise<readonly Standing[]> {
  const near = one.target === null ? [] : relatedTo(one.target, deps.systems());
  // In a storm of what has to do with nothing, nothing is looked for.
  if (near.length === 0 && !isChanged) return [];
  const rows = await deps.sql<{ id: IncidentId }>`
    WITH others AS (
      (SELECT its.id FROM unnest(${deps.sql.array([...near])}::text[]) AS system(name) CROSS JOIN LATERAL (
         SELECT id FROM incident
          WHERE target = system.name AND state NOT IN ('ignored', 'resolved')
            AND opened_at > clock_timestamp() - interval '7 days'
          ORDER BY opened_at DESC LIMIT ${LOOKED_AT}) AS its)
      UNION
      (SELECT id FROM incident
        WHERE ${isChanged} AND state NOT IN ('ignored', 'resolved') AND opened_at > ${new Date(one.beganAt.getTime() - windowMs).toISOString()}
          AND target IS DISTINCT FROM ${one.target}
        ORDER BY opened_at DESC LIMIT ${LOOKED_AT}))
    SELECT id FROM others WHERE id <> ${one.id} AND id NOT IN (
      SELECT coalesce(body->>'from', body->>'incident') FROM event
       WHERE incident_id = ${one.id} AND type IN ('incident.split', 'member.split'))`;
  return readStandings(
    deps.sql,
    rows.map(({ id }) => id),
  );
}
