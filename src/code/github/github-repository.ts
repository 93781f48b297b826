import type { z } from 'zod';
import { OpsError } from '../../core/errors.ts';
import { isSha } from '../inputs.ts';
import { noRevision, revisionNames } from '../no-revision.ts';
import {
  type AskedCommits,
  type Commit,
  type Entry,
  type FileChange,
  type GitHubPlace,
  MAX_FILE,
  type Reading,
  type Repository,
  type RepositoryConfig,
  type Revision,
} from '../repository.ts';
import { createGitHubApi, type GitHubApi } from './github-api.ts';
import {
  Blame,
  Blob,
  BranchHeads,
  type ComparedFile,
  Comparison,
  GitHubCommit,
  Place,
  Tree,
} from './schema.ts';

/** A page of GitHub's, and so many of them are read. */
const PAGE = 100;
const PAGES = 3;
/** GitHub names no more files of a comparison. */
const MOST_FILES = 300;
/** Commits whose files are asked for at once: GitHub wants few at a time. */
const AT_ONCE = 5;

const BLAME = `query($owner: String!, $repo: String!, $sha: GitObjectID!, $path: String!) {
  repository(owner: $owner, name: $repo) { object(oid: $sha) { ... on Commit { blame(path: $path) { ranges {
    startingLine endingLine commit { oid messageHeadline committedDate author { name } } } } } } } }`;

/** A repository at GitHub, read by its API. */
export function createGitHubRepository(
  { name, of, branch }: RepositoryConfig,
  place: GitHubPlace,
): Repository {
  const api = createGitHubApi(place);

  const mainBranch = async (reading: Reading): Promise<string> =>
    branch ?? read(Place, await api.get('', {}, reading), name).default_branch;

  async function comparison(from: string, to: string, page: number, perPage: number, reading: Reading) {
    const params = { page: String(page), per_page: String(perPage) };
    return read(Comparison, await api.get(`/compare/${from}...${to}`, params, reading), name);
  }

  return {
    name,
    of,

    async resolve(asked, reading) {
      const wanted = asked ?? (await mainBranch(reading));
      const sha =
        asked === null
          ? await shaOf(api, `heads/${wanted}`, reading)
          : await find(api, name, asked, () => mainBranch(reading), reading);
      if (sha === null) throw noRevision(name, wanted, '');
      return { sha, name: wanted };
    },

    // Without a commit or a file of it: those come with the first page.
    async apart(from, to, reading) {
      const { ahead_by: ahead, behind_by: behind } = await comparison(from.sha, to.sha, 2, 1, reading);
      return { ahead, behind };
    },

    async commits(asked, reading) {
      const listed =
        asked.from === null ? [] : await commitsBetween(comparison, asked.from, asked.to, reading);
      const found =
        asked.from === null
          ? await listCommits(api, asked, reading)
          : await narrowed(api, listed, asked, reading);
      const shown = found.slice(0, asked.limit);
      return { found: await withFiles(api, shown, reading), more: found.length > asked.limit };
    },

    async compare(from, to, paths, reading) {
      // GitHub compares with what both have in common: of a way back it shows nothing.
      const there = await comparison(from.sha, to.sha, 1, 1, reading);
      const isBack = there.status === 'behind';
      const { files } = isBack ? await comparison(to.sha, from.sha, 1, 1, reading) : there;
      const all = (files ?? []).map((file) => changeOf(file, isBack));
      const isCut = all.length >= MOST_FILES;
      const isDiverged = there.status === 'diverged';
      return {
        files: all.filter(({ path, was }) => isIn(path, paths) || (was !== undefined && isIn(was, paths))),
        gap: isCut
          ? `GitHub names no more than ${MOST_FILES} files.`
          : isDiverged
            ? `Neither has all of the other: shown is ${to.name} against what they have in common.`
            : null,
      };
    },

    entry: (at, path, reading) => entryAt(api, name, at, path, reading),

    async blame(at, path, { from, to }, reading) {
      const said = Blame.safeParse(await api.query(BLAME, { sha: at.sha, path }, reading));
      if (!said.success)
        throw new OpsError('CODE_AWAY', `GitHub does not say who wrote ${path}.`, {
          hint: 'Ask for the commits that touched it: code_log with `path`.',
        });
      return said.data.data.repository.object.blame.ranges
        .flatMap(({ startingLine, endingLine, commit }) => {
          const first = Math.max(from, startingLine);
          return Array.from({ length: Math.max(0, Math.min(to, endingLine) - first + 1) }, (_, n) => ({
            line: first + n,
            sha: commit.oid,
            at: new Date(commit.committedDate).toISOString(),
            by: commit.author?.name ?? '',
            title: commit.messageHeadline,
          }));
        })
        .sort((a, b) => a.line - b.line);
    },

    async paths(at, reading) {
      const tree = read(Tree, await api.get(`/git/trees/${at.sha}`, { recursive: '1' }, reading), name);
      return tree.tree.filter(({ type }) => type !== 'tree').map(({ path }) => path);
    },

    async look(reading) {
      const { sha, name: main } = await this.resolve(null, reading);
      return `${place.owner}/${place.repo} answers; ${main} is at ${sha.slice(0, 12)}`;
    },
  };
}

function read<T>(form: z.ZodType<T>, given: unknown, name: string): T {
  const found = form.safeParse(given);
  if (found.success) return found.data;
  const says =
    given === null
      ? `GitHub has no such repository or part of it: ${name}, as far as its token may read.`
      : `GitHub answers for ${name} in a form that is not known.`;
  throw new OpsError('CODE_AWAY', says, {
    hint: 'Look at the repository in sentry.yaml, and at what its token may read.',
  });
}

/** Names of refs keep their slashes. */
const plain = (ref: string): string => ref.split('/').map(encodeURIComponent).join('/');

async function shaOf(api: GitHubApi, ref: string, reading: Reading): Promise<string | null> {
  return (
    GitHubCommit.safeParse(await api.get(`/commits/${plain(ref)}`, { per_page: '1' }, reading)).data?.sha ??
    null
  );
}

/** The commit that a name stands for, where a branch or tag of the repository has it; null: none. */
async function find(
  api: GitHubApi,
  repository: string,
  wanted: string,
  mainBranch: () => Promise<string>,
  reading: Reading,
): Promise<string | null> {
  if (isSha(wanted)) {
    const sha = await shaOf(api, wanted, reading);
    if (sha?.startsWith(wanted) && (await isOwn(api, sha, await mainBranch(), reading))) return sha;
  }
  for (const { tag, branch } of revisionNames(repository, wanted)) {
    const sha = await shaOf(api, tag === null ? `heads/${branch}` : `tags/${tag}`, reading);
    if (sha !== null) return sha;
  }
  return null;
}

/** GitHub answers for every commit of every fork as if it were of this repository: its own are below its main branch, or end another. */
async function isOwn(api: GitHubApi, sha: string, main: string, reading: Reading): Promise<boolean> {
  const params = { page: '2', per_page: '1' };
  const compared = Comparison.safeParse(
    await api.get(`/compare/${encodeURIComponent(main)}...${sha}`, params, reading),
  );
  if (compared.data?.status === 'behind' || compared.data?.status === 'identical') return true;
  const heads = BranchHeads.safeParse(await api.get(`/commits/${sha}/branches-where-head`, {}, reading));
  return (heads.data?.length ?? 0) > 0;
}

/** Those of `to` that `from` has not, newest first. GitHub gives the oldest first. */
async function commitsBetween(
  comparison: (
    from: string,
    to: string,
    page: number,
    perPage: number,
    reading: Reading,
  ) => Promise<Comparison>,
  from: Revision,
  to: Revision,
  reading: Reading,
): Promise<readonly GitHubCommit[]> {
  const first = await comparison(from.sha, to.sha, 1, PAGE, reading);
  const last = Math.ceil(first.total_commits / PAGE);
  const pages = [first.commits];
  for (let page = Math.max(2, last - PAGES + 2); page <= last; page += 1)
    pages.push((await comparison(from.sha, to.sha, page, PAGE, reading)).commits);
  return pages.flat().reverse();
}

async function listCommits(
  api: GitHubApi,
  { to, since, until, path }: AskedCommits,
  reading: Reading,
): Promise<readonly GitHubCommit[]> {
  const given = await api.get(
    '/commits',
    {
      sha: to.sha,
      per_page: String(PAGE),
      ...(since === null ? {} : { since }),
      ...(until === null ? {} : { until }),
      ...(path === null ? {} : { path }),
    },
    reading,
  );
  return withoutMerges(GitHubCommit.array().safeParse(given).data ?? []);
}

/** Of those between two versions, the ones that touched a path or are of a time. */
async function narrowed(
  api: GitHubApi,
  listed: readonly GitHubCommit[],
  asked: AskedCommits,
  reading: Reading,
): Promise<readonly GitHubCommit[]> {
  const own = withoutMerges(listed);
  if (asked.path === null && asked.since === null && asked.until === null) return own;
  const fitting = new Set((await listCommits(api, asked, reading)).map(({ sha }) => sha));
  return own.filter(({ sha }) => fitting.has(sha));
}

const withoutMerges = (commits: readonly GitHubCommit[]): readonly GitHubCommit[] =>
  commits.filter(({ parents }) => parents.length < 2);

/** GitHub tells the files of a commit only where it is asked for that one. */
async function withFiles(
  api: GitHubApi,
  commits: readonly GitHubCommit[],
  reading: Reading,
): Promise<readonly Commit[]> {
  const found: Commit[] = [];
  for (let at = 0; at < commits.length; at += AT_ONCE)
    found.push(
      ...(await Promise.all(
        commits.slice(at, at + AT_ONCE).map(async (commit) => {
          const { data } = GitHubCommit.safeParse(await api.get(`/commits/${commit.sha}`, {}, reading));
          return commitOf(data ?? commit);
        }),
      )),
    );
  return found;
}

function commitOf({ sha, commit, files }: GitHubCommit): Commit {
  return {
    sha,
    at: commit.committer?.date ?? '',
    by: commit.author?.name ?? '',
    title: commit.message.split('\n')[0] ?? '',
    files: (files ?? []).map(({ filename }) => filename),
  };
}

const states: Readonly<Record<string, FileChange['status']>> = {
  added: 'added',
  copied: 'added',
  removed: 'removed',
  renamed: 'renamed',
};
const backwards: Readonly<Record<FileChange['status'], FileChange['status']>> = {
  added: 'removed',
  removed: 'added',
  renamed: 'renamed',
  changed: 'changed',
};

function changeOf(file: ComparedFile, isBack: boolean): FileChange {
  const { filename, previous_filename: previous, additions, deletions } = file;
  const status = states[file.status] ?? 'changed';
  const [path, was] =
    status === 'renamed' && isBack ? [previous ?? filename, filename] : [filename, previous ?? undefined];
  const patch = file.patch ?? null;
  // Of what is binary or too large it gives neither lines nor a patch.
  const isShown = patch !== null || additions + deletions > 0 || status === 'renamed';
  return {
    path,
    ...(status === 'renamed' && was !== undefined ? { was } : {}),
    status: isBack ? backwards[status] : status,
    added: isShown ? (isBack ? deletions : additions) : null,
    removed: isShown ? (isBack ? additions : deletions) : null,
    hunks: async () => (patch !== null && isBack ? reversed(patch) : patch),
  };
}

/** The way back of what a diff shows. */
function reversed(patch: string): string {
  return patch
    .split('\n')
    .map((line) => {
      if (line.startsWith('@@')) return line.replace(/^@@ -(\S+) \+(\S+) @@/, '@@ -$2 +$1 @@');
      return line.startsWith('+') ? `-${line.slice(1)}` : line.startsWith('-') ? `+${line.slice(1)}` : line;
    })
    .join('\n');
}

const isIn = (path: string, paths: readonly string[]): boolean =>
  paths.length === 0 || paths.some((one) => path === one || path.startsWith(`${one}/`));

/** Through the trees, and not as GitHub shows a file: that follows a symbolic link to wherever it leads. */
async function entryAt(
  api: GitHubApi,
  name: string,
  at: Revision,
  path: string,
  reading: Reading,
): Promise<Entry | null> {
  const treeOf = async (sha: string) =>
    read(Tree, await api.get(`/git/trees/${sha}`, {}, reading), name).tree;
  let names = await treeOf(at.sha);
  const segments = path.split('/');
  for (const [depth, segment] of segments.entries()) {
    const found = names.find((one) => one.path === segment);
    if (!found) return null;
    const { type, mode, sha, size } = found;
    if (type === 'tree') {
      names = await treeOf(sha);
      continue;
    }
    if (depth < segments.length - 1) return null;
    if (type === 'commit')
      return { kind: 'unshown', why: `it is another repository, at its commit ${sha.slice(0, 12)}` };
    if (mode === '120000') return { kind: 'unshown', why: 'it is a symbolic link' };
    if ((size ?? 0) > MAX_FILE)
      return { kind: 'unshown', why: `it has ${size} bytes, and more than ${MAX_FILE} are not shown` };
    const blob = read(Blob, await api.get(`/git/blobs/${sha}`, {}, reading), name);
    const text = Buffer.from(blob.content, 'base64').toString('utf8');
    return text.slice(0, 8_000).includes('\0')
      ? { kind: 'unshown', why: 'it is binary' }
      : { kind: 'file', text };
  }
  return { kind: 'folder', names: names.map((one) => (one.type === 'tree' ? `${one.path}/` : one.path)) };
}
