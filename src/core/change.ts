import { clip } from './clip.ts';

export const changeKinds = [
  'deployment',
  'rollback',
  'config',
  'migration',
  'feature_flag',
  'infrastructure',
  'other',
] as const;
export type ChangeKind = (typeof changeKinds)[number];

export const changeStates = ['started', 'succeeded', 'failed'] as const;
export type ChangeState = (typeof changeStates)[number];

/** One of the commits that a change brought: who wrote what, as far as that is told. */
export interface Commit {
  /** Its revision; null: only told in words. */
  readonly sha: string | null;
  /** The first line of its message. */
  readonly title: string | null;
  readonly by: string | null;
  /** Paths in its repository that it touched, the first of them. */
  readonly files: readonly string[];
}

/** Something that was changed in a system, in the one normal form of all senders. It opens nothing, and causes nothing by itself. */
export interface Change {
  /** The name of its source (src/sources), or the token of the API that told of it. */
  readonly source: string;
  /** The sender's own id: whatever it tells of this id later is of the same change. */
  readonly id: string;
  /** What the id names a version of, and begins with: a version that comes back after another is another change. Not kept. */
  readonly versionOf?: string;
  readonly kind: ChangeKind;
  readonly state: ChangeState;
  /** “shop-api 1.4.2 deployed”. */
  readonly title: string;
  /** Names of what it touched, as the sender calls them, in lower case. */
  readonly where: readonly string[];
  readonly environment: string | null;
  /** ISO 8601; null: its beginning was not told. */
  readonly startedAt: string | null;
  /** ISO 8601: when it took effect; while it is under way, when it began. */
  readonly at: string;
  readonly by: string | null;
  /** Versions or commits. */
  readonly from: string | null;
  readonly to: string | null;
  /** The newest last. */
  readonly commits: readonly Commit[];
  readonly url: string | null;
}

/** What was pushed to a repository: no change of any system, until it is deployed. */
export interface Push {
  readonly repository: string;
  readonly branch: string;
  /** The revision that its commits come after; null: not known, as after a forced push. */
  readonly before: string | null;
  /** The newest last. */
  readonly commits: readonly Commit[];
}

const TEXT = 300;
const ADDRESS = 3_000;
/** Enough to tell that a change is of everything. */
const MOST_NAMES = 100;
const MOST_COMMITS = 50;
const MOST_FILES = 20;
const COMMIT_TEXT = 200;

/** More than anybody deploys at once: what one request tells of is stored one after the other while its sender waits. */
export const MOST_AT_ONCE = 500;

/**
 * The change as it is kept: a sender may write megabytes into a title, and its clock may be ahead of ours. A change of which nobody says
 * when it was is of now.
 */
export function boundedChange(change: Change, now: Date): Change {
  const latest = now.toISOString();
  const past = (time: string): string => (time > latest ? latest : time);
  const at = past(change.at);
  const startedAt = change.startedAt === null ? null : past(change.startedAt);
  return {
    ...change,
    id: clip(change.id, TEXT),
    title: clip(change.title.replace(/\s+/g, ' '), TEXT),
    where: namesOf(change.where),
    environment: change.environment && clip(change.environment.toLowerCase(), TEXT),
    at,
    startedAt: startedAt !== null && startedAt > at ? at : startedAt,
    by: change.by && clip(change.by, TEXT),
    from: change.from && clip(change.from, TEXT),
    to: change.to && clip(change.to, TEXT),
    commits: boundedCommits(change.commits),
    // Half an address leads nowhere.
    url: change.url !== null && change.url.length <= ADDRESS ? change.url : null,
  };
}

/** Names as they are compared: whole, in lower case, each once. */
export function namesOf(given: readonly (string | null | undefined)[]): readonly string[] {
  const names = given.flatMap((name) => {
    const plain = name?.trim().toLowerCase() ?? '';
    return plain === '' ? [] : [clip(plain, TEXT)];
  });
  return [...new Set(names)].slice(0, MOST_NAMES);
}

/** The newest of them, each of bounds. */
export const boundedCommits = (commits: readonly Commit[]): readonly Commit[] =>
  commits.slice(-MOST_COMMITS).map(({ sha, title, by, files }) => ({
    sha: sha && clip(sha, COMMIT_TEXT),
    title: title && clip(title.replace(/\s+/g, ' '), COMMIT_TEXT),
    by: by && clip(by, COMMIT_TEXT),
    files: files.slice(0, MOST_FILES).map((file) => clip(file, COMMIT_TEXT)),
  }));

/** A commit that is told as a text: “4f2a91c”, “4f2a91c Checkout keeps its connection” or only in words. */
export function commitOf(text: string): Commit {
  const [line = ''] = text.trim().split('\n', 1);
  const [, sha, title = ''] =
    /^(?=[a-f]*\d)([0-9a-f]{7,64})(?:[:\s]+(.*))?$/i.exec(line) ?? /^(\S+)$/.exec(line) ?? [];
  return { sha: sha ?? null, title: (sha === undefined ? line : title.trim()) || null, by: null, files: [] };
}

/** “4f2a91c Checkout keeps its connection, by olivia”. */
export function describeCommit({ sha, title, by }: Commit): string {
  const what = [sha && shortRevision(sha), title].filter(Boolean).join(' ') || 'a commit';
  return `${what}${by === null ? '' : `, by ${by}`}`;
}

/** As people write it: a hash by its first seven digits, anything else whole. */
export const shortRevision = (revision: string): string =>
  /^[0-9a-f]{12,64}$/i.test(revision) ? revision.slice(0, 7) : revision;

export const boundedPush = ({ repository, branch, before, commits }: Push): Push => ({
  repository: clip(repository.toLowerCase(), TEXT),
  branch: clip(branch, TEXT),
  before: before && clip(before.toLowerCase(), TEXT),
  commits,
});
