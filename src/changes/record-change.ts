import { isDeepStrictEqual } from 'node:util';
import type { Change } from '../core/change.ts';
import type { Sql, Tx } from '../core/sql.ts';
import { redact } from '../safety/screen/redact.ts';
import { mergeChange } from './merge-change.ts';
import { type ChangeRow, toChange } from './rows.ts';

/** `repeated`: nothing in it was new. */
export type RecordedChange = 'recorded' | 'updated' | 'repeated';

/** Resolves when the change is durable. Telling the same again, at once or in another order, is harmless. */
export type RecordChange = (change: Change) => Promise<RecordedChange>;

export function createRecordChange(sql: Sql): RecordChange {
  return ({ versionOf, ...given }) => {
    const screened = redactChange(given);
    return sql.begin(async (tx) => {
      const told = versionOf ? await withOwnId(tx, screened, redact(versionOf)) : screened;
      if (await insert(tx, told)) return 'recorded';
      const [row] = await tx<ChangeRow>`
        SELECT * FROM change WHERE source = ${told.source} AND id = ${told.id} FOR UPDATE`;
      // Deleted for its age between the two statements.
      if (!row) return (await insert(tx, told)) ? 'recorded' : 'repeated';
      const known = toChange(row);
      const merged = mergeChange(known, told);
      if (isDeepStrictEqual(merged, known)) return 'repeated';
      await update(tx, merged);
      return 'updated';
    });
  };
}

/** A version is of the same change until another one follows; when it comes back after that, its id is of that time. */
async function withOwnId(tx: Tx, told: Change, versionOf: string): Promise<Change> {
  const { source, id, at, to, where } = told;
  const [before] = await tx<{ id: string; to_version: string | null }>`
    SELECT id, to_version FROM change
     WHERE source = ${source} AND names && ${tx.array(where)}::text[] AND starts_with(id, ${`${versionOf} `}) AND at < ${at}
     ORDER BY at DESC LIMIT 1`;
  if (!before) return told;
  if (before.to_version === to && before.id.startsWith(id)) return { ...told, id: before.id };
  const [known] = await tx`SELECT FROM change WHERE source = ${source} AND id = ${id} AND at < ${at}`;
  return known ? { ...told, id: `${id} at ${at}` } : told;
}

async function insert(tx: Tx, change: Change): Promise<boolean> {
  const { source, id, kind, state, title, where, environment, startedAt, at, by, from, to, commits, url } =
    change;
  const rows = await tx`
    INSERT INTO change (source, id, kind, state, title, names, environment, started_at, at, author, from_version, to_version, commits, url)
    VALUES (${source}, ${id}, ${kind}, ${state}, ${title}, ${tx.array(where)}::text[], ${environment}, ${startedAt}, ${at}, ${by},
            ${from}, ${to}, ${tx.json(commits)}, ${url})
    ON CONFLICT DO NOTHING RETURNING id`;
  return rows.length > 0;
}

async function update(tx: Tx, change: Change): Promise<void> {
  const { source, id, kind, state, title, where, environment, startedAt, at, by, from, to, commits, url } =
    change;
  await tx`
    UPDATE change SET kind = ${kind}, state = ${state}, title = ${title}, names = ${tx.array(where)}::text[],
           environment = ${environment}, started_at = ${startedAt}, at = ${at}, author = ${by}, from_version = ${from},
           to_version = ${to}, commits = ${tx.json(commits)}, url = ${url}
     WHERE source = ${source} AND id = ${id}`;
}

/** As it may be stored, shown and given to a model: people put tokens into commit messages and addresses. */
function redactChange(change: Change): Change {
  const screened = (text: string | null): string | null => text && redact(text);
  return {
    ...change,
    id: redact(change.id),
    title: redact(change.title),
    where: change.where.map(redact),
    environment: screened(change.environment),
    by: screened(change.by),
    from: screened(change.from),
    to: screened(change.to),
    commits: change.commits.map(({ sha, title, by, files }) => ({
      sha: screened(sha),
      title: screened(title),
      by: screened(by),
      files: files.map(redact),
    })),
    url: screened(change.url),
  };
}
