/** A declared repository: where it is, and whose code it holds. */
export interface RepositoryConfig {
  readonly name: string;
  /** Names of targets and services whose incidents may read it; lower case. */
  readonly of: readonly string[];
  /** What is deployed from; null: the repository's own default branch. */
  readonly branch: string | null;
  readonly at: LocalPlace | GitHubPlace;
}

interface LocalPlace {
  readonly kind: 'local';
  /** A clone or a bare mirror on this machine, absolute. */
  readonly path: string;
}

export interface GitHubPlace {
  readonly kind: 'github';
  readonly owner: string;
  readonly repo: string;
  /** The REST API, without a slash at its end. */
  readonly api: string;
  readonly token: string | null;
}

/** A commit that a name was resolved to, and that a branch or tag of this very repository contains. */
export interface Revision {
  readonly sha: string;
  /** As it was asked for. */
  readonly name: string;
}

export interface Commit {
  readonly sha: string;
  /** ISO 8601: when it was committed, which is not when it was deployed. */
  readonly at: string;
  readonly by: string;
  readonly title: string;
  readonly files: readonly string[];
}

export interface AskedCommits {
  readonly to: Revision;
  /** Only those that this one does not have. */
  readonly from: Revision | null;
  /** ISO 8601, by the time of the commit. */
  readonly since: string | null;
  readonly until: string | null;
  /** Only those that touched this file or folder. */
  readonly path: string | null;
  readonly limit: number;
}

export interface FileChange {
  readonly path: string;
  /** What it was called before; left out where it was not renamed. */
  readonly was?: string;
  readonly status: 'added' | 'removed' | 'changed' | 'renamed';
  /** Lines; null: it is binary, or too large to be compared. */
  readonly added: number | null;
  readonly removed: number | null;
  /** Its hunks, each from its line `@@`; null: it has none that could be shown. */
  hunks(reading: Reading): Promise<string | null>;
}

export interface Compared {
  readonly files: readonly FileChange[];
  /** What is not in it, in a sentence. */
  readonly gap: string | null;
}

/** What stands at a path in a revision; null where nothing does. Links and other repositories are told of and never followed. */
export type Entry =
  | { readonly kind: 'file'; readonly text: string }
  | { readonly kind: 'folder'; readonly names: readonly string[] }
  | { readonly kind: 'unshown'; readonly why: string };

export interface BlamedLine {
  readonly line: number;
  readonly sha: string;
  readonly at: string;
  readonly by: string;
  readonly title: string;
}

export interface Reading {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/**
 * The reads of a repository, wherever it is; nothing in it is run and nothing is written. All of them throw OpsError: `CODE_AWAY` it
 * cannot be read, `CODE_NO_REVISION` it has no such revision, `CODE_TOO_MUCH` the answer is too large. What they give is not screened.
 */
export interface Repository {
  readonly name: string;
  readonly of: readonly string[];
  /** A tag, a branch or a commit; null: the branch that is deployed from. */
  resolve(name: string | null, reading: Reading): Promise<Revision>;
  /** How many commits each has that the other has not. */
  apart(
    from: Revision,
    to: Revision,
    reading: Reading,
  ): Promise<{ readonly ahead: number; readonly behind: number }>;
  /** Newest first, without merges. */
  commits(
    asked: AskedCommits,
    reading: Reading,
  ): Promise<{ readonly found: readonly Commit[]; readonly more: boolean }>;
  /** The files that differ, by path; `paths`: only these files and folders, all where it is empty. */
  compare(from: Revision, to: Revision, paths: readonly string[], reading: Reading): Promise<Compared>;
  entry(at: Revision, path: string, reading: Reading): Promise<Entry | null>;
  blame(
    at: Revision,
    path: string,
    lines: { readonly from: number; readonly to: number },
    reading: Reading,
  ): Promise<readonly BlamedLine[]>;
  /** Of every file, as far as they can be listed. */
  paths(at: Revision, reading: Reading): Promise<readonly string[]>;
  /** For `sentry doctor`: what it is like, in one line. */
  look(reading: Reading): Promise<string>;
}

/** Larger files are named and not shown, bytes. */
export const MAX_FILE = 512 * 1024;
