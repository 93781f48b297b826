import { type Change, shortRevision } from '../core/change.ts';
import { spanOf } from '../core/describe-changes.ts';
import { isSameEnvironment } from '../core/environment.ts';
import {
  type ChangeSourceSeen,
  OWN_LOOK,
  type RelatedChange,
  type WhatChanged,
} from '../core/what-changed.ts';
import { isMadeFor } from './made-for.ts';
import { WIDEST } from './read-changes.ts';
import { isToldTwice } from './same-change.ts';
import { boundedChanges, type FoundChange, isIt, suspectsShown } from './shown-changes.ts';

/** Clocks of two machines differ by less: what is closer to the beginning than that may be before it or after. */
export const CLOCK_SKEW_MS = 60_000;
/** Nothing is said of a time before whoever tells of it was there; less than so long before a problem is too short to say anything. */
const LEAST_BEFORE_MS = 30 * 60_000;
/** What began so long ago and was followed by another of its kind has ended, though nobody told so. */
const LONGEST_MS = 120 * 60_000;
const MOST_AFTERWARDS = 6;
/** The source of what bots say in Slack: what they tell, its own sender may tell as well. */
const HEARD = 'slack';

/** A system, by all that it is called, in lower case. */
export interface NamedSystem {
  readonly name: string;
  readonly names: readonly string[];
  readonly environment: string | null;
  /** The sources whose word of it counts; null: every one. */
  readonly changesFrom: readonly string[] | null;
}

/** What changes are looked for of. Names are in lower case. */
export interface ChangesSubject {
  /** The incident; left out: it is of none. What Sentry did for it is no suspect of it. */
  readonly incident?: string;
  /** ISO 8601: the earliest that is known of the problem's beginning. */
  readonly beganAt: string;
  /** The incident's own; null: none that is configured. */
  readonly system: NamedSystem | null;
  /** Of what its alert comes, where there is no configured system to say so. */
  readonly environment: string | null;
  /** What the alert is about: what is deployed (a service, a container, a pod, a unit), and what is data (a table, a database). */
  readonly workloads: readonly string[];
  readonly data: readonly string[];
  /** What else its alert names that may be a service: it finds a change, and says nothing of others. */
  readonly alsoCalled: readonly string[];
  /** The namespaces that what it is about is in, where its alert says so. */
  readonly namespaces?: readonly string[];
  readonly neighbours: readonly NamedSystem[];
  /** What configured systems of other environments are called. */
  readonly elsewhere: readonly string[];
  /** What its alert calls a service, which may have code of its own; and what configured systems are called that are neither it nor a neighbour. */
  readonly services?: readonly string[];
  readonly others?: readonly string[];
}

/** All things that its alert names. */
export const thingsOf = ({
  workloads,
  alsoCalled,
  data,
}: Pick<ChangesSubject, 'workloads' | 'alsoCalled' | 'data'>): readonly string[] => [
  ...workloads,
  ...alsoCalled,
  ...data,
];

/** `shop/api`: what is deployed is called so where another namespace may have one of its name. */
export const inNamespaces = (
  { namespaces = [] }: Pick<ChangesSubject, 'namespaces'>,
  names: readonly string[],
): readonly string[] => names.flatMap((name) => namespaces.map((namespace) => `${namespace}/${name}`));

/** All that was read for one question. */
export interface ReadChanges {
  /** ISO 8601. */
  readonly from: string;
  readonly to: string;
  readonly changes: readonly Change[];
  /** How many took effect in that time, of whatever. */
  readonly inAll: number;
  readonly looked: readonly ChangeSourceSeen[];
  readonly couldNotLook: readonly ChangeSourceSeen[];
  /** There were more before it began than are read. */
  readonly isCutShort?: boolean;
}

/** Which of what was changed may have to do with a problem. `of`: asked about what has these names alone. */
export function judgeChanges(
  subject: ChangesSubject,
  read: ReadChanges,
  of: readonly string[] | null = null,
): WhatChanged {
  const { from, to, inAll, looked, isCutShort = false } = read;
  const asked = of && [...of, ...inNamespaces(subject, of)];
  const found = read.changes
    .filter(
      ({ state, where }) =>
        state !== 'failed' && (asked === null || where.some((name) => asked.includes(name))),
    )
    .flatMap((change): FoundChange[] => {
      const relation = relationOf(change, subject);
      return relation === null ? [] : [{ ...change, ...relation, ...timeOf(change, subject.beganAt) }];
    });
  // Only what counts here speaks for another: a deployment of staging is not what a look at production saw.
  const related = found.filter((one) => !isRepeat(one, found) && !isLongOver(one, found));
  const newestFirst = related.toSorted((a, b) => b.at.localeCompare(a.at) || a.id.localeCompare(b.id));
  const before = newestFirst.filter(
    (one) => one.when !== 'after' && !(subject.incident && isMadeFor(one, subject.incident)),
  );
  const suspects = suspectsShown(before);
  const cut = before.filter(isIt).length - suspects.filter(isIt).length;
  // The first after it began say more than the last.
  const afterwards = newestFirst.filter(({ when }) => when === 'after').slice(-MOST_AFTERWARDS);
  const named = boundedChanges([...suspects, ...afterwards]).map((change, at) => ({
    ...change,
    ref: `c${at + 1}`,
  }));
  const repeats = found.length - related.length;
  const would = looked.filter(wouldHaveTold);
  const since = would.flatMap((one) => one.from ?? []).toSorted()[0];
  const answer =
    suspects.length > 0 ? 'changed' : since !== undefined && !isCutShort ? 'nothing' : 'could_not_look';
  const late = answer === 'could_not_look' ? looked.filter(isLate) : [];
  return {
    answer,
    from,
    to,
    beganAt: subject.beganAt,
    suspects: named.slice(0, suspects.length),
    afterwards: named.slice(suspects.length),
    others: Math.max(0, inAll - named.length - repeats - cut),
    looked,
    couldNotLook: [...late.map(sinceWhen), ...read.couldNotLook],
    ...(since === undefined ? {} : { since }),
    ...(cut > 0 ? { cut } : {}),
  };

  /** It was there long enough before the problem began to have told of what may have caused it. */
  function wouldHaveTold(source: ChangeSourceSeen): boolean {
    const earliest = Math.max(Date.parse(from), Date.parse(subject.beganAt) - LEAST_BEFORE_MS);
    return tellsOfIt(source) && Date.parse(source.from ?? '') <= earliest;
  }

  function isLate(source: ChangeSourceSeen): boolean {
    return tellsOfIt(source) && !wouldHaveTold(source);
  }

  function sinceWhen({ source, of: thing, from: first }: ChangeSourceSeen): ChangeSourceSeen {
    const span = spanOf(Date.parse(subject.beganAt) - Date.parse(first ?? ''));
    return {
      source,
      of: thing,
      from: null,
      to: null,
      why: `Sentry hears it only since ${span} before it began`,
    };
  }

  /** It was there before the problem began and when it did, and tells of this very thing: neighbours speak for themselves. */
  function tellsOfIt({ of: thing, from: since, to: until }: ChangeSourceSeen): boolean {
    const own = of ?? [...(subject.system?.names ?? []), ...thingsOf(subject)];
    if (since === null || until === null || !own.includes(thing.toLowerCase())) return false;
    const began = Date.parse(subject.beganAt);
    return Date.parse(since) < began && Date.parse(until) >= began - CLOCK_SKEW_MS;
  }
}

/** How a change stands to what an incident is about; null: it has nothing to do with it, or its word does not count. */
function relationOf(
  change: Change,
  subject: ChangesSubject,
): Pick<RelatedChange, 'touches' | 'through'> | null {
  const { system, neighbours, elsewhere } = subject;
  if (change.where.length > WIDEST) return null;
  // A look is of the system it was made at, whatever else there is called like another.
  const places = change.source === OWN_LOOK ? change.where.slice(0, 1) : change.where;
  const own = system && places.find((name) => system.names.includes(name));
  if (!own && places.some((name) => elsewhere.includes(name))) return null;
  const counts = countsFor(change, system ?? { environment: subject.environment, changesFrom: null });
  const thing = counts ? thingOf(change, subject, own !== undefined && own !== null) : undefined;
  if (thing !== undefined) return { touches: 'it', through: thing };
  if (own && counts) return { touches: isOfAnother(change, subject) ? 'neighbour' : 'it', through: own };
  for (const neighbour of neighbours) {
    const through = places.find((name) => neighbour.names.includes(name));
    if (through !== undefined && countsFor(change, neighbour)) return { touches: 'neighbour', through };
  }
  return null;
}

/**
 * The thing that the alert is about, where the change names it. A service is the same wherever it is named; a table only with its
 * database, and what a look saw in one system is of no other.
 */
function thingOf(
  { where, source }: Change,
  subject: ChangesSubject,
  isOfSystem: boolean,
): string | undefined {
  const { workloads, alsoCalled, data, namespaces = [] } = subject;
  if (source === OWN_LOOK && !isOfSystem) return undefined;
  const whole = inNamespaces(subject, workloads);
  const named = [...workloads, ...alsoCalled, ...(isOfSystem ? data : [])];
  const own = where.find((name) => whole.includes(name));
  if (own !== undefined) return own;
  // A look knows the namespace of all that it sees in one.
  const isInAnother = (name: string): boolean =>
    source === OWN_LOOK && namespaces.length > 0 && where.some((other) => other.endsWith(`/${name}`));
  return where.find((name) => named.includes(name) && !isInAnother(name));
}

/** It names another thing of the system, while the alert is about one. What a look saw in a database's schema is told from data alone. */
function isOfAnother({ where, source, kind }: Change, { system, workloads, data }: ChangesSubject): boolean {
  const things = where.filter((name) => !system?.names.includes(name));
  const asked = source === OWN_LOOK && kind === 'migration' ? data : workloads;
  return things.length > 0 && asked.length > 0;
}

/** Own looks need nobody's word. */
export const countsFor = (
  change: Pick<Change, 'source' | 'environment'>,
  { environment, changesFrom }: Pick<NamedSystem, 'environment' | 'changesFrom'>,
): boolean =>
  (change.source === OWN_LOOK || (changesFrom?.includes(change.source) ?? true)) &&
  isSameEnvironment(change.environment, environment);

/**
 * When it took effect, as far as it is known: at once, while it was under way, or at some moment between two looks.
 */
function timeOf(
  { source, state, startedAt, at }: Change,
  beganAt: string,
): Pick<RelatedChange, 'when' | 'beforeMs'> {
  const began = Date.parse(beganAt);
  const last = began - Date.parse(at);
  const first = state === 'started' || startedAt === null ? last : began - Date.parse(startedAt);
  if (last >= CLOCK_SKEW_MS) return { when: 'before', beforeMs: last };
  if (first <= -CLOCK_SKEW_MS) return { when: 'after', beforeMs: first };
  // Of a look only the bounds are known; of what is under way it is known that it had begun.
  const wasUnderWay = source !== OWN_LOOK && first >= CLOCK_SKEW_MS;
  if (wasUnderWay) return { when: 'before', beforeMs: last > 0 ? last : first };
  return { when: 'around', beforeMs: Math.max(last, 0) };
}

/** What a look saw of a change that somebody told of is the same change, and whoever told of it knows more; unless it is less of it. */
const isRepeat = (one: FoundChange, found: readonly FoundChange[]): boolean =>
  found.some(
    (told) =>
      told.source !== one.source &&
      (isIt(told) || !isIt(one)) &&
      ((one.source === OWN_LOOK && isSeen(told, one)) ||
        (one.source === HEARD && told.source !== OWN_LOOK && isToldTwice(told, one))),
  );

/** It began long ago, its end was never told, and the same thing has been changed by the same sender since. */
const isLongOver = (one: FoundChange, found: readonly FoundChange[]): boolean =>
  one.state === 'started' &&
  found.some(
    (later) =>
      later.state === 'succeeded' &&
      later.when !== 'after' &&
      later.source === one.source &&
      later.kind === one.kind &&
      later.through === one.through &&
      Date.parse(later.at) - Date.parse(one.at) >= LONGEST_MS,
  );

/** The same version came to the same thing, about when the look says. */
function isSeen(told: Change, seen: Change): boolean {
  const [from, to] = [Date.parse(seen.startedAt ?? seen.at), Date.parse(seen.at)];
  const [began, ended] = [Date.parse(told.startedAt ?? told.at), Date.parse(told.at)];
  return (
    seen.to !== null &&
    told.to !== null &&
    hasVersion(seen.to, told.to) &&
    told.where.some((name) => seen.where.includes(name)) &&
    ended >= from - CLOCK_SKEW_MS &&
    began <= to + CLOCK_SKEW_MS
  );
}

/** `registry/shop-api:v1.4.2` has 1.4.2, and not 1.4; a commit is written short or whole. */
function hasVersion(text: string, version: string): boolean {
  const wanted = shortRevision(version.toLowerCase());
  const at = text.toLowerCase().indexOf(wanted);
  if (at < 0 || wanted === '') return false;
  const [left, right] = [text[at - 1] ?? '', text[at + wanted.length] ?? ''];
  return wanted.length < version.length || (!/[0-9.]/.test(left) && !/[0-9.]/.test(right));
}
