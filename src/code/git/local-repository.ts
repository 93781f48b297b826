import { OpsError } from '../../core/errors.ts';
import { isSha } from '../inputs.ts';
import { noRevision, revisionNames } from '../no-revision.ts';
import {
  type AskedCommits,
  type Entry,
  MAX_FILE,
  type Reading,
  type Repository,
  type RepositoryConfig,
  type Revision,
} from '../repository.ts';
import { inGitFolder, lastFetched } from './in-git-folder.ts';
import { blamedLines, changedFiles, commitsIn, hunksIn } from './parse-git.ts';
import { runGit } from './run-git.ts';

/** What counts as this repository's own: a mirror of GitHub's also holds what strangers proposed (`refs/pull`). */
const OWN_REFS = ['refs/heads', 'refs/tags', 'refs/remotes'];

/** Renames are looked for among so many files. */
const RENAMES = ['-M', '-l400'];
const DIFF = ['diff-tree', '-r', ...RENAMES, '--no-ext-diff', '--no-textconv', '--no-color'];

/** What follows is a revision or a path, whatever it looks like. */
const NO_OPTIONS = '--end-of-options';

/** A clone or mirror on this machine, read by the program `git`. */
export function createLocalRepository({ name, of, branch }: RepositoryConfig, path: string): Repository {
  /** The output of a command that has to succeed. */
  const git = (args: readonly string[], reading: Reading): Promise<string> =>
    inGitFolder(path, async (folder) => outputOf(await runGit(folder, args, reading)));

  const range = (from: Revision | null, to: Revision): string =>
    from === null ? to.sha : `${from.sha}..${to.sha}`;

  return {
    name,
    of,

    async resolve(asked, reading) {
      const wanted = asked ?? branch;
      const found = await inGitFolder(path, (folder) => find(folder, name, wanted, reading));
      if (found !== null) return { sha: found, name: wanted ?? 'the default branch' };
      const fetched = await lastFetched(path);
      throw noRevision(
        name,
        wanted ?? 'default branch',
        fetched === null ? '' : `It was last fetched at ${fetched}.`,
      );
    },

    async apart(from, to, reading) {
      const said = await git(
        ['rev-list', '--left-right', '--count', NO_OPTIONS, `${from.sha}...${to.sha}`, '--'],
        reading,
      );
      const [behind = 0, ahead = 0] = said.trim().split(/\s+/).map(Number);
      return { ahead, behind };
    },

    async commits({ from, to, since, until, path: touched, limit }: AskedCommits, reading) {
      const said = await git(
        [
          'log',
          '-z',
          '--no-merges',
          '--no-mailmap',
          '--no-notes',
          '--no-ext-diff',
          '--no-textconv',
          '--name-only',
          '--format=format:%H%x00%cI%x00%an%x00%s%x00',
          `--max-count=${limit + 1}`,
          ...(since === null ? [] : [`--since=${since}`]),
          ...(until === null ? [] : [`--until=${until}`]),
          NO_OPTIONS,
          range(from, to),
          '--',
          ...(touched === null ? [] : [touched]),
        ],
        reading,
      );
      const commits = commitsIn(said);
      return { found: commits.slice(0, limit), more: commits.length > limit };
    },

    async compare(from, to, paths, reading) {
      const told = await git(
        [...DIFF, '--raw', '--numstat', '-z', NO_OPTIONS, from.sha, to.sha, '--', ...paths],
        reading,
      );
      const files = changedFiles(told).map((file) => ({
        ...file,
        async hunks(within: Reading) {
          if (file.added === null) return null;
          const both = file.was === undefined ? [file.path] : [file.was, file.path];
          return hunksIn(
            await git([...DIFF, '-p', '-U3', NO_OPTIONS, from.sha, to.sha, '--', ...both], within),
          );
        },
      }));
      return { files, gap: null };
    },

    entry: (at, asked, reading) => inGitFolder(path, (folder) => entryAt(folder, at, asked, reading)),

    async blame(at, asked, { from, to }, reading) {
      return blamedLines(
        await git(
          // It knows no `--end-of-options`; a hash is no option.
          ['blame', '--line-porcelain', '-L', `${from},${to}`, at.sha, '--', asked],
          reading,
        ),
      );
    },

    async paths(at, reading) {
      const said = await git(['ls-tree', '-r', '-z', '--name-only', NO_OPTIONS, at.sha], reading);
      return said.split('\0').filter(Boolean);
    },

    async look(reading) {
      const at = await this.resolve(null, reading);
      const [commit] = (
        await this.commits({ from: null, to: at, since: null, until: null, path: null, limit: 1 }, reading)
      ).found;
      const fetched = await lastFetched(path);
      return [
        `${at.name} is at ${at.sha.slice(0, 12)}`,
        ...(commit ? [`of ${commit.at}`] : []),
        ...(fetched === null ? [] : [`last fetched ${fetched}`]),
      ].join(', ');
    },
  };
}

function outputOf({ code, stdout, stderr }: Awaited<ReturnType<typeof runGit>>): string {
  if (code === 0) return stdout;
  // Its first line says what is wrong; those after it advise people at a terminal.
  const [said = ''] = stderr.split('\n');
  throw new OpsError(
    'CODE_AWAY',
    `git could not read the repository: ${said.slice(0, 300) || `exit code ${code}`}`,
    {
      hint: 'Look whether the clone is whole: git fsck.',
    },
  );
}

/** The commit that a name stands for, where a branch or tag of the repository has it; null: none. */
async function find(
  folder: string,
  repository: string,
  wanted: string | null,
  reading: Reading,
): Promise<string | null> {
  const commitOf = async (object: string): Promise<string | null> => {
    const { code, stdout } = await runGit(
      folder,
      ['rev-parse', '--verify', '--quiet', NO_OPTIONS, `${object}^{commit}`],
      reading,
    );
    return code === 0 ? stdout.trim() : null;
  };
  if (wanted === null) return commitOf('HEAD');
  if (isSha(wanted)) {
    const commit = await commitOf(wanted);
    // What no ref leads to was taken out of it, or never was in it.
    if (commit?.startsWith(wanted) && (await isOwn(folder, commit, reading))) return commit;
  }
  const refs = revisionNames(repository, wanted).flatMap(({ tag, branch }) =>
    tag === null ? [`refs/heads/${branch}`, `refs/remotes/origin/${branch}`] : [`refs/tags/${tag}`],
  );
  const there = outputOf(
    await runGit(folder, ['for-each-ref', '--format=%(refname)', ...refs], reading),
  ).split('\n');
  const ref = refs.find((one) => there.includes(one));
  return ref === undefined ? null : commitOf(ref);
}

async function isOwn(folder: string, commit: string, reading: Reading): Promise<boolean> {
  const refs = ['for-each-ref', '--count=1', `--contains=${commit}`, '--format=%(refname)', ...OWN_REFS];
  return outputOf(await runGit(folder, refs, reading)).trim() !== '';
}

async function entryAt(folder: string, at: Revision, path: string, reading: Reading): Promise<Entry | null> {
  const listed = outputOf(
    await runGit(folder, ['ls-tree', '-z', '-l', NO_OPTIONS, at.sha, '--', path], reading),
  );
  const [, mode, type, object = '', size] = /^(\d+) (\w+) ([0-9a-f]+) +(\d+|-)\t/.exec(listed) ?? [];
  if (type === undefined) return null;
  if (type === 'commit')
    return { kind: 'unshown', why: `it is another repository, at its commit ${object.slice(0, 12)}` };
  if (type === 'tree') {
    const names = outputOf(await runGit(folder, ['ls-tree', '-z', NO_OPTIONS, object], reading));
    return { kind: 'folder', names: names.split('\0').filter(Boolean).map(nameOf) };
  }
  if (mode === '120000') return { kind: 'unshown', why: 'it is a symbolic link' };
  if (Number(size) > MAX_FILE)
    return { kind: 'unshown', why: `it has ${size} bytes, and more than ${MAX_FILE} are not shown` };
  const text = outputOf(await runGit(folder, ['cat-file', 'blob', object], reading));
  return text.slice(0, 8_000).includes('\0')
    ? { kind: 'unshown', why: 'it is binary' }
    : { kind: 'file', text };
}

/** `100644 blob 9bc…\tname`; a folder ends with a slash. */
function nameOf(line: string): string {
  const [head = '', name = ''] = line.split('\t');
  return head.includes(' tree ') ? `${name}/` : name;
}
