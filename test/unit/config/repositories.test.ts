import { expect, test } from 'vitest';
import { readRepositories } from '../../../src/config/repositories.ts';
import { parseTargets } from '../../../src/config/targets.ts';

const env = { SHOP_TOKEN: 'of-a-test\n', BAD_TOKEN: 'of-\na-test' };
const local = { name: 'shop-api', of: ['Shop-API'], path: '/srv/shop-api.git' };
const hub = { name: 'shop-web', of: ['shop-web'], github: 'shop/shop-web' };

/** As `loadConfig` reads them: the form first, with the targets. */
function read(...entries: readonly unknown[]) {
  const raw = { repositories: entries };
  parseTargets(raw, env, 'sentry.yaml');
  return readRepositories({ raw, placeOf: () => 'sentry.yaml' }, env);
}

test('are read with their tokens; names are compared in lower case', () => {
  expect(
    read(local, {
      ...hub,
      branch: 'release/1',
      token_env: 'SHOP_TOKEN',
      api_url: 'https://git.example/api/v3/',
    }),
  ).toEqual([
    { name: 'shop-api', of: ['shop-api'], branch: null, at: { kind: 'local', path: '/srv/shop-api.git' } },
    {
      name: 'shop-web',
      of: ['shop-web'],
      branch: 'release/1',
      at: {
        kind: 'github',
        owner: 'shop',
        repo: 'shop-web',
        api: 'https://git.example/api/v3',
        token: 'of-a-test',
      },
    },
  ]);
  expect(read(hub)[0]?.at).toMatchObject({ api: 'https://api.github.com', token: null });
});

test.each([
  [{ ...local, github: 'a/b' }, /either path or github/],
  [{ name: 'x', of: ['x'] }, /either path or github/],
  [{ ...local, of: [] }, /name a target or service/],
  [{ ...local, token_env: 'SHOP_TOKEN' }, /are of github/],
  [{ ...hub, token_env: 'NOT_SET' }, /the variable NOT_SET is not set/],
  [{ ...hub, token_env: 'BAD_TOKEN' }, /holds what no token has/],
  [{ ...hub, token_env: 'SHOP_TOKEN', token_file: '/x' }, /either token_env or token_file/],
  [{ ...hub, token_file: '/nonexistent' }, /token_file/],
  [{ ...hub, github: 'shop/..' }, /owner\/repository/],
  [{ ...hub, github: 'shop/a/b' }, /owner\/repository/],
  [{ ...hub, branch: '--x' }, /the name of a branch/],
  [{ ...hub, api_url: 'https://a:b@git.example' }, /an address alone/],
  [{ ...hub, token: 'x' }, /there is no "/],
])('refuses %j', (entry, reason) => {
  expect(() => read(entry)).toThrow(reason);
});

test('two of one name are a fault', () => {
  expect(() => read(local, { ...hub, name: 'shop-api' })).toThrow(/two repositories have this name/);
});
