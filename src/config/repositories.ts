import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { revisionFault } from '../code/inputs.ts';
import type { RepositoryConfig } from '../code/repository.ts';
import { messageOf } from '../core/errors.ts';
import type { ConfigFile } from './config-file.ts';
import { httpUrl } from './kinds.ts';
import { wrong } from './wrong.ts';

type Env = Readonly<Record<string, string | undefined>>;

const GITHUB = 'https://api.github.com';

const repository = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, 'lower-case letters, digits, ".", "_", "-"; at most 63'),
    of: z.array(z.string().min(1).max(200)).min(1, 'name a target or service whose code it is').max(50),
    path: z.string().min(1).optional(),
    github: z
      .string()
      .regex(
        /^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/,
        'expected owner/repository',
      )
      .optional(),
    branch: z
      .string()
      .refine((name) => revisionFault(name) === null, 'the name of a branch, like main')
      .optional(),
    token_env: z
      .string()
      .regex(/^[A-Z][A-Z0-9_]*$/, 'the name of a variable, like GITHUB_TOKEN')
      .optional(),
    token_file: z.string().min(1).optional(),
    api_url: httpUrl
      .refine(
        (url) => !/^https?:\/\/[^/?#]*@|[?#]/i.test(url),
        'an address alone: no user, password or query',
      )
      .optional(),
  })
  .refine(({ path, github }) => (path === undefined) !== (github === undefined), {
    error: 'expected either path or github',
  })
  .refine(({ token_env: variable, token_file: file }) => variable === undefined || file === undefined, {
    error: 'expected either token_env or token_file',
  })
  .refine(
    ({ github, token_env: variable, token_file: file, api_url: url }) =>
      github !== undefined || [variable, file, url].every((one) => one === undefined),
    { error: 'token_env, token_file and api_url are of github' },
  );
type Entry = z.infer<typeof repository>;

/** Of `sentry.yaml`. */
export const repositoryFields = {
  repositories: z
    .array(repository)
    .max(50, 'at most 50 repositories')
    .nullish()
    .transform((given) => given ?? []),
};

/** The repositories of a file whose form has been checked with its targets. Throws OpsError CONFIG naming what is wrong. */
export function readRepositories({ raw, placeOf }: ConfigFile, env: Env): readonly RepositoryConfig[] {
  const { repositories } = z.object(repositoryFields).parse(raw ?? {});
  return repositories.map((entry, at) => {
    const of = `${placeOf(['repositories', at])}: repository "${entry.name}"`;
    if (repositories.findIndex(({ name }) => name === entry.name) < at)
      throw wrong([`${of}: two repositories have this name`]);
    return {
      name: entry.name,
      of: entry.of.map((name) => name.trim().toLowerCase()),
      branch: entry.branch ?? null,
      at: placeOfCode(entry, env, of),
    };
  });
}

function placeOfCode(entry: Entry, env: Env, of: string): RepositoryConfig['at'] {
  const { path, github = '', api_url: api = GITHUB } = entry;
  if (path !== undefined) return { kind: 'local', path: resolve(path) };
  const [owner = '', repo = ''] = github.split('/');
  return { kind: 'github', owner, repo, api: api.replace(/\/+$/, ''), token: tokenOf(entry, env, of) };
}

function tokenOf({ token_env: variable, token_file: file }: Entry, env: Env, of: string): string | null {
  if (variable === undefined && file === undefined) return null;
  const token = (variable === undefined ? textOf(file ?? '', of) : env[variable])?.trim();
  if (!token)
    throw wrong([
      `${of}: ${variable === undefined ? `${file} is empty` : `the variable ${variable} is not set`}`,
    ]);
  // No header takes such a value, and the error that says so holds it whole.
  if (/[^\x21-\x7e]/.test(token)) throw wrong([`${of}: its token holds what no token has`]);
  return token;
}

function textOf(file: string, of: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw wrong([`${of}: token_file: ${messageOf(error)}`]);
  }
}
