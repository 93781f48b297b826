import { type Change, type Commit, commitOf } from '../core/change.ts';

/** The row of a change: `where`, `by`, `from` and `to` are words of SQL. */
export type ChangeRow = Omit<
  { readonly [Field in keyof Change]: Change[Field] },
  'where' | 'by' | 'from' | 'to' | 'startedAt' | 'commits'
> & {
  readonly names: readonly string[];
  readonly started_at: string | null;
  readonly author: string | null;
  readonly from_version: string | null;
  readonly to_version: string | null;
  /** Those on record from before they had a title are texts. */
  readonly commits: readonly (Commit | string)[];
};

export function toChange(row: ChangeRow): Change {
  const { source, id, kind, state, title, environment, at, commits, url } = row;
  return {
    source,
    id,
    kind,
    state,
    title,
    where: row.names,
    environment,
    startedAt: row.started_at,
    at,
    by: row.author,
    from: row.from_version,
    to: row.to_version,
    commits: commits.map((commit) => (typeof commit === 'string' ? commitOf(commit) : commit)),
    url,
  };
}
