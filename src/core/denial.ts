import type { ActionId, IncidentId } from './ids.ts';

/**
 * Something an active tool touches, as the tool names it within the target's system. The gate puts the physical identity of
 * the system in front, so that a thing is the same one under every name of its target.
 */
export interface TouchedObject {
  /** `session`, `setting`, `table`, `service`, `file` …; a word for people as well. */
  readonly kind: string;
  /** Stable for as long as the thing exists, and never another's after that (pid and start, not the pid). */
  readonly key: string;
  /** For people: `session 7533 (shop-backoffice)`. */
  readonly label: string;
  /** Whose it is, where several things belong together. */
  readonly application?: { readonly key: string; readonly label: string };
}

/**
 * How far a No reaches: what was to be done to the thing (`act`), anything done to it, all things of its application; each in
 * every incident. `action`: this very command in one incident, as Noes of before an act could be denied.
 */
export const denialScopes = ['act', 'object', 'application', 'action'] as const;
export type DenialScope = (typeof denialScopes)[number];

/** How long a denial of these things lasts when nobody says otherwise; null: until they are gone. */
export function usualDenialMinutes(kind: string, scope: DenialScope): number | null {
  if (scope === 'action') return null;
  return scope !== 'application' && endsByItself(kind) ? null : DENIAL_DAYS * 24 * 60;
}

/** Things whose key no other thing will ever have: a denial of them needs no end. */
export const endsByItself = (kind: string): boolean => kind === 'session';

const DENIAL_DAYS = 7;

/** What a No is when nobody says more: to what was to be done, whoever asks for it again. */
export const usualReach = (objects: readonly TouchedObject[]): DenialReach => ({
  scope: 'act',
  minutes: usualDenialMinutes(kindOf(objects), 'act'),
});

/** A person's No, on record. */
export interface Denial {
  readonly id: string;
  /** Where it was said. */
  readonly incidentId: IncidentId;
  readonly actionId: ActionId;
  readonly scope: DenialScope;
  readonly kind: string;
  /** What it is about, for people. */
  readonly label: string;
  readonly saidBy: string;
  readonly saidAt: string;
  readonly reason: string;
  /** Null: for as long as the thing is there. */
  readonly until: string | null;
  /** Where it was said, for who may read the reason. */
  readonly channel: string | null;
  readonly takenBackBy: string | null;
  readonly takenBackAt: string | null;
}

/** What a person chose when they denied. */
export interface DenialReach {
  readonly scope: DenialScope;
  /** Null: for as long as the thing is there. */
  readonly minutes: number | null;
}

/** Full keys of what an action touches. */
export const objectKeys = (objects: readonly Pick<TouchedObject, 'key'>[]): readonly string[] => [
  ...new Set(objects.map(({ key }) => key)),
];

/** Full keys of the applications of what an action touches. */
export const applicationKeys = (objects: readonly TouchedObject[]): readonly string[] => [
  ...new Set(objects.flatMap(({ application }) => (application ? [application.key] : []))),
];

/** What a No to these things is about: the applications they belong to, if it reaches so far, and what belongs to none. */
export const coveredBy = (
  objects: readonly TouchedObject[],
  scope: DenialScope,
): readonly Pick<TouchedObject, 'key' | 'label'>[] =>
  scope === 'application' ? objects.map(({ application, ...object }) => application ?? object) : objects;

/** Objects as a tool names them, under the physical identity of the system they are on. */
export function onSystem(identity: string, objects: readonly TouchedObject[]): readonly TouchedObject[] {
  return objects.map(({ application, ...object }) => ({
    ...object,
    key: `${identity}/${object.kind}/${object.key}`,
    ...(application
      ? { application: { ...application, key: `${identity}/application/${application.key}` } }
      : {}),
  }));
}

/** What a No to all of them lasts by: where one of them stays, it is not for as long as another is there. */
export function kindOf(objects: readonly TouchedObject[]): string {
  return (objects.find(({ kind }) => !endsByItself(kind)) ?? objects[0])?.kind ?? '';
}

/** What they are, in a few words: `session 7533 (shop-backoffice)`; the first where there are many. */
export function formatObjects(objects: readonly Pick<TouchedObject, 'label'>[]): string {
  const labels = [...new Set(objects.map(({ label }) => label))];
  const [first = 'this'] = labels;
  return labels.length > 1 ? `${first} and ${labels.length - 1} more` : first;
}
