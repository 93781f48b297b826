import { OpsError } from '../core/errors.ts';

/** Under which names a repository may have what a deploy calls by its version, the likeliest first. */
export function revisionNames(
  repository: string,
  version: string,
): readonly (
  | { readonly tag: string; readonly branch: null }
  | { readonly tag: null; readonly branch: string }
)[] {
  const own = [version, `v${version}`];
  // Several services of one repository have tags of their own.
  const prefixed = ['-', '/', '@'].flatMap((joint) => own.map((one) => `${repository}${joint}${one}`));
  const tags = (names: readonly string[]) => names.map((tag) => ({ tag, branch: null }));
  return [...tags(own), { tag: null, branch: version }, ...tags(prefixed)];
}

/** What is thrown for a revision that is not there. */
export function noRevision(repository: string, wanted: string, more: string): OpsError {
  return new OpsError(
    'CODE_NO_REVISION',
    `${repository} has no tag, branch or commit "${wanted}". ${more}`.trim(),
    {
      hint: 'Ask for another name of it; code_log without `from` and `to` shows what is there.',
    },
  );
}
