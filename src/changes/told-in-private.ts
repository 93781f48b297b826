import { type Change, namesOf } from '../core/change.ts';
import { sha256 } from '../safety/sha256.ts';

/**
 * What may be kept of a change that was told where not everybody reads along: that something was changed, of a name that everybody knows,
 * and when. Who did it, versions and words stay where they were told, at `url`, which only those open who may read there. Null: it is of no
 * such name.
 */
export function toldInPrivate(
  change: Change,
  publicNames: readonly string[],
  url: string | null,
): Change | null {
  const known = new Set(namesOf(publicNames));
  const where = namesOf(change.where).filter((name) => known.has(name));
  const [name] = where;
  if (name === undefined) return null;
  const { versionOf, id, state } = change;
  const said = { started: 'is being changed', succeeded: 'was changed', failed: 'failed to change' }[state];
  // The id has names and versions in it.
  const hidden = (text: string): string => `private ${sha256(text).slice(0, 24)}`;
  return {
    ...change,
    ...(versionOf === undefined
      ? { id: hidden(id) }
      : { id: `${hidden(versionOf)} ${change.at}`, versionOf: hidden(versionOf) }),
    title: `${name} ${said}, as told in a private channel`,
    where,
    by: null,
    from: null,
    to: null,
    commits: [],
    url,
  };
}
