import type { ChangesScope } from '../core/what-changed.ts';
import { createLocalRepository } from './git/local-repository.ts';
import { createGitHubRepository } from './github/github-repository.ts';
import type { Repository, RepositoryConfig } from './repository.ts';

/** The declared repositories, in their order. Nothing is read before somebody asks. */
export function openRepositories(configs: readonly RepositoryConfig[]): readonly Repository[] {
  return configs.map((config) =>
    config.at.kind === 'local'
      ? createLocalRepository(config, config.at.path)
      : createGitHubRepository(config, config.at),
  );
}

/**
 * Those of the incident's system, of the systems it may read beside it, and of the services of its alert. Anybody may write a label: it opens
 * no code of another configured system, where the incident has one of its own.
 */
export function repositoriesOf(
  repositories: readonly Repository[],
  { target, neighbours, names, others = [] }: ChangesScope,
): readonly Repository[] {
  const lower = (all: readonly string[]): Set<string> => new Set(all.map((name) => name.toLowerCase()));
  const systems = lower([...(target === null ? [] : [target]), ...neighbours]);
  const [called, elsewhere] = [lower(names), lower(others)];
  return repositories.filter(
    ({ of }) =>
      of.some((name) => systems.has(name)) ||
      (of.some((name) => called.has(name)) && (target === null || !of.some((name) => elsewhere.has(name)))),
  );
}
