import type { Severity } from '../core/alert.ts';
import type { CallReason } from '../core/event.ts';
import type { IncidentState } from '../core/incident.ts';
import { isEnded } from '../core/machine.ts';
import { afterQuiet, type Ladder } from './ladder.ts';

/** A change of the incident's state, as the record has it. */
export interface Moved {
  readonly seq: number;
  readonly at: Date;
  readonly from: IncidentState;
}

/** What is known of an incident that somebody may be called for. */
export interface Facts {
  readonly state: IncidentState;
  readonly severity: Severity;
  /** It waits for the end of a mute, its alert comes and goes, or the policy asks for no more. */
  readonly needsNobody: boolean;
  /** When it began to be open as it is now, and the event of it. What was before calls nobody. */
  readonly run: { readonly seq: number; readonly at: Date };
  /** It was there before an upgrade or a restore, and nobody gave it back since: that nobody has it calls nobody. */
  readonly wasThere: boolean;
  /** Sentry comes back to it by itself. */
  readonly asksAgain: boolean;
  /** A fix was asked for where nothing was wrong, and is done. */
  readonly isDone: boolean;
  /** The last move. */
  readonly moved: Moved | null;
  /** The last move out of verification since it began, to anything but the end. */
  readonly failed: Moved | null;
  /** The fix that waits for people to decide. */
  readonly proposal: { readonly id: string; readonly at: Date; readonly expiresAt: Date } | null;
  /** `holds`: they said that they have it, so nobody else is called. Else they only did something, which answers what was until then. */
  readonly acknowledged: { readonly at: Date; readonly holds: boolean } | null;
  /** When somebody gave it back. */
  readonly releasedAt: Date | null;
  /** When a silence at the source ends, or was undone: until then nobody is called, for a person asked for quiet. Null: there is none. */
  readonly silence: { readonly id: string; readonly until: Date } | null;
  /** Since it began. Level 0: whoever has it was told. */
  readonly made: readonly { readonly key: string; readonly level: number; readonly at: Date }[];
  /** Since when a page of a level cannot be delivered. */
  readonly undelivered: ReadonlyMap<number, Date>;
  /** Levels up to this one are called now: a person has asked for it. */
  readonly hurried: number;
}

export interface DueCall {
  /** Unique in the incident: the same call is made once. */
  readonly key: string;
  /** From 1; 0: only whoever has it is told. */
  readonly level: number;
  readonly reason: CallReason;
  /** Its pagers are paged; not where the level had been called before, for its page is open. */
  readonly pages: boolean;
}

/** What to do now, and when to look again. `quietUntil`: a call waits because of quiet hours. */
export interface Due {
  readonly call: DueCall | null;
  readonly lookAt: Date | null;
  readonly quietUntil: Date | null;
}

interface Need {
  readonly key: string;
  readonly reason: CallReason;
  readonly at: Date;
}

const NOTHING: Due = { call: null, lookAt: null, quietUntil: null };

/** Which call is due: at most one, so that what follows is counted from when it was made. */
export function dueCall(facts: Facts, ladder: Ladder, now: Date): Due {
  if (isEnded(facts.state) || facts.state === 'stopped' || facts.needsNobody) return NOTHING;
  const { acknowledged, releasedAt } = facts;
  const since = sinceOf(facts);
  const needs = needsOf(facts, ladder)
    // What was there when somebody gave it back needs somebody from then on.
    .map((need) => (releasedAt !== null && need.at < releasedAt ? { ...need, at: releasedAt } : need))
    .filter(({ at }) => at >= since);
  if (acknowledged?.holds === true) return tellHolder(facts, needs, now);
  const made = madeSince(facts, since);
  const climb: Climb = { facts, ladder, needs, made, since, now };
  const next = nextLevel(climb);
  if (next.call !== null || made.length === 0) return next;
  const ping = nextPing(climb);
  return {
    call: ping.call,
    lookAt: earliest([next.lookAt, ping.lookAt]),
    quietUntil: next.quietUntil ?? ping.quietUntil,
  };
}

/** When it began, was given back, or somebody did something with it, whichever was last. */
const sinceOf = ({ run, releasedAt, acknowledged }: Facts): Date =>
  latest([run.at, releasedAt, acknowledged?.at ?? null]);

const madeSince = ({ made }: Facts, since: Date): Facts['made'] =>
  made.filter(({ level, at }) => level > 0 && at >= since);

/** The highest level that is called for what stands now; 0: none is. */
export const reachedLevel = (facts: Facts): number => highest(madeSince(facts, sinceOf(facts)));

/** Of a call that only said something: its level is still to be called, should it get worse. */
const INFORMS = 'informs:';

const highest = (made: Facts['made']): number =>
  Math.max(0, ...made.filter(({ key }) => !key.startsWith(INFORMS)).map(({ level }) => level));

/** Whoever has it is told of what came since, in the thread. */
function tellHolder({ made }: Facts, needs: readonly Need[], now: Date): Due {
  const open = needs.filter((need) => !made.some(({ at }) => at >= need.at));
  const due = open.find(({ at }) => at <= now);
  return {
    call: due ? { key: `holder:${due.key}`, level: 0, reason: due.reason, pages: false } : null,
    lookAt: earliest(open.filter(({ at }) => at > now).map(({ at }) => at)),
    quietUntil: null,
  };
}

interface Climb {
  readonly facts: Facts;
  readonly ladder: Ladder;
  readonly needs: readonly Need[];
  /** Since somebody did something with it. */
  readonly made: Facts['made'];
  readonly since: Date;
  readonly now: Date;
}

function nextLevel({ facts, ladder, needs, made, since, now }: Climb): Due {
  const reached = highest(made);
  const level = reached + 1;
  const upcoming = ladder.levels[reached];
  if (!upcoming) return NOTHING;
  const isHurried = level <= facts.hurried;
  // What only informs pages nobody; a fix that was tried and did not help does.
  const onlyInforms =
    facts.severity === 'info' && !isHurried && !needs.some(({ reason }) => reason === 'failed_verification');
  if (onlyInforms && (made.length > 0 || upcoming.mention.length === 0)) return NOTHING;
  const at = isHurried ? now : levelAt(facts, ladder, needs, made, reached);
  if (at === null) return NOTHING;
  const reason = (needs.findLast((need) => need.at <= now) ?? needs[0])?.reason ?? 'unacknowledged';
  const key = `${onlyInforms ? INFORMS : ''}level:${level}:${facts.run.seq}:${since.getTime()}`;
  const call: DueCall = { key, level, reason, pages: upcoming.page.length > 0 && !onlyInforms };
  return isHurried ? { ...NOTHING, call } : unlessQuiet(facts, ladder, call, at, now);
}

/** When the level after `reached` is called; null: nothing needs anybody. */
function levelAt(
  { undelivered }: Facts,
  { levels }: Ladder,
  needs: readonly Need[],
  made: Facts['made'],
  reached: number,
): Date | null {
  const start = earliest(needs.map(({ at }) => at));
  const upcoming = levels[reached];
  if (start === null || upcoming === undefined) return null;
  const before = levels[reached - 1];
  const last = made.find(({ level, key }) => level === reached && !key.startsWith(INFORMS));
  const usual =
    before && last
      ? latest([later(start, upcoming.afterMs), later(last.at, upcoming.afterMs - before.afterMs)])
      : later(start, upcoming.afterMs);
  // A page that does not arrive calls nobody: the next level does.
  return earliest([usual, undelivered.get(reached) ?? null]);
}

/** What has changed since the last call is told to those whom it called. */
function nextPing({ facts, ladder, needs, made, now }: Climb): Due {
  const told = latest(made.map(({ at }) => at));
  const open = needs.filter(({ reason, at }) => reason !== 'unacknowledged' && at > told);
  const [first] = open;
  if (!first) return NOTHING;
  const level = Math.max(...made.map((each) => each.level));
  const { key, reason, at } = open.findLast((need) => need.at <= now) ?? first;
  return unlessQuiet(facts, ladder, { key, level, reason, pages: false }, at, now);
}

function unlessQuiet({ severity }: Facts, { quietHours }: Ladder, call: DueCall, at: Date, now: Date): Due {
  const open = afterQuiet(quietHours, severity, latest([at, now]));
  if (open !== null && open <= now) return { ...NOTHING, call };
  return { call: null, lookAt: open, quietUntil: at <= now ? open : null };
}

/** What needs a person, oldest first. Of one change of state there is one. */
function needsOf(facts: Facts, ladder: Ladder): readonly Need[] {
  const { state, severity, run, moved, failed, proposal, acknowledged } = facts;
  const isLeft = (state === 'reported' || state === 'escalated') && !facts.asksAgain && !facts.isDone;
  const found: Need[] = [];
  if (!facts.isDone && !facts.wasThere && severity !== 'info' && acknowledged === null)
    found.push({
      key: `unacknowledged:${run.seq}`,
      reason: 'unacknowledged',
      at: later(run.at, ladder.unacknowledgedMs),
    });
  if (failed && !facts.isDone)
    found.push({ key: `state:${failed.seq}`, reason: 'failed_verification', at: failed.at });
  if (isLeft && moved && moved.seq !== failed?.seq)
    found.push({ key: `state:${moved.seq}`, reason: 'unsolved', at: moved.at });
  // What was asked for is done, and what is wrong still is.
  if (facts.silence && facts.isDone && (state === 'reported' || state === 'escalated'))
    found.push({ key: `silence:${facts.silence.id}`, reason: 'unsolved', at: facts.silence.until });
  if (proposal)
    found.push({ key: `expires:${proposal.id}`, reason: 'approval_expiry', at: expiryAt(proposal, ladder) });
  return found
    .filter(({ reason }) => ladder.reasons.includes(reason))
    .toSorted((a, b) => a.at.getTime() - b.at.getTime());
}

/** Not before half of its time is over: a short one would call as soon as it asks. */
function expiryAt({ at, expiresAt }: NonNullable<Facts['proposal']>, { approvalExpiryMs }: Ladder): Date {
  const half = (expiresAt.getTime() - at.getTime()) / 2;
  return new Date(expiresAt.getTime() - Math.min(approvalExpiryMs, half));
}

const later = (at: Date, ms: number): Date => new Date(at.getTime() + ms);
const timesOf = (dates: readonly (Date | null)[]): number[] =>
  dates.flatMap((date) => (date === null ? [] : [date.getTime()]));
const latest = (dates: readonly (Date | null)[]): Date => new Date(Math.max(...timesOf(dates)));
const earliest = (dates: readonly (Date | null)[]): Date | null => {
  const times = timesOf(dates);
  return times.length === 0 ? null : new Date(Math.min(...times));
};
