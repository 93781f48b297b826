import type { IncidentEventBody } from '../core/event.ts';
import type { IncidentId } from '../core/ids.ts';
import { isEnded } from '../core/machine.ts';
import { formatPageKey } from '../core/page-key.ts';
import type { Tx } from '../core/sql.ts';
import { outwardText } from '../safety/screen/boundary.ts';
import { acknowledgeIn, type RecordDeps } from './acknowledge.ts';
import { type Due, type DueCall, dueCall } from './due-call.ts';
import { callSentence } from './format-call.ts';
import type { Ladder } from './ladder.ts';
import { type Read, readFacts } from './read-facts.ts';
import type { Callees } from './who-to-call.ts';

/** Who was found for a call before it is made. */
export interface Found {
  readonly call: DueCall;
  readonly who: Callees;
}

/** `find`: who is to be called has to be found out first. `again`: it was made, and another may follow. */
export type Settled =
  | { readonly kind: 'find'; readonly call: DueCall; readonly holder: string | null }
  | { readonly kind: 'again' }
  | { readonly kind: 'settled' };

/** Longer than it takes to find out who is on call. */
const TRY_AGAIN_MS = 30_000;

/**
 * Brings what is on record about calls to what the record says now, in one transaction with the lock on the incident's row: who
 * has it, which pages are to be closed, and the call that is due. Two processes, or a replay, make a call once.
 */
export async function settleCall(
  deps: RecordDeps & { readonly ladder: Ladder },
  id: IncidentId,
  found: Found | null,
): Promise<Settled> {
  return deps.sql.begin(async (tx) => {
    const read = await readFacts(tx, id);
    if (!read) return { kind: 'settled' };
    const { incident, act } = read;
    await closePages(tx, read);
    if (act && !isEnded(incident.state)) {
      await acknowledgeIn(tx, deps, read, { by: act.by, how: 'acted', at: act.at });
      return { kind: 'again' };
    }
    const due = dueCall(read.facts, deps.ladder, read.now);
    if (due.call === null || due.call.key !== found?.call.key) {
      await lookAgain(tx, deps, read, due);
      return due.call
        ? { kind: 'find', call: due.call, holder: read.row.acknowledged_by }
        : { kind: 'settled' };
    }
    const isNew = await makeCall(tx, deps, read, found);
    // What is made changes the incident: it is looked at again.
    return isNew ? { kind: 'again' } : { kind: 'settled' };
  });
}

/** What is over, or stopped by a person, has no open page. */
async function closePages(tx: Tx, { incident: { id, state } }: Read): Promise<void> {
  if (!isEnded(state) && state !== 'stopped') return;
  await tx`
    UPDATE escalation_page SET want = 'resolve', next_at = clock_timestamp(), attempts = 0, failing_since = NULL,
           failed_at = NULL
     WHERE incident_id = ${id} AND want <> 'resolve'`;
}

/** A call that is due and not made yet is found again, should this process die before it is. */
async function lookAgain(tx: Tx, { records }: RecordDeps, { incident, now }: Read, due: Due): Promise<void> {
  const next = due.call ? later(now, TRY_AGAIN_MS) : due.lookAt;
  await tx`
    UPDATE escalation SET seen_at = ${incident.version}::timestamptz, seen = ${incident.standing}, looked_at = clock_timestamp(), next_at = ${next?.toISOString() ?? null}
     WHERE incident_id = ${incident.id}`;
  if (due.quietUntil === null) return;
  const until = due.quietUntil.toISOString();
  await records.append(tx, incident.id, { type: 'call.waits', until }, `call waits:${until}`);
}

const later = (at: Date, ms: number): Date => new Date(at.getTime() + ms);

/** False: it was made before. */
async function makeCall(
  tx: Tx,
  { records, ladder }: RecordDeps & { readonly ladder: Ladder },
  { incident: { id, title } }: Read,
  { call: { key, level, reason, pages }, who }: Found,
): Promise<boolean> {
  const made = await tx`
    INSERT INTO escalation_call (incident_id, key, level, reason) VALUES (${id}, ${key}, ${level}, ${reason})
    ON CONFLICT (incident_id, key) DO NOTHING RETURNING key`;
  if (made.length === 0) return false;
  const pagers = pages ? (ladder.levels[level - 1]?.page ?? []) : [];
  const said = outwardText(`${id}: ${title}`);
  // Of a page that was taken or closed since, the service is told as of a new one.
  for (const pager of pagers)
    await tx`
      INSERT INTO escalation_page (incident_id, level, pager, dedup_key, summary, reason, want)
      VALUES (${id}, ${level}, ${pager}, ${formatPageKey({ incidentId: id, level })}, ${said}, ${callSentence(reason)}, 'trigger')
      ON CONFLICT (incident_id, level, pager) DO UPDATE SET want = 'trigger', reason = EXCLUDED.reason,
        told = CASE WHEN escalation_page.want = 'trigger' OR escalation_page.told = 'resolve' OR escalation_page.tried_at IS NULL
                    THEN escalation_page.told ELSE 'acknowledge' END,
        summary = EXCLUDED.summary, asked_at = clock_timestamp(), next_at = clock_timestamp(), attempts = 0,
        failing_since = NULL, failed_at = NULL`;
  const { groups, ...rest } = who;
  const unknown = groups.length > 0 ? { groups } : {};
  const event: IncidentEventBody = { type: 'person.called', level, reason, pagers, ...rest, ...unknown };
  await records.append(tx, id, event, `called:${key}`);
  return true;
}
