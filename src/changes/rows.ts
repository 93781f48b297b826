import type { Change } from '../core/change.ts';

/** The row of a change: `where`, `by`, `from` and `to` are words of SQL. */
export type ChangeRow = Omit<
  { readonly [Field in keyof Change]: Change[Field] },
  'where' | 'by' | 'from' | 'to' | 'startedAt'
> & {
  readonly names: readonly string[];
  readonly started_at: string | null;
  readonly author: string | null;
  readonly from_version: string | null;
  readonly to_version: string | null;
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
    commits,
    url,
  };
}
