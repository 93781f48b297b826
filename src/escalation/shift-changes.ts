import { messageOf } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Sql } from '../core/sql.ts';
import { within } from '../core/within.ts';
import type { OnCallPerson, OnCallSchedule, SlackAccounts } from './ports.ts';
import { ANSWER_MS, accountOf } from './who-to-call.ts';

/** Whoever comes on. `since`: when those came on whom they follow, ISO 8601. */
export interface ShiftChange {
  readonly userId: string;
  readonly schedules: readonly string[];
  readonly since: string;
}

/** Tells them what is handed over. `not_now`: nothing was sent for certain, so it may be tried again. Never throws. */
export type HandOver = (change: ShiftChange) => Promise<'told' | 'not_now'>;

export interface ShiftDeps {
  readonly sql: Sql;
  readonly schedules: ReadonlyMap<string, OnCallSchedule>;
  readonly slack: SlackAccounts;
  readonly handOver: HandOver;
  readonly log: Log;
}

/** A schedule is asked once in so long by all processes together; longer than it may take to answer. */
const LOOK_SECONDS = 60;
/** What could not be handed over by then is no news any more. */
const OWED_MS = 2 * 3_600_000;

const TOLD_MINUTES = 60;

interface Looked {
  /** To the microsecond: whose claim it is. */
  readonly claim: string;
  readonly lookedAt: string;
  readonly people: readonly string[];
  /** When these came on; null: it was never asked before. */
  readonly changedAt: string | null;
  /** When those came on whom they followed. */
  readonly beforeAt: string | null;
  /** Who came on and was not told yet. */
  readonly owed: readonly string[];
}

/**
 * Asks each schedule that is due who is on call, and hands the shift to those who have come on and are still on when it is asked again:
 * of a change that does not last nobody is told. Who is told is on record before they are: after a crash they are told never rather than
 * twice.
 */
export async function handOverShifts(deps: ShiftDeps): Promise<void> {
  const changes = new Map<string, ShiftChange>();
  const owing: { readonly schedule: string; readonly key: string; readonly userId: string }[] = [];
  for (const schedule of deps.schedules.values()) {
    const looked = await claim(deps.sql, schedule.name);
    if (looked === null) continue;
    const people = await peopleOn(deps, schedule);
    // Where nobody is on call, or nobody can tell, nobody has come on; who comes after that follows those of before.
    if (people.length === 0) continue;
    for (const { person, since } of await settle(deps.sql, schedule.name, looked, people)) {
      const userId = await accountOf(deps, person);
      if (userId === null) continue;
      owing.push({ schedule: schedule.name, key: keyOf(person), userId });
      const known = changes.get(userId);
      changes.set(userId, {
        userId,
        schedules: [...(known?.schedules ?? []), schedule.name],
        since: known !== undefined && known.since < since ? known.since : since,
      });
    }
  }
  for (const change of changes.values()) {
    if (!(await claimPerson(deps.sql, change.userId))) continue;
    if ((await deps.handOver(change)) === 'told') continue;
    await deps.sql`DELETE FROM shift_told WHERE user_id = ${change.userId}`;
    for (const { schedule, key } of owing.filter(({ userId }) => userId === change.userId))
      await deps.sql`
        UPDATE on_call SET owed = array_append(owed, ${key}) WHERE schedule = ${schedule} AND NOT ${key} = ANY (owed)`;
  }
}

/** Nobody is told twice within an hour, whichever schedules hand over to them, and however often. */
async function claimPerson(sql: Sql, userId: string): Promise<boolean> {
  const rows = await sql`
    INSERT INTO shift_told (user_id) VALUES (${userId})
    ON CONFLICT (user_id) DO UPDATE SET told_at = clock_timestamp()
      WHERE shift_told.told_at < clock_timestamp() - make_interval(mins => ${TOLD_MINUTES})
    RETURNING user_id`;
  return rows.length > 0;
}

const keyOf = ({ slackUser, email, name }: OnCallPerson): string => slackUser ?? email ?? name;

/** Null: another process has asked it within a minute. */
async function claim(sql: Sql, schedule: string): Promise<Looked | null> {
  const [row] = await sql<Looked>`
    INSERT INTO on_call (schedule) VALUES (${schedule})
    ON CONFLICT (schedule) DO UPDATE SET looked_at = clock_timestamp()
      WHERE on_call.looked_at < clock_timestamp() - make_interval(secs => ${LOOK_SECONDS})
    RETURNING looked_at::text AS claim, looked_at AS "lookedAt", people, changed_at AS "changedAt", before_at AS "beforeAt", owed`;
  return row ?? null;
}

async function peopleOn({ log }: ShiftDeps, schedule: OnCallSchedule): Promise<readonly OnCallPerson[]> {
  try {
    return await within(ANSWER_MS, schedule.onCall(new Date(), AbortSignal.timeout(ANSWER_MS)));
  } catch (error) {
    log.warn({ schedule: schedule.name, error: messageOf(error) }, 'cannot tell who has come on call');
    return [];
  }
}

/** Puts on record who is on, and answers whom to tell now: who had come on before and has stayed, or could not be told then. */
async function settle(
  sql: Sql,
  schedule: string,
  looked: Looked,
  people: readonly OnCallPerson[],
): Promise<readonly { readonly person: OnCallPerson; readonly since: string }[]> {
  const keys = [...new Set(people.map(keyOf))];
  const isKnown = looked.changedAt !== null;
  const isChanged =
    !isKnown || keys.length !== looked.people.length || keys.some((key) => !looked.people.includes(key));
  // Of the first look nobody has come on: they were there. Of any other they are owed it, and told when they are still there.
  const came = isKnown ? keys.filter((key) => !looked.people.includes(key)) : [];
  const isLate = isKnown && Date.parse(looked.lookedAt) - Date.parse(looked.changedAt) > OWED_MS;
  const owed = isLate ? [] : looked.owed.filter((key) => keys.includes(key));
  const rows = await sql`
    UPDATE on_call SET people = ${sql.array(keys)}::text[], owed = ${sql.array(came)}::text[],
           changed_at = CASE WHEN ${isChanged} THEN looked_at ELSE changed_at END,
           -- Those who were owed the shift did not stay: it is still handed over from those before them.
           before_at = CASE WHEN ${isChanged} AND cardinality(owed) = 0 THEN changed_at ELSE before_at END
     WHERE schedule = ${schedule} AND looked_at = ${looked.claim}::timestamptz RETURNING schedule`;
  if (rows.length === 0) return [];
  const since = looked.beforeAt ?? looked.lookedAt;
  return people
    .filter((person, at) => people.findIndex((each) => keyOf(each) === keyOf(person)) === at)
    .filter((person) => owed.includes(keyOf(person)))
    .map((person) => ({ person, since }));
}
