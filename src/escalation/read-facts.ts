import { isResting } from '../core/effort.ts';
import type { IncidentId } from '../core/ids.ts';
import { isSlackUser } from '../core/is-slack-user.ts';
import { restsUnder } from '../core/machine.ts';
import { SILENCE_TOOL } from '../core/silence-tool.ts';
import type { Tx } from '../core/sql.ts';
import type { IncidentRow } from '../record/rows.ts';
import { BEGINS, beginOfRun, comesBack, type SeenEvent } from './begin-of-run.ts';
import type { Facts, Moved } from './due-call.ts';
import type { CallRow, EscalationRow, PageRow } from './rows.ts';

/** So many events of these types are looked through: one that goes to and fro for days has more. */
const EVENTS = 500;

export type KnownIncident = Pick<
  IncidentRow,
  | 'id'
  | 'state'
  | 'title'
  | 'severity'
  | 'target'
  | 'verdict'
  | 'asks_again_at'
  | 'opened_at'
  | 'requesters'
  | 'muted_by'
  | 'merged_into'
  | 'flapping_until'
  | 'effort'
> & {
  readonly source: string;
  /** Its `updated_at`, exactly. */
  readonly version: string;
  /** How it stands, as `dueIncidents` compares it. */
  readonly standing: string;
};

/** What is on record about calls for one incident, and the moment at which it was read. */
export interface Read {
  readonly incident: KnownIncident;
  readonly row: EscalationRow;
  readonly facts: Facts;
  readonly pages: readonly PageRow[];
  /** The last thing that a person did with it, which was not said to be theirs. */
  readonly act: { readonly by: string; readonly at: string } | null;
  readonly now: Date;
}

/** With the lock on its row: whoever acknowledges or calls does so one after the other. Null: there is no such incident. */
export async function readFacts(tx: Tx, id: IncidentId): Promise<Read | null> {
  await tx`
    INSERT INTO escalation (incident_id, since) SELECT id, opened_at FROM incident WHERE id = ${id}
    ON CONFLICT (incident_id) DO NOTHING`;
  const [row] = await tx<EscalationRow>`SELECT * FROM escalation WHERE incident_id = ${id} FOR UPDATE`;
  const [incident] = await tx<KnownIncident & { readonly now: string }>`
    SELECT id, state, title, severity, target, verdict, asks_again_at, opened_at, requesters, source,
           muted_by, merged_into, flapping_until, effort,
           updated_at::text AS version, state || ' ' || severity || ' ' || round AS standing, clock_timestamp() AS now
      FROM incident WHERE id = ${id}`;
  if (!row || !incident) return null;
  const newest = await tx<SeenEvent>`
    SELECT seq, type, at, body->>'from' AS "from", body->>'to' AS "to", body->>'by' AS by FROM event
     WHERE incident_id = ${id} AND type = ANY (${tx.array(TYPES)}::text[]) ORDER BY seq DESC LIMIT ${EVENTS}`;
  const [proposal] = await tx<{ readonly id: string; readonly at: string; readonly expiresAt: string }>`
    SELECT plan_id AS id, proposed_at AS at, expires_at AS "expiresAt" FROM action
     WHERE incident_id = ${id} AND state = 'proposed' AND NOT audit_only AND NOT beside
     ORDER BY proposed_at DESC LIMIT 1`;
  const [silence] = await tx<{ readonly id: string; readonly until: string }>`
    SELECT a.id, coalesce((SELECT u.finished_at FROM action u WHERE u.incident_id = a.incident_id AND u.undoes = a.id AND u.state = 'succeeded'
                            ORDER BY u.finished_at LIMIT 1),
                          a.finished_at + (a.input->>'minutes')::int * interval '1 minute') AS until
      FROM action a WHERE a.incident_id = ${id} AND a.tool = ${SILENCE_TOOL} AND a.state = 'succeeded'
     ORDER BY a.finished_at DESC LIMIT 1`;
  const calls = await tx<CallRow>`
    SELECT key, level, reason, at FROM escalation_call WHERE incident_id = ${id} ORDER BY at`;
  const pages =
    await tx<PageRow>`SELECT * FROM escalation_page WHERE incident_id = ${id} ORDER BY level, pager`;
  const events = newest.toReversed();
  const known = factsOfEvents(incident, row, events);
  return {
    incident,
    row,
    pages,
    act: lastAct(incident, row, known, events),
    now: new Date(incident.now),
    facts: {
      ...known,
      state: incident.state,
      severity: incident.severity,
      needsNobody: needsNobody(incident),
      asksAgain: incident.asks_again_at !== null,
      isDone: incident.verdict === 'done',
      proposal: proposal
        ? { id: proposal.id, at: new Date(proposal.at), expiresAt: new Date(proposal.expiresAt) }
        : null,
      silence: silence ? { id: silence.id, until: new Date(silence.until) } : null,
      made: calls.map(({ key, level, at }) => ({ key, level, at: new Date(at) })),
      undelivered: undeliveredOf(pages),
    },
  };
}

function factsOfEvents(
  { opened_at: openedAt }: KnownIncident,
  {
    since,
    acknowledged_at: at,
    holds,
    released_at: releasedAt,
    hurried,
    hurried_at: hurriedAt,
  }: EscalationRow,
  events: readonly SeenEvent[],
): Pick<Facts, 'run' | 'wasThere' | 'moved' | 'failed' | 'acknowledged' | 'releasedAt' | 'hurried'> {
  const moves = events.filter(({ type }) => type === 'state.changed');
  const begun = beginOfRun(events);
  const began = begun?.at ?? openedAt;
  const run = { seq: begun?.seq ?? 0, at: new Date(latestOf(began, since)) };
  const last = moves.at(-1);
  const failed = moves.findLast(({ from, to }) => from === 'verifying' && to !== 'resolved');
  // Whoever had it before a restore has it after.
  const isOfRun = (iso: string | null, start = began): iso is string =>
    iso !== null && new Date(iso) >= new Date(start);
  // What somebody took while it rested is still theirs.
  const back = events.findLast(comesBack)?.at ?? openedAt;
  return {
    run,
    wasThere: run.at > new Date(began) && !isOfRun(releasedAt),
    moved: last && !isPersons(events, moves) ? movedOf(last) : null,
    failed: failed && isOfRun(failed.at) && failed.to !== 'stopped' ? movedOf(failed) : null,
    acknowledged: isOfRun(at, holds ? back : began) ? { at: new Date(at), holds } : null,
    releasedAt: isOfRun(releasedAt) ? new Date(releasedAt) : null,
    hurried: hurriedAt !== null && new Date(hurriedAt) >= run.at ? hurried : 0,
  };
}

function needsNobody({ state, muted_by, merged_into, flapping_until, effort }: KnownIncident): boolean {
  // Whoever has the one that leads has this.
  if (merged_into !== null && restsUnder(state)) return true;
  if (state === 'open') return muted_by !== null;
  return state === 'reported' && (flapping_until !== null || isResting(effort));
}

const movedOf = ({ seq, at, from }: SeenEvent): Moved => ({ seq, at: new Date(at), from: from ?? 'open' });
const latestOf = (a: string, b: string): string => (new Date(a) > new Date(b) ? a : b);

/** Whether the last move follows from what a person said: they need not be told. */
function isPersons(events: readonly SeenEvent[], moves: readonly SeenEvent[]): boolean {
  const from = moves.at(-2)?.seq ?? 0;
  const to = moves.at(-1)?.seq ?? 0;
  const said = ['action.denied', 'incident.resumed'];
  return events.some(({ seq, type }) => seq > from && seq < to && said.includes(type));
}

/** What somebody who does it has seen the incident for. */
const ACTS = new Set([
  'action.approved',
  'action.seconded',
  'action.denied',
  'action.asked_again',
  'action.edited',
  'denial.taken_back',
  'hint.given',
  'read.asked',
  'investigation.asked',
  'effort.chosen',
  'incident.stopped',
  'incident.resumed',
]);
const TYPES = [...new Set([...BEGINS, ...ACTS])];

function lastAct(
  { source, requesters, opened_at: openedAt }: KnownIncident,
  { acknowledged_at: known, released_at: releasedAt }: EscalationRow,
  { run, acknowledged }: Pick<Facts, 'run' | 'acknowledged'>,
  events: readonly SeenEvent[],
): Read['act'] {
  if (acknowledged?.holds) return null;
  const [opener] = requesters;
  const opened =
    source === 'hand' && opener !== undefined && isSlackUser(opener) ? { by: opener, at: openedAt } : null;
  const event = events.findLast(({ type, by }) => ACTS.has(type) && by !== null && isSlackUser(by));
  const act = event?.by ? { by: event.by, at: event.at } : opened;
  if (act === null || new Date(act.at) < run.at) return null;
  const isNew = [known, releasedAt].every((at) => at === null || new Date(at) < new Date(act.at));
  return isNew ? act : null;
}

/** Levels of which no page arrives. */
function undeliveredOf(pages: readonly PageRow[]): ReadonlyMap<number, Date> {
  const asked = pages.filter(({ want }) => want === 'trigger');
  const levels = new Set(asked.map(({ level }) => level));
  return new Map(
    [...levels].flatMap((level): readonly (readonly [number, Date])[] => {
      const own = asked.filter((page) => page.level === level);
      const failed = own.map(({ failed_at: at }) => at).filter((at) => at !== null);
      return failed.length < own.length ? [] : [[level, new Date(failed.sort().at(-1) ?? 0)]];
    }),
  );
}
