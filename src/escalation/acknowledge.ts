import { type Refusal, refuse } from '../core/errors.ts';
import type { AcknowledgedHow } from '../core/event.ts';
import type { IncidentId } from '../core/ids.ts';
import { isSlackUser } from '../core/is-slack-user.ts';
import { isEnded } from '../core/machine.ts';
import type { Sql, Tx } from '../core/sql.ts';
import type { IncidentRecords } from '../record/record.ts';
import { reachedLevel } from './due-call.ts';
import { type Read, readFacts } from './read-facts.ts';

export interface RecordDeps {
  readonly sql: Sql;
  readonly records: Pick<IncidentRecords, 'append'>;
}

export interface Acknowledgement {
  /** A Slack id, or a person's name at a paging service. */
  readonly by: string;
  readonly how: AcknowledgedHow;
  /** When they did it, ISO 8601; null: now. */
  readonly at: string | null;
  /** The page that was answered at its service: that one knows. */
  readonly there?: {
    readonly pager: string;
    readonly dedupKey: string;
    readonly told: 'acknowledge' | 'resolve';
  };
  /** Who gave it to them. */
  readonly assignedBy?: string;
}

export type Said = { readonly ok: true; readonly text: string } | Refusal;

/** *I have it*. Whoever says it later takes it over. */
export async function takeIncident(deps: RecordDeps, id: IncidentId, by: string): Promise<Said> {
  return deps.sql.begin(async (tx) => {
    const read = await readFacts(tx, id);
    const no = whyNotTake(read, id);
    if (no || !read) return no ?? unknown(id);
    const { row, facts } = read;
    if (facts.acknowledged?.holds && row.acknowledged_by === by)
      return { ok: true, text: `You have ${id} already.` };
    await acknowledgeIn(tx, deps, read, { by, how: 'taken', at: null });
    return { ok: true, text: `You have ${id}. Nobody else is called.` };
  });
}

/** It is somebody's because another one says so: the thread tells them. */
export async function assignIncident(
  deps: RecordDeps,
  id: IncidentId,
  to: string,
  by: string,
): Promise<Said> {
  return deps.sql.begin(async (tx) => {
    const read = await readFacts(tx, id);
    const no = whyNotTake(read, id);
    if (no || !read) return no ?? unknown(id);
    const { row, facts } = read;
    if (facts.acknowledged?.holds && row.acknowledged_by === to)
      return { ok: true, text: `<@${to}> has ${id} already.` };
    await acknowledgeIn(tx, deps, read, { by: to, how: 'taken', at: null, assignedBy: by });
    return { ok: true, text: `<@${to}> has ${id} now, and is told in its thread.` };
  });
}

function whyNotTake(read: Read | null, id: IncidentId): Refusal | null {
  if (!read) return unknown(id);
  if (isEnded(read.incident.state)) return refuse('ENDED', `${id} is over. Nobody is called for it.`);
  return null;
}

const unknown = (id: IncidentId): Refusal => refuse('UNKNOWN_INCIDENT', `There is no ${id}.`);

/** Whoever has it gives it back: people are called again from now on. */
export async function releaseIncident(deps: RecordDeps, id: IncidentId, by: string): Promise<Said> {
  return deps.sql.begin(async (tx) => {
    const read = await readFacts(tx, id);
    const no = whyNotTake(read, id);
    if (no || !read) return no ?? unknown(id);
    if (!read.facts.acknowledged) return refuse('NOBODY_HAS_IT', `Nobody has ${id}.`);
    await tx`
      UPDATE escalation SET acknowledged_by = NULL, acknowledged_at = NULL, holds = false, hurried = 0,
             released_at = clock_timestamp(), next_at = clock_timestamp() WHERE incident_id = ${id}`;
    await deps.records.append(tx, id, { type: 'incident.released', by });
    return { ok: true, text: `${id} is given back. Whoever is on call is called again.` };
  });
}

/** *Page now*: the next level that pages is called at once, whatever the hour. */
export async function pageNow(
  deps: RecordDeps,
  id: IncidentId,
  nextPaging: (reached: number) => number | null,
): Promise<Said> {
  return deps.sql.begin(async (tx) => {
    const read = await readFacts(tx, id);
    const no = whyNotTake(read, id);
    if (no || !read) return no ?? unknown(id);
    const { acknowledged } = read.facts;
    if (acknowledged?.holds)
      return refuse('HAS_IT', `${nameOf(read)} has ${id}. Say “/sentry release ${id}” first.`);
    const level = nextPaging(reachedLevel(read.facts));
    if (level === null) return refuse('NOBODY_LEFT', 'Everybody who can be paged has been paged.');
    await tx`UPDATE escalation SET hurried = ${Math.max(read.facts.hurried, level)}, hurried_at = clock_timestamp(),
             next_at = clock_timestamp() WHERE incident_id = ${id}`;
    return { ok: true, text: 'They are paged now.' };
  });
}

const nameOf = ({ row }: Read): string => {
  const by = row.acknowledged_by ?? 'Somebody';
  return isSlackUser(by) ? `<@${by}>` : by;
};

/** With the lock on its row. Pages that are open are told; what is answered at its service knows already. */
export async function acknowledgeIn(
  tx: Tx,
  { records }: Pick<RecordDeps, 'records'>,
  { incident: { id }, facts }: Read,
  { by, how, at, there, assignedBy }: Acknowledgement,
): Promise<void> {
  const holds = how !== 'acted';
  await tx`
    UPDATE escalation SET acknowledged_by = ${by}, acknowledged_at = coalesce(${at}::timestamptz, clock_timestamp()),
           holds = ${holds}, hurried = 0, next_at = clock_timestamp() WHERE incident_id = ${id}`;
  // Nobody was called since: that they are at it is no answer, and goes without saying.
  if (!holds && reachedLevel(facts) === 0) return;
  // Of who has it now, whoever was told before is told again.
  await tx`
    UPDATE escalation_page SET want = 'acknowledge', told = CASE WHEN told = 'acknowledge' THEN 'trigger' ELSE told END,
           next_at = clock_timestamp(), attempts = 0, failing_since = NULL, failed_at = NULL
     WHERE incident_id = ${id} AND want <> 'resolve'
       AND NOT (pager = ${there?.pager ?? ''} AND dedup_key = ${there?.dedupKey ?? ''})`;
  if (there)
    await tx`
      UPDATE escalation_page SET want = ${there.told}, told = ${there.told}, failing_since = NULL, failed_at = NULL
       WHERE incident_id = ${id} AND pager = ${there.pager} AND dedup_key = ${there.dedupKey} AND want <> 'resolve'`;
  await records.append(tx, id, {
    type: 'incident.acknowledged',
    by,
    how,
    ...(there ? { pager: there.pager } : {}),
    ...(assignedBy === undefined ? {} : { assignedBy }),
  });
}
