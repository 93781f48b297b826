import { isDeepStrictEqual } from 'node:util';
import type { Change } from '../core/change.ts';
import type { Sql, Tx } from '../core/sql.ts';
import { redact } from '../safety/screen/redact.ts';
import { mergeChange } from './merge-change.ts';
import { withCommits } from './pushed-commits.ts';
import { redactChange } from './redact-change.ts';
import { type ChangeRow, toChange } from './rows.ts';
import { isSameChange } from './same-change.ts';

/** `repeated`: nothing in it was new. */
export type RecordedChange = 'recorded' | 'updated' | 'repeated';

/** Has the open incidents hear of a change, in the transaction that records it. */
export type TellChange = (tx: Tx, change: Change) => Promise<void>;

/**
 * Resolves when the change is durable. Telling the same again, at once or in another order, is harmless. What two sources tell stays on
 * record as both tell it: whose word counts is another question for each system.
 */
export type RecordChange = (change: Change) => Promise<RecordedChange>;

export function createRecordChange(sql: Sql, tell?: TellChange): RecordChange {
  return ({ versionOf, ...given }) => {
    const screened = redactChange(given);
    return sql.begin(async (tx) => {
      const told = versionOf ? await withOwnId(tx, screened, redact(versionOf)) : screened;
      const first = await withCommits(tx, told);
      if (await insert(tx, first)) {
        await tell?.(tx, first);
        return 'recorded';
      }
      const [row] = await tx<ChangeRow>`
        SELECT * FROM change WHERE source = ${told.source} AND id = ${told.id} FOR UPDATE`;
      // Deleted for its age between the two statements.
      if (!row) return (await insert(tx, told)) ? 'recorded' : 'repeated';
      const known = toChange(row);
      const merged = await withCommits(tx, mergeChange(known, told));
      if (isDeepStrictEqual(merged, known)) return 'repeated';
      await update(tx, merged);
      await tell?.(tx, merged);
      return 'updated';
    });
  };
}

/** Of whom the sender has no id that tells one change from the next, the change before it says whether it is the same. */
async function withOwnId(tx: Tx, told: Change, versionOf: string): Promise<Change> {
  const { source, id, at, where } = told;
  const [row] = await tx<ChangeRow>`
    SELECT * FROM change
     WHERE source = ${source} AND names && ${tx.array(where)}::text[] AND starts_with(id, ${`${versionOf} `}) AND at < ${at}
     ORDER BY at DESC LIMIT 1`;
  const before = row && toChange(row);
  // Without a version it is of its own message, whatever an edit of that says.
  if (!before || (told.to === null && before.id === id)) return told;
  if (isSameChange(before, told)) return { ...told, id: before.id };
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
