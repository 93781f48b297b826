import { type Change, shortRevision } from '../core/change.ts';
import { isSameEnvironment } from '../core/environment.ts';
import {
  type ChangeSourceSeen,
  OWN_LOOK,
  type RelatedChange,
  type WhatChanged,
} from '../core/what-changed.ts';
import { WIDEST } from './read-changes.ts';

/** Clocks of two machines differ by less: what is closer to the beginning than that may be before it or after. */
export const CLOCK_SKEW_MS = 60_000;
/** More suspects than a person weighs. */
const MOST_SUSPECTS = 12;
const MOST_AFTERWARDS = 6;
const MOST_COMMITS = 20;
const MOST_FILES = 10;

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
}

/** Which of what was changed may have to do with a problem. `of`: asked about what has these names alone. */
export function judgeChanges(
  subject: ChangesSubject,
  read: ReadChanges,
  of: readonly string[] | null = null,
): WhatChanged {
  const { from, to, inAll, looked, couldNotLook } = read;
  const told = withoutRepeats(read.changes);
  const asked = of && [...of, ...inNamespaces(subject, of)];
  const related = told
    .filter(
      ({ state, where }) =>
        state !== 'failed' && (asked === null || where.some((name) => asked.includes(name))),
    )
    .flatMap((change) => {
      const found = relationOf(change, subject);
      return found === null ? [] : [{ ...bounded(change), ...found, ...timeOf(change, subject.beganAt) }];
    });
  const newestFirst = [...related].sort((a, b) => b.at.localeCompare(a.at) || a.id.localeCompare(b.id));
  const isIt = ({ touches }: Pick<RelatedChange, 'touches'>): boolean => touches === 'it';
  const before = newestFirst.filter(({ when }) => when !== 'after');
  const suspects = [...before.filter(isIt), ...before.filter((one) => !isIt(one))].slice(0, MOST_SUSPECTS);
  // The first after it began say more than the last.
  const afterwards = newestFirst.filter(({ when }) => when === 'after').slice(-MOST_AFTERWARDS);
  const named = [...suspects, ...afterwards].map((change, at) => ({ ...change, ref: `c${at + 1}` }));
  const repeats = read.changes.length - told.length;
  return {
    answer: suspects.length > 0 ? 'changed' : looked.some(wouldHaveTold) ? 'nothing' : 'could_not_look',
    from,
    to,
    beganAt: subject.beganAt,
    suspects: named.slice(0, suspects.length),
    afterwards: named.slice(suspects.length),
    others: Math.max(0, inAll - named.length - repeats),
    looked,
    couldNotLook,
  };

  /** It was there before the problem began and when it did, and tells of this very thing: neighbours speak for themselves. */
  function wouldHaveTold({ of: thing, from: since, to: until }: ChangeSourceSeen): boolean {
    const own = of ?? [...(subject.system?.names ?? []), ...thingsOf(subject)];
    if (since === null || until === null || !own.includes(thing.toLowerCase())) return false;
    const began = Date.parse(subject.beganAt);
    return Date.parse(since) < began && Date.parse(until) >= began - CLOCK_SKEW_MS;
  }
}

/** The newest of its commits, and the first of their files: the answer is kept, and given to a model. */
const bounded = (change: Change): Change => ({
  ...change,
  commits: change.commits
    .slice(-MOST_COMMITS)
    .map((commit) => ({ ...commit, files: commit.files.slice(0, MOST_FILES) })),
});

/** How a change stands to what an incident is about; null: it has nothing to do with it, or its word does not count. */
function relationOf(
  change: Change,
  subject: ChangesSubject,
): Pick<RelatedChange, 'touches' | 'through'> | null {
  const { system, neighbours, elsewhere } = subject;
  if (change.where.length > WIDEST) return null;
  const own = system && change.where.find((name) => system.names.includes(name));
  if (!own && change.where.some((name) => elsewhere.includes(name))) return null;
  const counts = countsFor(change, system ?? { environment: subject.environment, changesFrom: null });
  const thing = counts ? thingOf(change, subject, own !== undefined && own !== null) : undefined;
  if (thing !== undefined) return { touches: 'it', through: thing };
  if (own && counts) return { touches: isOfAnother(change, subject) ? 'neighbour' : 'it', through: own };
  for (const neighbour of neighbours) {
    const through = change.where.find((name) => neighbour.names.includes(name));
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
const countsFor = (
  change: Change,
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

/** What a look saw of a change that somebody told of is the same change, and whoever told of it knows more. */
function withoutRepeats(changes: readonly Change[]): readonly Change[] {
  const told = changes.filter(({ source, state }) => source !== OWN_LOOK && state !== 'failed');
  return changes.filter((seen) => seen.source !== OWN_LOOK || !told.some((one) => isSeen(one, seen)));
}

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
