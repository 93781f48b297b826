import { boundedCommits, type Change, type Commit, type Push } from '../core/change.ts';
import type { Sql, Tx } from '../core/sql.ts';
import { redactCommit } from './redact-change.ts';
import { type ChangeRow, toChange } from './rows.ts';

/** Resolves when the commits are durable. The same push again adds nothing. */
export type RecordPush = (push: Push) => Promise<void>;

/** Commits that are pushed are no change of any system: they are kept to tell what a deployment brought. */
export function createRecordPush(sql: Sql): RecordPush {
  return async ({ repository, branch, before, commits }) => {
    const chain = boundedCommits(commits.filter(({ sha }) => sha !== null)).map(redactCommit);
    // What was cut off before the first that is kept breaks the chain there.
    const isWhole = chain.length === commits.length;
    const rows = chain.map((commit, n) => ({
      sha: commit.sha?.toLowerCase(),
      previous: n === 0 ? (isWhole ? before : null) : chain[n - 1]?.sha,
      commit,
    }));
    await sql`
      INSERT INTO pushed_commit (sha, repository, branch, previous, told)
      SELECT c.sha, ${repository}, ${branch}, lower(c.previous), c.commit
        FROM jsonb_to_recordset(${sql.json(rows)}) AS c(sha text, previous text, commit jsonb)
      ON CONFLICT DO NOTHING`;
  };
}

/** What it was before, and the commits between, as far as pushes told of them; where they do not reach back so far, its own commit alone. */
export async function withCommits(tx: Tx, told: Change): Promise<Change> {
  if (told.to === null || !['deployment', 'rollback'].includes(told.kind)) return told;
  const before = await deployedBefore(tx, told);
  const from = told.from ?? before?.to ?? null;
  const since = told.from === null ? before && revisionOf(before) : hashIn(told.from);
  const revision = revisionOf(told);
  const commits = revision === null ? [] : await commitsBetween(tx, since, revision);
  const titled = told.commits.filter(({ title }) => title !== null).length;
  return { ...told, from, commits: commits.length > titled ? commits : told.commits };
}

/** The last that took effect of the same things in the same place, by the same sender. */
async function deployedBefore(tx: Tx, { source, id, where, environment, startedAt, at }: Change) {
  const names = tx.array(where);
  const [row] = await tx<ChangeRow>`
    SELECT * FROM change
     WHERE source = ${source} AND names && ${names}::text[] AND names = ${names}::text[] AND id <> ${id}
       AND at < ${startedAt ?? at} AND state = 'succeeded' AND kind IN ('deployment', 'rollback')
       AND environment IS NOT DISTINCT FROM ${environment} AND to_version IS NOT NULL
     ORDER BY at DESC LIMIT 1`;
  return row ? toChange(row) : null;
}

/** The hash that a change ended at. */
const revisionOf = ({ to, commits }: Change): string | null =>
  hashIn(to) ?? hashIn(commits.at(-1)?.sha ?? null);

/** “main@sha1:279484c0” names one, too. */
const hashIn = (version: string | null): string | null =>
  /(?:^|[:@/])([0-9a-f]{7,64})$/.exec(version?.toLowerCase() ?? '')?.[1] ?? null;

/** More than anybody reads; what is further back is not followed. */
const LONGEST = 500;

interface Walked {
  /** With its repository: a fork may have the same commit. */
  readonly branch: string;
  readonly previous: string | null;
  readonly told: Commit;
  readonly n: number;
}

/** Along each branch that has the commit, from it back to the other; a hash may be given by its first digits. */
async function commitsBetween(tx: Tx, from: string | null, to: string): Promise<readonly Commit[]> {
  const rows = await tx<Walked>`
    WITH RECURSIVE walk AS (
      (SELECT sha, repository, branch, previous, told, 1 AS n FROM pushed_commit
        WHERE sha >= ${to} AND sha < ${`${to}g`} ORDER BY at DESC LIMIT 5)
      UNION ALL
      SELECT p.sha, p.repository, p.branch, p.previous, p.told, walk.n + 1
        FROM walk JOIN pushed_commit p ON p.sha = walk.previous AND p.repository = walk.repository AND p.branch = walk.branch
       WHERE walk.n < ${LONGEST} AND ${from}::text IS NOT NULL AND NOT starts_with(walk.previous, ${from})
    )
    SELECT repository || ' ' || branch AS branch, previous, told, n FROM walk ORDER BY n`;
  for (const branch of new Set(rows.map((row) => row.branch))) {
    const walked = rows.filter((row) => row.branch === branch);
    if (from !== null && walked.at(-1)?.previous?.startsWith(from))
      return boundedCommits(walked.map(({ told }) => told).toReversed());
  }
  return rows.slice(0, 1).map(({ told }) => told);
}
