import type { IncidentId } from '../../core/ids.ts';
import { distinctiveWords, likeness } from '../../search/text/distinctive-words.ts';
import type { SystemFacts } from '../systems/system-facts.ts';
import type { IncidentEnd } from './incident-end.ts';

/** One past incident as the record has it. */
export interface PastCase {
  readonly id: IncidentId;
  readonly title: string;
  readonly alertName: string | null;
  readonly incidentType: string | null;
  readonly target: string | null;
  readonly severity: string;
  readonly fingerprint: string;
  readonly cause: string | null;
  readonly end: IncidentEnd;
  /** ISO 8601. */
  readonly openedAt: string;
  readonly updatedAt: string;
  /** What was run, oldest first; `success` null: nobody could tell. */
  readonly tried: readonly { readonly command: string; readonly success: boolean | null }[];
  /** What people said of it afterwards: was the cause right, was it useful. */
  readonly grades: readonly boolean[];
  /** At least as many said that its cause was wrong as said that it was right. */
  readonly isCauseWrong: boolean;
  /** Its text as it is found and shown; null: not indexed yet. */
  readonly text: string | null;
  /** What its target ran then; null where that is not known. */
  readonly system: SystemFacts | null;
}

/** The same problem again and again: one memory stands for all of it. */
export interface Cluster {
  readonly newest: PastCase;
  /** Newest first. */
  readonly cases: readonly PastCase[];
  /**
   * Different ones, the most frequent first; each in the words of the newest incident that had it. `isWrong`: people said so wherever it
   * was found.
   */
  readonly causes: readonly { readonly cause: string; readonly times: number; readonly isWrong: boolean }[];
}

/** Of the telling words of both causes: two ways to say the same thing share so many. */
const SAME_CAUSE = 0.5;
/** Of the telling words of title and causes: what shares so many beyond that is a near-copy that tells nothing new. */
const NEAR_COPY = 0.6;

/**
 * By the same alert (its fingerprint), or by the same kind, target and title with a cause that is alike. An incident
 * whose cause nobody found belongs to those that look the same.
 *
 * @param cases newest first, each once
 */
export function clustersOf(cases: readonly PastCase[]): readonly Cluster[] {
  const groups: { readonly cases: PastCase[]; readonly fingerprints: Set<string>; readonly kind: string }[] =
    [];
  for (const one of cases) {
    const kind = kindOf(one);
    const group =
      groups.find(({ fingerprints }) => fingerprints.has(one.fingerprint)) ??
      groups.find((each) => each.kind === kind && each.cases.some((other) => sameCause(other, one)));
    if (group) {
      group.cases.push(one);
      group.fingerprints.add(one.fingerprint);
    } else groups.push({ cases: [one], fingerprints: new Set([one.fingerprint]), kind });
  }
  return groups.flatMap(({ cases: members }) => {
    const [newest] = members;
    return newest === undefined ? [] : [{ newest, cases: members, causes: causesOf(members) }];
  });
}

/** In their order without those that say nearly the same as one before them. */
export function withoutNearCopies<T>(found: readonly T[], clusterOf: (one: T) => Cluster): readonly T[] {
  const kept: { readonly one: T; readonly words: ReadonlySet<string>; readonly target: string | null }[] = [];
  for (const one of found) {
    const { newest, causes } = clusterOf(one);
    const words = distinctiveWords([newest.title, ...causes.map(({ cause }) => cause)].join(' '));
    const copy = kept.some(
      (other) => other.target === newest.target && likeness(other.words, words) >= NEAR_COPY,
    );
    if (!copy) kept.push({ one, words, target: newest.target });
  }
  return kept.map(({ one }) => one);
}

/**
 * The command without what names one occurrence: process ids, moments, ids in hexadecimal. Other numbers stay: the value of
 * a setting is what was done.
 */
export function commandPattern(command: string): string {
  return command.replace(OCCURRENCE, (_, before: string | undefined) => `${before ?? ''}…`);
}

const OCCURRENCE =
  /(\bpid\s{0,3}=?\s{0,3}|_backend\(\s{0,3}|\bkill\s(?:-\w+\s)?)\d+|\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.]*(?:Z|[+-]\d\d(?::?\d\d)?)?|\b(?=[0-9a-f]*\d)[0-9a-f]{12,64}\b/g;

/** What was run in these incidents, by its pattern, what helped most first: how often it was run, and how often it helped. */
export function remediesOf(
  cases: readonly PastCase[],
): readonly { readonly command: string; readonly helped: number; readonly of: number }[] {
  const remedies = new Map<string, { helped: number; of: number }>();
  for (const { command, success } of cases.flatMap(({ tried }) => tried)) {
    const pattern = commandPattern(command);
    const remedy = remedies.get(pattern) ?? { helped: 0, of: 0 };
    remedies.set(pattern, { helped: remedy.helped + (success === true ? 1 : 0), of: remedy.of + 1 });
  }
  return [...remedies]
    .map(([command, counts]) => ({ command, ...counts }))
    .toSorted((a, b) => b.helped - a.helped || b.of - a.of);
}

function kindOf({ incidentType, alertName, target, title }: PastCase): string {
  return JSON.stringify([incidentType ?? alertName, target, normalTitle(title)]);
}

/** Numbers and what carries them say which time it was, not what it is. */
function normalTitle(title: string): string {
  return title
    .toLowerCase()
    .split(/[^\p{L}\p{N}_-]+/u)
    .filter((word) => word !== '')
    .map((word) => (/\d/.test(word) ? '#' : word))
    .join(' ');
}

function sameCause(a: PastCase, b: PastCase): boolean {
  if (a.cause === null || b.cause === null) return true;
  return alike(a.cause, b.cause);
}

/** Two ways to say the same. */
export function alike(a: string, b: string): boolean {
  return a === b || likeness(distinctiveWords(a), distinctiveWords(b)) >= SAME_CAUSE;
}

function causesOf(cases: readonly PastCase[]): Cluster['causes'] {
  const causes: { readonly cause: string; times: number; isWrong: boolean }[] = [];
  for (const { cause, isCauseWrong } of cases) {
    if (cause === null) continue;
    const known = causes.find((one) => alike(one.cause, cause));
    if (known) {
      known.times += 1;
      known.isWrong &&= isCauseWrong;
    } else causes.push({ cause, times: 1, isWrong: isCauseWrong });
  }
  return causes.toSorted((a, b) => b.times - a.times);
}
