import { randomBytes } from 'node:crypto';
import type { Repository } from '../../src/code/repository.ts';
import type { Refusal } from '../../src/core/errors.ts';
import type { ChangesScope } from '../../src/core/what-changed.ts';
import { codeTools } from '../../src/tools/code/code-tools.ts';
import type { ToolOutput } from '../../src/tools/define.ts';
import { createGitRepository, type GitRepository } from './git-repository.ts';

export const PRIVATE_KEY = [
  '-----BEGIN RSA PRIVATE KEY-----',
  ...Array.from({ length: 12 }, (_, n) => Buffer.alloc(48, 65 + n).toString('base64')),
  '-----END RSA PRIVATE KEY-----',
].join('\n');
export const PASSWORD = 'Tr0ub4dor-and-3-horses';

/** The code of shop-api: five commits from 1.4.1 to 1.4.2, one of them a merge, and a way to it that was not taken. */
export function shopRepository(
  path?: string,
): GitRepository & { readonly shas: Readonly<Record<string, string>> } {
  const repository = createGitRepository(path);
  const { write, commit, git } = repository;
  const shas: Record<string, string> = {};
  const numbered = (n: number, text: string) => Array.from({ length: n }, (_, at) => `${text}(${at + 1});`);
  const orders = numbered(40, 'export const order = () => step');

  write({
    'src/pool.ts': "export const pool = { max: 10 };\nexport const name = 'shop';\n",
    'src/orders.ts': `${orders.join('\n')}\n`,
    '.env': `DB_PASSWORD=${PASSWORD}\n`,
  });
  shas['first'] = commit('Serve orders', 'olivia');
  git('tag', '-a', 'v1.4.0', '-m', '1.4.0');

  git('checkout', '-q', '-b', 'hotfix');
  write({ 'src/pool.ts': "export const pool = { max: 11 };\nexport const name = 'shop';\n" });
  shas['hotfix'] = commit('Give the pool one more', 'amara');
  git('tag', '1.4.0-hotfix');
  git('checkout', '-q', 'main');

  write({ 'src/prices.ts': 'export const prices = 1;\n', 'package-lock.json': '{ "lockfileVersion": 3 }\n' });
  shas['prices'] = commit('Cache prices', 'noah');
  git('tag', '1.4.1');

  write({ 'src/pool.ts': "export const pool = { max: 500 };\nexport const name = 'shop';\n" });
  shas['pool'] = commit('Use 500 connections', 'olivia');
  write({
    '.env': `DB_PASSWORD=${PASSWORD}2\n`,
    'src/test-key.ts': `export const key = \`\n${PRIVATE_KEY}\n\`;\nexport const after = 1;\n`,
  });
  shas['key'] = commit('Sign orders', 'noah');
  git('checkout', '-q', '-b', 'side', shas['prices']);
  write({ 'docs/read me.md': 'Orders\n' });
  shas['side'] = commit('Tell of orders', 'amara');
  git('checkout', '-q', 'main');
  git('merge', '-q', '--no-ff', '-m', 'Merge side', 'side');
  git('branch', '-q', '-D', 'side');
  write({
    'src/orders.ts': null,
    'src/orders/list.ts': `${orders.with(20, 'export const order = () => changed(21);').join('\n')}\n`,
    'src/prices.ts': null,
    'package-lock.json': '{ "lockfileVersion": 4 }\n',
    'logo.png': Buffer.concat([Buffer.from([0x89, 0x50, 0, 0]), randomBytes(64)]),
    current: { link: 'src/pool.ts' },
    'credentials-of-it': { link: '.env' },
    'big.txt': `${'x'.repeat(600 * 1024)}\n`,
  });
  shas['orders'] = commit('List orders', 'amara');
  git('tag', 'shop-api-1.4.2');

  // What a stranger proposed, and what no ref leads to any more.
  git('checkout', '-q', '--detach');
  write({ 'src/pool.ts': 'export const pool = stolen();\n' });
  shas['stranger'] = commit('Improve the pool', 'mallory');
  git('update-ref', 'refs/pull/7/head', shas['stranger'] ?? '');
  write({ 'src/pool.ts': 'export const pool = gone();\n' });
  shas['gone'] = commit('Taken out again', 'olivia');
  git('checkout', '-q', 'main');
  return { ...repository, shas };
}

type Answer = ToolOutput | Refusal;

/** Calls a tool of code as the gate does, for an incident of shop-api. */
export function codeCaller(repositories: readonly Repository[], scope: Partial<ChangesScope> | null = {}) {
  return async (name: string, input: Readonly<Record<string, unknown>>): Promise<Answer> => {
    const tool = codeTools(repositories).find((one) => one.name === name);
    if (!tool) throw new Error(`no tool ${name}`);
    const parsed = tool.input.safeParse(input);
    if (!parsed.success)
      return {
        ok: false,
        code: 'INPUT',
        reason: parsed.error.issues.map(({ message }) => message).join('; '),
      };
    return tool.run(
      {
        incidentId: 'inc_1' as never,
        role: 'detective',
        changes: {
          whatChanged: () => Promise.reject(new Error('not asked')),
          scopeOf: async () => scope && { target: 'shop-api', neighbours: [], names: [], ...scope },
        },
        signal: new AbortController().signal,
        timeoutMs: 60_000,
      },
      parsed.data,
    );
  };
}

/** The text of an answer; of a refusal its code and reason. */
export const textOf = (answer: Answer): string =>
  'ok' in answer ? `${answer.code}: ${answer.reason}` : answer.text;
