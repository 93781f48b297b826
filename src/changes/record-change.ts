import { isDeepStrictEqual } from 'node:util';
import type { Change } from '../core/change.ts';
import type { Sql, Tx } from '../core/sql.ts';
import { OWN_LOOK } from '../core/what-changed.ts';
import { redact } from '../safety/screen/redact.ts';
import { mergeChange } from './merge-change.ts';
import { withCommits } from './pushed-commits.ts';
import { redactChange } from './redact-change.ts';
import { type ChangeRow, toChange } from './rows.ts';
import { isSameChange, isToldTwice } from './same-change.ts';

/** `repeated`: nothing in it was new. */
export type RecordedChange = 'recorded' | 'updated' | 'repeated';

/** Resolves when the change is durable. Telling the same again, at once or in another order, is harmless. */
export type RecordChange = (change: Change) => Promise<RecordedChange>;

export function createRecordChange(sql: Sql): RecordChange {
  return ({ versionOf, ...given }) => {
    const screened = redactChange(given);
    return sql.begin(async (tx) => {
      const told = versionOf ? await withOwnId(tx, screened, redact(versionOf)) : screened;
      if (await isToldElsewhere(tx, told)) return 'repeated';
      if (await insert(tx, await withCommits(tx, told))) return 'recorded';
      const [row] = await tx<ChangeRow>`
        SELECT * FROM change WHERE source = ${told.source} AND id = ${told.id} FOR UPDATE`;
      // Deleted for its age between the two statements.
      if (!row) return (await insert(tx, told)) ? 'recorded' : 'repeated';
      const known = toChange(row);
      const merged = await withCommits(tx, mergeChange(known, told));
      if (isDeepStrictEqual(merged, known)) return 'repeated';
      await update(tx, merged);
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

const HEARD = 'slack';

/**
 * What a deploy bot says in Slack is often told by its own webhook as well, which knows more: of the two that one is kept, in whichever
 * order they come. What Sentry saw by itself is another's word, not the same one twice.
 */
async function isToldElsewhere(tx: Tx, told: Change): Promise<boolean> {
  const { source, where, startedAt, at } = told;
  if (source === OWN_LOOK) return false;
  const rows = await tx<ChangeRow>`
    SELECT * FROM change
     WHERE names && ${tx.array(where)}::text[] AND (source = ${HEARD}) <> ${source === HEARD} AND source <> ${OWN_LOOK}
       AND at BETWEEN ${startedAt ?? at}::timestamptz - interval '2 hours' AND ${at}::timestamptz + interval '2 hours'
     ORDER BY at DESC LIMIT 100`;
  const others = rows.map(toChange);
  if (source === HEARD) return others.some((own) => isToldTwice(own, told));
  for (const heard of others.filter((each) => isToldTwice(told, each)))
    await tx`DELETE FROM change WHERE source = ${HEARD} AND id = ${heard.id}`;
  return false;
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
