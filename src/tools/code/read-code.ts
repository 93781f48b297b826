import { repositoriesOf } from '../../code/open-repositories.ts';
import type { Reading, Repository, Revision } from '../../code/repository.ts';
import { clipLine } from '../../core/clip.ts';
import { type Refusal, refuse } from '../../core/errors.ts';
import type { ChangesToolContext } from '../define.ts';

/** What a tool of code reads from, and how long it may. */
export interface Code {
  readonly repository: Repository;
  readonly reading: Reading;
}

/** The repository that is asked about, where the incident may read it. */
export async function codeFor(
  { incidentId, changes, signal, timeoutMs }: ChangesToolContext,
  repositories: readonly Repository[],
  asked: string | null,
): Promise<Code | Refusal> {
  const scope = await changes.scopeOf(incidentId);
  const readable = scope === null ? [] : repositoriesOf(repositories, scope);
  const names = readable.map(({ name }) => name).join(', ');
  if (names === '')
    return refuse('NO_REPOSITORY', 'No repository is declared for the system and services of this incident.');
  const [first, ...others] = readable;
  const repository =
    asked === null ? (others.length === 0 ? first : undefined) : readable.find(({ name }) => name === asked);
  // What else there is, is no business of this incident.
  return repository
    ? { repository, reading: { signal, timeoutMs } }
    : refuse('WHICH_REPOSITORY', `Name one of: ${names}.`);
}

const SHA = 12;

export const shortSha = (sha: string): string => sha.slice(0, SHA);

/** `1.4.2 (9bc1d2e3f4a5)`. */
export const formatRevision = ({ name, sha }: Revision): string =>
  sha.startsWith(name) ? shortSha(sha) : `${name} (${shortSha(sha)})`;

/** What somebody wrote, on one line and without what is not seen. */
export const line = (text: string, max: number): string => clipLine(text.replace(/\p{C}/gu, ' '), max);

const NAMES = 8;

/** `src/pool.ts, src/config.ts and 3 more`. */
export function listed(names: readonly string[], most = NAMES): string {
  const shown = names.slice(0, most).map((name) => line(name, 120));
  return names.length > most ? `${shown.join(', ')} and ${names.length - most} more` : shown.join(', ');
}

const ALIKE = 5;

/** For a path that is not there, as in a stack trace: the files of the same name, those with most of the path in common first. */
export function alike(paths: readonly string[], asked: string): readonly string[] {
  const wanted = asked.split('/').reverse();
  const inCommon = (path: string): number => {
    const own = path.split('/').reverse();
    const end = wanted.findIndex((segment, at) => segment !== own[at]);
    return end < 0 ? wanted.length : end;
  };
  return paths
    .map((path) => ({ path, inCommon: inCommon(path) }))
    .filter((one) => one.inCommon > 0)
    .sort((a, b) => b.inCommon - a.inCommon || (a.path < b.path ? -1 : 1))
    .slice(0, ALIKE)
    .map(({ path }) => path);
}

/** The refusal for a path that a revision does not have. */
export async function noSuchPath(
  { repository, reading }: Code,
  at: Revision,
  path: string,
): Promise<Refusal> {
  const others = alike(await repository.paths(at, reading), path);
  const more = others.length === 0 ? '' : ` There is ${others.join(', ')}.`;
  return refuse('NO_SUCH_PATH', `${repository.name} has no ${path} at ${formatRevision(at)}.${more}`);
}
