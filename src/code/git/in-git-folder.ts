import { lstat, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OpsError } from '../../core/errors.ts';
import { whyNot } from '../../core/system-fault.ts';

/**
 * Gives `work` a folder that git takes for the repository, with the objects and refs of the declared one and nothing else of it: its
 * configuration, hooks, attributes, grafts and remotes are not there to be read. What git would run or fetch because a repository says
 * so is therefore not a list of settings that somebody has to keep.
 *
 * Throws OpsError `CODE_AWAY`, with what is wrong.
 */
export async function inGitFolder<T>(path: string, work: (folder: string) => Promise<T>): Promise<T> {
  const repository = await gitFolderOf(path);
  const folder = await mkdtemp(join(tmpdir(), 'sentry-code-'));
  try {
    await writeFile(join(folder, 'config'), await configOf(repository), { mode: 0o600 });
    await writeFile(join(folder, 'HEAD'), await headOf(repository), { mode: 0o600 });
    const parts = await Promise.all(
      ['objects', 'refs', 'packed-refs', 'shallow'].map(async (part) =>
        (await is(repository, part)) ? [part] : [],
      ),
    );
    for (const part of parts.flat()) await symlink(join(repository, part), join(folder, part));
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** When it last got something from where it is cloned from, ISO 8601; null: it does not say. */
export async function lastFetched(path: string): Promise<string | null> {
  const repository = await gitFolderOf(path);
  const times = await Promise.all(
    ['FETCH_HEAD', 'packed-refs'].map(
      async (part) => (await stat(join(repository, part)).catch(() => null))?.mtimeMs ?? 0,
    ),
  );
  const last = Math.max(...times);
  return last === 0 ? null : new Date(last).toISOString();
}

const away = (says: string, hint: string): OpsError => new OpsError('CODE_AWAY', says, { hint });

/** The folder of a bare mirror, or that inside of a clone. */
async function gitFolderOf(path: string): Promise<string> {
  const at = await stat(path).catch((error: unknown) => {
    throw away(
      `${path} cannot be read: ${whyNot(error)}.`,
      'Correct `path` of the repository in sentry.yaml, or the rights on it.',
    );
  });
  const inside = join(path, '.git');
  const clone = await lstat(inside).catch(() => null);
  if (clone && !clone.isDirectory())
    throw away(`${inside} leads elsewhere.`, 'Name the clone itself, not a worktree or submodule of it.');
  const repository = clone ? inside : path;
  if (!at.isDirectory() || !(await is(repository, 'HEAD')))
    throw away(`${path} is no Git repository.`, 'Name a clone, or a mirror made by git clone --mirror.');
  // Through either of these, objects of another repository would be read as if they were of this one.
  for (const part of ['objects', 'refs', 'objects/pack', 'objects/info']) {
    const found = await lstat(join(repository, part)).catch(() => null);
    if (found?.isDirectory() === false)
      throw away(`${join(repository, part)} leads elsewhere.`, 'Make a clone that has all it needs itself.');
  }
  if (await is(repository, 'objects/info/alternates'))
    throw away(
      `${path} borrows objects from another repository (objects/info/alternates).`,
      'Make a clone of its own: git clone --mirror, without --shared and --reference, or with --dissociate.',
    );
  return repository;
}

const is = (repository: string, part: string): Promise<boolean> =>
  lstat(join(repository, part)).then(
    () => true,
    () => false,
  );

/** Longer ones than a repository has. */
const MAX_TEXT = 1024 * 1024;

async function textOf(repository: string, part: string): Promise<string> {
  const path = join(repository, part);
  try {
    const file = await lstat(path);
    // A pipe would be waited for.
    if (!file.isFile() || file.size > MAX_TEXT)
      throw away(`${path} is no file of a repository.`, 'Look at it.');
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof OpsError) throw error;
    throw away(`${path} cannot be read: ${whyNot(error)}.`, 'Let the user that runs Sentry read it.');
  }
}

/** Only what the form of its objects and refs hangs on. */
async function configOf(repository: string): Promise<string> {
  const own = await textOf(repository, 'config');
  if (/^\s*refstorage\s*=\s*reftable/im.test(own))
    throw away(
      `${repository} keeps its refs as a reftable, which Sentry does not read.`,
      'Clone it with --ref-format=files.',
    );
  const format = /^\s*objectformat\s*=\s*sha256\s*$/im.test(own)
    ? '[extensions]\n\tobjectFormat = sha256\n'
    : '';
  return `[core]\n\trepositoryFormatVersion = 1\n\tbare = true\n${format}`;
}

/** The default branch. A detached one is that of no branch, and then nothing is the default. */
async function headOf(repository: string): Promise<string> {
  const [, branch = 'refs/heads/main'] =
    /^ref: (refs\/heads\/[A-Za-z0-9._/+@-]{1,200})\n?$/.exec(await textOf(repository, 'HEAD')) ?? [];
  return `ref: ${branch}\n`;
}
