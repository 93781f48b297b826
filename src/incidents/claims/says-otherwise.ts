import { namesIn, quotedIn } from '../../core/claims/names.ts';
import { readQuantities } from '../../core/claims/quantities.ts';
import type { Diagnosis } from '../../core/diagnosis.ts';
import type { Incident } from '../../core/incident.ts';
import { saysTheSame } from './problems.ts';

type Said = Pick<Diagnosis, 'verdict' | 'category' | 'rootCause'>;

/**
 * Whether a diagnosis takes back what the one before it said: another verdict, or a cause of another kind or of other things. The same
 * in other words, or with other numbers and ages, takes nothing back.
 */
export function saysOtherwise(
  before: Said,
  now: Said,
  { target }: Pick<Incident, 'target'> = { target: null },
): boolean {
  if (before.verdict !== now.verdict) return true;
  if (now.verdict !== 'cause_found' || saysTheSame(before.rootCause, now.rootCause)) return false;
  if (before.category !== null && now.category !== null && before.category !== now.category) return true;
  const [then, named] = [namesOf(before.rootCause, target), namesOf(now.rootCause, target)];
  const isShared = [...then].some((name) => named.has(name));
  // Of one kind both: other things have to be named to be another cause.
  if (before.category !== null && before.category === now.category)
    return then.size > 0 && named.size > 0 && !isShared;
  return !isShared;
}

/** What a cause names beside the target itself: neither numbers nor times. */
function namesOf(text: string, target: string | null): ReadonlySet<string> {
  const { quoted, rest } = quotedIn(text);
  const names = [...quoted, ...namesIn(readQuantities(rest).rest, EVERY_FAMILY)];
  return new Set(
    names
      .map((name) => name.toLowerCase())
      .filter((name) => name !== target?.toLowerCase() && (/\p{L}{2}/u.test(name) || IPV4.test(name))),
  );
}

const IPV4 = /^\d+(?:\.\d+){3}/;
/** Every hyphened word counts as a name: it only has to be the same on both sides. */
const EVERY_FAMILY: Pick<ReadonlySet<string>, 'has'> = { has: () => true };
