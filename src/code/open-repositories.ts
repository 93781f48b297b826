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

/** Those of the incident's system, of the systems it may read beside it, and of the services and things its alert is about. */
export function repositoriesOf(
  repositories: readonly Repository[],
  { target, neighbours, names }: ChangesScope,
): readonly Repository[] {
  const own = new Set(
    [...(target === null ? [] : [target]), ...neighbours, ...names].map((name) => name.toLowerCase()),
  );
  return repositories.filter(({ of }) => of.some((name) => own.has(name)));
}
