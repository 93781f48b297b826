import type { Change, Commit } from '../core/change.ts';

/**
 * What is known of a change once more was told of it, in whichever order: its last state, and of the rest what the later word says, else
 * the earlier. The same word again adds nothing.
 */
export function mergeChange(known: Change, told: Change): Change {
  const [last, first] = isLater(told, known) ? [told, known] : [known, told];
  return {
    ...last,
    kind: last.kind === 'other' ? first.kind : last.kind,
    where: last.where.length > 0 ? last.where : first.where,
    environment: last.environment ?? first.environment,
    startedAt: earliest(last.startedAt, first.startedAt, last.at),
    by: last.by ?? first.by,
    from: last.from ?? first.from,
    to: last.to ?? first.to,
    commits: moreOf(last.commits, first.commits),
    url: last.url ?? first.url,
  };
}

/**
 * An end comes after its beginning, whatever their times say; of two ends the later one counts. Of the same told twice the earlier one
 * does: nothing takes effect twice.
 */
function isLater(one: Change, other: Change): boolean {
  if (one.state === other.state) return one.at < other.at;
  const [isEnd, otherIsEnd] = [one.state !== 'started', other.state !== 'started'];
  return isEnd === otherIsEnd ? one.at > other.at : isEnd;
}

/** When it began, as told; never after it took effect. */
function earliest(one: string | null, other: string | null, at: string): string | null {
  const told = [one, other].filter((time) => time !== null);
  return told.length === 0 ? null : ([...told, at].toSorted()[0] ?? null);
}

/** The list that says more: of more commits, or of more of them what they are. */
function moreOf(last: readonly Commit[], first: readonly Commit[]): readonly Commit[] {
  const weigh = (commits: readonly Commit[]): number =>
    commits.length + commits.filter(({ title }) => title !== null).length;
  return weigh(first) > weigh(last) ? first : last;
}
