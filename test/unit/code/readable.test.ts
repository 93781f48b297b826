import { expect, test } from 'vitest';
import { openRepositories } from '../../../src/code/open-repositories.ts';
import { codeTools } from '../../../src/tools/code/code-tools.ts';
import { alike } from '../../../src/tools/code/read-code.ts';
import { codeCaller, textOf } from '../../support/code-scene.ts';

const at = { kind: 'local', path: '/nonexistent' } as const;
const repositories = openRepositories([
  { name: 'shop-api', of: ['shop-api', 'checkout'], branch: null, at },
  { name: 'shop-web', of: ['shop-web', 'checkout'], branch: null, at },
  { name: 'payroll', of: ['payroll'], branch: null, at },
]);

test.each([
  ['its system', { target: 'shop-api' }, 'payroll', /^WHICH_REPOSITORY: Name one of: shop-api\.$/],
  [
    'a service of its alert',
    { target: null, names: ['checkout'] },
    null,
    /^WHICH_REPOSITORY: Name one of: shop-api, shop-web\.$/,
  ],
  ['a neighbour', { target: 'orders-db', neighbours: ['shop-web'] }, 'payroll', /Name one of: shop-web\.$/],
  ['nothing declared', { target: 'orders-db' }, 'payroll', /^NO_REPOSITORY/],
])('an incident reads the code of %s, and is not told of more', async (_, scope, repository, says) => {
  expect(textOf(await codeCaller(repositories, scope)('code_log', { repository }))).toMatch(says);
});

test('an incident that is not there reads nothing', async () => {
  expect(textOf(await codeCaller(repositories, null)('code_file', { path: 'a.ts' }))).toMatch(
    /^NO_REPOSITORY/,
  );
});

test.each([
  ['code_log', { from: '1.4.1' }, /name the version after/],
  ['code_log', { to: '--all' }, /expected the name of a tag/],
  ['code_log', { path: '../x' }, /\.\./],
  ['code_diff', { from: '1.4.1', to: 'HEAD@{1}' }, /expected the name of a tag/],
  ['code_diff', { from: '1', to: '2', paths: ['.env'] }, /credentials/],
  ['code_blame', { path: '/etc/passwd', line: 1 }, /from the root of the repository/],
  ['code_file', { path: '.git/config' }, /credentials/],
])('%s refuses %j', async (tool, input, why) => {
  expect(textOf(await codeCaller(repositories)(tool, input))).toMatch(why);
});

test('no tool is offered where no repository is declared', () => {
  expect(codeTools([])).toEqual([]);
  expect(codeTools(repositories).map(({ name, kind, target }) => [name, kind, target])).toEqual([
    ['code_log', 'changes', 'none'],
    ['code_diff', 'changes', 'none'],
    ['code_blame', 'changes', 'none'],
    ['code_file', 'changes', 'none'],
  ]);
});

test('of files of one name the one with most of the path in common comes first', () => {
  expect(alike(['lib/pool.ts', 'src/pool.ts', 'src/pool.ts.bak', 'pool.js'], 'app/src/pool.ts')).toEqual([
    'src/pool.ts',
    'lib/pool.ts',
  ]);
});
