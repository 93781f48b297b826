import { type Change, namesOf } from '../core/change.ts';
import { type Refusal, refuse } from '../core/errors.ts';
import type { IncidentId } from '../core/ids.ts';
import type { Sql } from '../core/sql.ts';
import {
  type AskedChanges,
  type ChangeSourceSeen,
  type ChangesScope,
  OWN_LOOK,
  type WhatChanged,
} from '../core/what-changed.ts';
import {
  type ChangesSubject,
  CLOCK_SKEW_MS,
  countsFor,
  inNamespaces,
  judgeChanges,
  type NamedSystem,
  thingsOf,
} from './judge-changes.ts';
import {
  AT_MOST,
  type ChangesAround,
  changesAround,
  countChanges,
  type SourceTold,
  sourcesThatTold,
} from './read-changes.ts';

/** So long before a problem one looks when nobody says how long. */
const BEFORE_MS = 2 * 60 * 60_000;
/** Nothing older is of use, however far back somebody asks. */
const MOST_BEFORE_MS = 30 * 24 * 60 * 60_000;
/** A look that still runs is waited for so long: whoever investigates has others to make. */
const LOOK_WAIT_MS = 1_500;
/** More sources are not named in one answer. */
const MOST_SEEN = 20;
const MOST_AWAY = 3;

/** Sentry's own looks at its targets, from one of which to the next a difference is a change. */
export interface OwnLooks {
  /** Looks now, unless that was done just before; what it finds is on record once this resolves. Never throws but when aborted. */
  now(target: string, signal: AbortSignal): Promise<unknown>;
  /** From when to when it has looked at these targets, and where it could not. */
  read(db: Sql, targets: readonly string[], from: string, to: string): Promise<readonly ChangeSourceSeen[]>;
}

interface Away {
  readonly from: string;
  readonly to: string;
}

export interface WhatChangedDeps {
  readonly sql: Sql;
  /** What is known of an incident; null: there is none of that id. */
  readonly subjectOf: (id: IncidentId) => Promise<ChangesSubject | null>;
  readonly looks?: OwnLooks;
  /** When Sentry did not run (ISO 8601), oldest first: nobody could tell it anything. */
  readonly away?: (from: string, to: string) => Promise<readonly Away[]>;
  readonly now?: () => Date;
}

/** Answers what was changed around an incident, of the systems and things that it may be told about. */
export function createWhatChanged(deps: WhatChangedDeps) {
  return {
    async whatChanged(id: IncidentId, asked: AskedChanges): Promise<WhatChanged | Refusal> {
      const subject = await deps.subjectOf(id);
      return subject === null
        ? refuse('UNKNOWN_INCIDENT', `There is no ${id}.`)
        : whatChanged(deps, { ...subject, incident: id }, asked);
    },
    async scopeOf(id: IncidentId): Promise<ChangesScope | null> {
      const subject = await deps.subjectOf(id);
      return subject && scopeOf(subject);
    },
  };
}

async function whatChanged(
  deps: WhatChangedDeps,
  subject: ChangesSubject,
  { since, name, signal }: AskedChanges,
): Promise<WhatChanged | Refusal> {
  const of = name === undefined ? null : namesLike(subject, name);
  if (of !== null && 'ok' in of) return of;
  const { sql, looks, now = () => new Date() } = deps;
  const began = Date.parse(subject.beganAt);
  const wanted = sinceOf(since, began);
  if (!(wanted <= now().getTime()))
    return refuse('BAD_INPUT', 'since: expected a moment in the past (ISO 8601), or minutes before it began');
  const from = new Date(Math.max(wanted, began - MOST_BEFORE_MS)).toISOString();
  const targets = systemsAsked(subject, of).map((system) => system.name);
  const stillLooking = looks ? await lookAt(looks, targets[0], signal) : [];
  const to = now().toISOString();
  const where = namesAsked(subject, of);
  const turn = new Date(began + CLOCK_SKEW_MS).toISOString();
  const [before, after, inAll, told, seen, away] = await Promise.all([
    readEach({ from, to: turn < to ? turn : to, underWay: true }),
    turn < to ? readEach({ from: turn, to, oldestFirst: true }) : [],
    countChanges(sql, from, to),
    sourcesThatTold(sql, where),
    looks?.read(sql, targets, from, to) ?? [],
    deps.away?.(from, to) ?? [],
  ]);
  const byId = new Map([...before, ...after].flat().map((one) => [`${one.source} ${one.id}`, one]));
  const changes = [...byId.values()];
  const isCutShort = before.some((read) => read.length >= AT_MOST);
  const allTold = {
    source: 'all that was told',
    of: subject.system?.name ?? where[0] ?? '',
    from: null,
    to: null,
  };
  const why = `more than ${AT_MOST} changes, the older ones were not read`;
  const back = away.findLast((time) => Date.parse(time.from) < began)?.to ?? from;
  const all = [
    ...toldOf(subject, of, told, back > from ? back : from, to),
    ...seen.map((one) => sinceBefore(one, from, began)),
  ];
  return judgeChanges(
    subject,
    {
      from,
      to,
      changes,
      inAll,
      isCutShort,
      looked: all.filter((one) => one.from !== null).slice(0, MOST_SEEN),
      couldNotLook: [
        ...(isCutShort ? [{ ...allTold, why }] : []),
        ...away.slice(-MOST_AWAY).map((time) => ({ ...allTold, why: whyAway(time) })),
        ...all.filter((one) => one.from === null),
        ...stillLooking,
        ...neverTold(subject, of, told),
      ].slice(0, MOST_SEEN),
    },
    of,
  );

  /** Its own and its neighbours' apart: however many there are of these, they take no place of those. */
  function readEach(
    asked: Omit<ChangesAround, 'where' | 'mayBeOf'>,
  ): Promise<readonly (readonly Change[])[]> {
    const { system, neighbours } = subject;
    const beside = new Set(neighbours.flatMap((one) => one.names));
    const own = new Set([...(system?.names ?? []), ...thingsOf(subject)]);
    const itself = {
      environment: system?.environment ?? subject.environment,
      changesFrom: system?.changesFrom ?? null,
    };
    const ofIt = where.filter((name) => own.has(name) || !beside.has(name));
    const ofNeighbours = where.filter((name) => beside.has(name));
    return Promise.all(
      [
        { where: ofIt, mayBeOf: [itself] },
        { where: ofNeighbours, mayBeOf: neighbours },
      ]
        .filter((one) => one.where.length > 0)
        .map((one) => changesAround(sql, { ...asked, ...one })),
    );
  }
}

function sinceOf(since: string | number | undefined, began: number): number {
  if (since === undefined) return began - BEFORE_MS;
  return typeof since === 'number' ? began - since * 60_000 : Date.parse(since);
}

function scopeOf(subject: ChangesSubject): ChangesScope {
  const { system, neighbours, services = [], others = [] } = subject;
  return {
    target: system?.name ?? null,
    neighbours: neighbours.map((each) => each.name),
    names: namesOf([...(system?.names ?? []), ...services.filter((name) => !others.includes(name))]),
    others,
  };
}

/** By what else is called so; a refusal for what is no part of the incident. */
function namesLike(subject: ChangesSubject, asked: string): readonly string[] | Refusal {
  const wanted = asked.trim().toLowerCase();
  const { system, neighbours } = subject;
  const one = [...(system ? [system] : []), ...neighbours].find(({ names }) => names.includes(wanted));
  if (one) return one.names;
  if (thingsOf(subject).includes(wanted)) return [wanted];
  const may = [
    ...(system ? [system.name] : []),
    ...thingsOf(subject),
    ...neighbours.map((each) => each.name),
  ];
  return refuse(
    'NOT_OF_INCIDENT',
    `“${asked.slice(0, 80)}” is no part of this incident. ${may.length === 0 ? 'It names no system.' : `It may ask about: ${may.slice(0, 20).join(', ')}.`}`,
  );
}

const systemsAsked = (
  { system, neighbours }: ChangesSubject,
  of: readonly string[] | null,
): readonly NamedSystem[] =>
  [...(system ? [system] : []), ...neighbours].filter(
    ({ names }) => of === null || names.some((name) => of.includes(name)),
  );

/** All that it may be called, or what was asked about. */
const namesAsked = (subject: ChangesSubject, of: readonly string[] | null): readonly string[] =>
  of === null
    ? [
        ...(subject.system?.names ?? []),
        ...subject.workloads,
        ...subject.alsoCalled,
        ...inNamespaces(subject, subject.workloads),
        ...subject.neighbours.flatMap((each) => each.names),
      ]
    : [...of, ...inNamespaces(subject, of)];

/** Looks at the incident's own system. What still runs after its time goes on, and is said so. */
async function lookAt(
  looks: OwnLooks,
  target: string | undefined,
  signal: AbortSignal,
): Promise<readonly ChangeSourceSeen[]> {
  if (target === undefined || (await isLooked(looks, target, signal))) return [];
  return [{ source: OWN_LOOK, of: target, from: null, to: null, why: 'a look at it still runs' }];
}

async function isLooked(looks: OwnLooks, target: string, signal: AbortSignal): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), LOOK_WAIT_MS);
  });
  try {
    // Why a look failed is on its own record.
    const done = looks.now(target, signal).then(
      () => true,
      () => true,
    );
    return await Promise.race([done, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A first look has nothing before it to compare with: made after it began, it says nothing of what was changed before. */
function sinceBefore(seen: ChangeSourceSeen, from: string, began: number): ChangeSourceSeen {
  if (seen.from === null) return seen;
  // One that begins with the window may have been there for long.
  const isLate = seen.from > from && Date.parse(seen.from) >= began;
  if (!isLate && seen.from !== seen.to) return seen;
  const when = isLate ? 'for the first time after it began' : 'only once';
  const why = `it was looked at ${when}, and there is nothing to compare that with`;
  return { ...seen, from: null, to: null, why };
}

const whyAway = ({ from, to }: Away): string =>
  `Sentry did not run from ${minuteOf(from)} to ${minuteOf(to)} (UTC), so nobody could tell it anything`;

const minuteOf = (iso: string): string => iso.slice(0, 16).replace('T', ' ');

/** Who has told of these before, and from when on it was there to tell. */
function toldOf(
  subject: ChangesSubject,
  of: readonly string[] | null,
  told: readonly SourceTold[],
  from: string,
  to: string,
): readonly ChangeSourceSeen[] {
  const since = new Map<string, ChangeSourceSeen>();
  for (const { source, name, environment, first } of told) {
    const thing = thingCalled(subject, of, name);
    if (thing === null || !countsFor({ source, environment }, thing)) continue;
    const seen: ChangeSourceSeen = { source, of: thing.name, from: first > from ? first : from, to };
    const known = since.get(`${source} ${thing.name}`);
    if (known?.from == null || (seen.from !== null && seen.from < known.from))
      since.set(`${source} ${thing.name}`, seen);
  }
  return [...since.values()];
}

function thingCalled(
  subject: ChangesSubject,
  of: readonly string[] | null,
  name: string,
): Pick<NamedSystem, 'name' | 'environment' | 'changesFrom'> | null {
  const system = systemsAsked(subject, of).find(({ names }) => names.includes(name));
  if (system) return system;
  const { system: own, environment } = subject;
  const thing = (of ?? thingsOf(subject)).find(
    (each) =>
      thingsOf(subject).includes(each) && (each === name || inNamespaces(subject, [each]).includes(name)),
  );
  return thing === undefined
    ? null
    : { name: thing, environment: own?.environment ?? environment, changesFrom: own?.changesFrom ?? null };
}

/** Sources that are to tell of the system by its configuration, and never have. */
function neverTold(
  subject: ChangesSubject,
  of: readonly string[] | null,
  told: readonly SourceTold[],
): readonly ChangeSourceSeen[] {
  return systemsAsked(subject, of).flatMap((system) => {
    const things = system === subject.system ? [...system.names, ...thingsOf(subject)] : system.names;
    return (system.changesFrom ?? [])
      .filter((source) => !told.some((one) => one.source === source && things.includes(one.name)))
      .map((source) => ({
        source,
        of: system.name,
        from: null,
        to: null,
        why: `it has never told of ${system.name}`,
      }));
  });
}
