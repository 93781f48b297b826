import type { Severity } from '../../core/alert.ts';
import { ENVIRONMENT_LABELS } from '../../core/environment.ts';
import type { IncidentState } from '../../core/incident.ts';
import { mayLeadOthers, restsUnder } from '../../core/machine.ts';
import type { MergeReason } from '../../core/merge.ts';
import type { Target } from '../../core/target.ts';
import { harmsOthers, mayFollow, symptomOf } from './symptom.ts';

/** What is known of an incident when it is asked whether it is a part of another. */
export interface Side<Id = string> {
  readonly id: Id;
  readonly target: string | null;
  readonly state: IncidentState;
  /** When its alert began, as the sender says, else when it came; of one that fires again, when that was. */
  readonly beganAt: Date;
  readonly title: string;
  readonly alertName: string | null;
  readonly severity: Severity;
  readonly labels: Readonly<Record<string, unknown>>;
  readonly annotations: Readonly<Record<string, unknown>>;
  /** `hand`: a person has opened it. */
  readonly source: string;
  readonly fires: boolean;
  /** It waits by itself: muted, flapping, or the policy asks for nothing. */
  readonly rests: boolean;
  /** Something of it waits for approval, runs, or may have run. */
  readonly acts: boolean;
  /** It rests under another already. */
  readonly isMember: boolean;
}

/** A configured system, as far as it matters here. */
export interface Neighbour
  extends Pick<Target, 'name' | 'environment' | 'neighbours' | 'aliases' | 'changesFrom'> {
  /** It tells of others, and nothing stands on it: a Prometheus, a Loki. */
  readonly observes: boolean;
}
/** By name; undefined: none is called so, or several are. */
export type Topology = (name: string) => Neighbour | undefined;

/** What was altered on several systems at once. */
export interface SharedChange {
  /** More than one sender's word says that it touched both. */
  readonly isTrusted: boolean;
  readonly id: string;
  readonly title: string;
  readonly url: string | null;
}

export type Correlated<Id> =
  | { readonly kind: 'merge'; readonly child: Id; readonly lead: Id; readonly because: MergeReason }
  /** Related, perhaps, and said so by nobody. */
  | { readonly kind: 'hint' }
  | { readonly kind: 'none' };

const NONE = { kind: 'none' } as const;
const HINT = { kind: 'hint' } as const;

export const mayLead = ({ state, rests }: Pick<Side, 'state' | 'rests'>): boolean =>
  mayLeadOthers(state) && !rests;
export const mayRest = ({ state, rests, acts }: Pick<Side, 'state' | 'rests' | 'acts'>): boolean =>
  restsUnder(state) && !rests && !acts;

/**
 * Whether two incidents are one problem: one is on what the other declares to stand on, or both follow one change. That they come at one
 * time says nothing. What is in doubt is a hint: two threads of one problem cost less than one thread of two.
 */
export function correlate<Id>(
  a: Side<Id>,
  b: Side<Id>,
  topology: Topology,
  change: SharedChange | null,
  windowMs: number,
): Correlated<Id> {
  if (a.id === b.id || !isFree(a) || !isFree(b)) return NONE;
  if (Math.abs(a.beganAt.getTime() - b.beganAt.getTime()) > windowMs || areApart(a, b, topology)) return NONE;
  return (
    byTopology(a, b, topology) ??
    byChange(a, b, change?.isTrusted ? change : (carriedChange(a, b) ?? change)) ??
    HINT
  );
}

const isFree = <Id>(one: Side<Id>): boolean =>
  one.fires && one.source !== 'hand' && (mayLead(one) || mayRest(one));

/** The systems are of different environments, or their alerts say so. */
function areApart<Id>(a: Side<Id>, b: Side<Id>, topology: Topology): boolean {
  const [one, other] = [systemOf(a, topology), systemOf(b, topology)];
  if (one && other && one.environment !== other.environment) return true;
  return PLACES.some((names) => {
    const [here, there] = [labelOf(a, names), labelOf(b, names)];
    return here !== null && there !== null && here !== there;
  });
}

/** What says where an alert is from: two that differ in one of them are not from one place. */
const PLACES: readonly (readonly string[])[] = [
  ENVIRONMENT_LABELS,
  ['region', 'aws_region', 'location'],
  ['datacenter', 'dc', 'site'],
  ['tenant', 'customer', 'customer_id', 'tenant_id'],
];

const systemOf = <Id>({ target }: Side<Id>, topology: Topology): Neighbour | undefined =>
  target === null ? undefined : topology(target);

/** One of them is on what the other's system stands on: that one leads. Null: neither is. */
function byTopology<Id>(a: Side<Id>, b: Side<Id>, topology: Topology): Correlated<Id> | null {
  const [one, other] = [systemOf(a, topology), systemOf(b, topology)];
  if (!one || !other || one.name === other.name || one.observes || other.observes) return null;
  const up = one.neighbours?.includes(other.name) ?? false;
  const down = other.neighbours?.includes(one.name) ?? false;
  if (!up && !down) return null;
  const leads = up && down ? isEarlier(a, b) : down;
  const [lead, child, base, on] = leads ? [a, b, one, other] : [b, a, other, one];
  if (!mayFollow(told(child)) || !harmsOthers(told(lead)) || namesAnother(child, [base, on], topology))
    return null;
  return merged(child, lead, { kind: 'neighbour', target: on.name, neighbour: base.name });
}

/**
 * Both are about what one change touched: the earlier leads. A critical one rests under none for the word of one sender: whoever may tell
 * of a change could take it from sight.
 */
function byChange<Id>(a: Side<Id>, b: Side<Id>, change: SharedChange | null): Correlated<Id> | null {
  if (change === null || [a, b].some((one) => !['service', 'resource'].includes(symptomOf(told(one)))))
    return null;
  // Of one system, that a change touched it says nothing about which of its alerts belong together.
  if (a.target !== null && a.target === b.target) return null;
  const { isTrusted, ...shared } = change;
  const mayRestByIt = (one: Side<Id>) => isTrusted || one.severity !== 'critical';
  const [first, second] = isEarlier(a, b) ? [a, b] : [b, a];
  const [lead, child] = mayRestByIt(second) ? [first, second] : [second, first];
  return mayRestByIt(child) ? merged(child, lead, { kind: 'change', isTrusted, change: shared }) : null;
}

function merged<Id>(child: Side<Id>, lead: Side<Id>, because: MergeReason): Correlated<Id> {
  if (!mayLead(lead) || !mayRest(child) || child.isMember) return HINT;
  return { kind: 'merge', child: child.id, lead: lead.id, because };
}

/** The earlier, of two of one moment the one with the lower number. */
function isEarlier<Id>(a: Side<Id>, b: Side<Id>): boolean {
  const later = a.beganAt.getTime() - b.beganAt.getTime();
  return later === 0 ? String(a.id).localeCompare(String(b.id), 'en', { numeric: true }) < 0 : later < 0;
}

/** It says itself what it waits for, and that is another system. */
function namesAnother<Id>(
  child: Side<Id>,
  own: readonly [Neighbour, Neighbour],
  topology: Topology,
): boolean {
  const known = own.flatMap(({ name, aliases }) => [name, ...aliases]).map((name) => name.toLowerCase());
  const words = child.title.match(/[A-Za-z0-9][\w.-]*[A-Za-z0-9]/g) ?? [];
  return words.some(
    (word) => !known.includes(word.toLowerCase()) && topology(word.toLowerCase()) !== undefined,
  );
}

/** The same commit or deployment stands in both alerts. A version does not tell one change from another. */
function carriedChange<Id>(a: Side<Id>, b: Side<Id>): SharedChange | null {
  const [one, other] = [labelOf(a, DEPLOYMENT), labelOf(b, DEPLOYMENT)];
  if (one !== null && other !== null)
    return one === other ? { isTrusted: true, id: one, title: `deployment ${one}`, url: null } : null;
  const [commit, same] = [commitOf(a), commitOf(b)];
  if (commit === null || same === null || !isSameCommit(commit, same)) return null;
  return { isTrusted: true, id: commit, title: `commit ${commit.slice(0, 12)}`, url: null };
}

/** Its alert says itself which change it is about. */
export const carriesChange = <Id>(one: Side<Id>): boolean =>
  labelOf(one, DEPLOYMENT) !== null || commitOf(one) !== null;

const DEPLOYMENT = ['deployment_id', 'deploy_id', 'rollout_id', 'release_id'];
const COMMIT = [
  'commit',
  'commit_sha',
  'commit_id',
  'git_commit',
  'git_sha',
  'sha',
  'revision',
  'git_revision',
];

function commitOf<Id>(one: Side<Id>): string | null {
  const commit = labelOf(one, COMMIT);
  return commit !== null && /^[0-9a-f]{7,64}$/.test(commit) && /[a-f]/.test(commit) && /\d/.test(commit)
    ? commit
    : null;
}

const isSameCommit = (one: string, other: string): boolean => one.startsWith(other) || other.startsWith(one);

/** What stands in the labels, else in the annotations, under one of the names, however they are written. */
export function labelOf(
  { labels, annotations }: Pick<Side, 'labels' | 'annotations'>,
  names: readonly string[],
): string | null {
  for (const [key, value] of [...Object.entries(labels), ...Object.entries(annotations)])
    if (typeof value === 'string' && value !== '' && names.includes(snake(key))) return value.toLowerCase();
  return null;
}

const snake = (key: string): string =>
  key
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .toLowerCase();

const SERVICE = ['service', 'service_name', 'app', 'application', 'deployment', 'component'];

/** Its services, as its alert names them. */
export const servicesOf = <Id>(one: Side<Id>): readonly string[] => valuesOf(one, SERVICE);

export const valuesOf = (
  { labels, annotations }: Pick<Side, 'labels' | 'annotations'>,
  keys: readonly string[],
): readonly string[] =>
  Object.entries({ ...annotations, ...labels }).flatMap(([key, value]) =>
    typeof value === 'string' && value !== '' && keys.includes(snake(key)) ? [value] : [],
  );

function told<Id>(one: Side<Id>) {
  const { title, alertName, severity, target } = one;
  const names = valuesOf(one, [...SERVICE, 'job']);
  return { title, alertName, severity, names: [...(target === null ? [] : [target]), ...names] };
}
