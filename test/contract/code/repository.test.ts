import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRepositories } from '../../../src/code/open-repositories.ts';
import type { RepositoryConfig } from '../../../src/code/repository.ts';
import { codeCaller, PASSWORD, PRIVATE_KEY, shopRepository, textOf } from '../../support/code-scene.ts';
import { type FakeGitHub, fakeGitHub } from '../../support/fake-github.ts';
import { createGitRepository } from '../../support/git-repository.ts';
import { scratchDir } from '../../support/scratch-dir.ts';

const shop = shopRepository();
const { shas } = shop;
let hub: FakeGitHub;
const mirror = scratchDir();

beforeAll(async () => {
  createGitRepository(mirror).git('clone', '-q', '--mirror', shop.path, `${mirror}/shop.git`);
  hub = await fakeGitHub(shop.path);
});
afterAll(() => hub.stop());

const places: Readonly<Record<string, () => RepositoryConfig['at']>> = {
  'a clone': () => ({ kind: 'local', path: shop.path }),
  'a bare mirror': () => ({ kind: 'local', path: `${mirror}/shop.git` }),
  GitHub: () => ({ kind: 'github', owner: 'shop', repo: 'shop-api', api: hub.api, token: hub.token }),
};

describe.each(Object.keys(places))('%s', (place) => {
  const call = async (name: string, input: Readonly<Record<string, unknown>>) => {
    const at = places[place]?.();
    if (!at) throw new Error('no place');
    return codeCaller(openRepositories([{ name: 'shop-api', of: ['shop-api'], branch: 'main', at }]))(
      name,
      input,
    );
  };
  const say = async (...given: Parameters<typeof call>) => textOf(await call(...given));

  test('tells the commits between two versions with their authors and files, without merges', async () => {
    const answer = await call('code_log', { from: '1.4.1', to: '1.4.2' });
    expect(answer).toMatchObject({
      data: {
        from: shas['prices'],
        to: shas['orders'],
        isBack: false,
        more: false,
        commits: [
          { sha: shas['orders'], by: 'amara', title: 'List orders' },
          expect.anything(),
          expect.anything(),
          expect.anything(),
        ],
      },
    });
    const text = textOf(answer);
    expect(text).toMatch(
      /^shop-api: 4 commits from 1\.4\.1 \([0-9a-f]{12}\) to 1\.4\.2 \([0-9a-f]{12}\), newest first\n/,
    );
    expect(text).toContain('olivia: Use 500 connections\n  src/pool.ts');
    expect(text).toContain('amara: Tell of orders\n  docs/read me.md');
    expect(text).not.toContain('Merge side');
  });

  test('tells what a way back takes out', async () => {
    const text = await say('code_log', { from: '1.4.2', to: '1.4.1' });
    expect(text).toContain('1.4.1 is the older one: these commits are taken back.');
    expect(text).toContain('Use 500 connections');
  });

  test('tells that one version has what the other has not', async () => {
    const text = await say('code_log', { from: '1.4.0-hotfix', to: '1.4.1' });
    expect(text).toContain('1 commit of 1.4.0-hotfix is not in 1.4.1.');
    expect(text).toContain('Cache prices');
  });

  test('narrows commits to a path, a time and a number', async () => {
    const ofPool = await say('code_log', { from: 'v1.4.0', to: '1.4.2', path: 'src/pool.ts' });
    expect(ofPool).toMatch(/: 1 commit from/);
    const ofTime = await call('code_log', { since: '2026-11-26T10:02:30Z', until: '2026-11-26T10:04:30Z' });
    expect(textOf(ofTime)).toContain('olivia: Use 500 connections');
    expect(textOf(ofTime)).not.toMatch(/List orders|Serve orders/);
    const one = await say('code_log', { limit: 1 });
    expect(one).toMatch(/^shop-api: the last 1 commits up to main/);
  });

  test('tells files that differ and their hunks, without those of credentials', async () => {
    const answer = await call('code_diff', { from: '1.4.1', to: '1.4.2' });
    const text = textOf(answer);
    expect(text).toContain('changed src/pool.ts (+1 -1)');
    expect(text).toContain('-export const pool = { max: 10 };\n+export const pool = { max: 500 };');
    expect(text).toContain('changed .env (holds credentials: not shown)');
    expect(text).toContain('added logo.png (not compared: binary or too large)');
    expect(text).toMatch(/renamed src\/orders\/list\.ts from src\/orders\.ts \(\+1 -1\)/);
    expect(text).toContain('removed src/prices.ts');
    expect(text).not.toContain(PASSWORD);
    for (const line of PRIVATE_KEY.split('\n').slice(1, -1)) expect(text).not.toContain(line);
    expect(answer).toMatchObject({
      data: {
        files: expect.arrayContaining([
          expect.objectContaining({ path: 'src/pool.ts', status: 'changed', added: 1, removed: 1 }),
        ]),
      },
    });
    // What machines wrote comes last.
    expect(text.indexOf('package-lock.json')).toBeGreaterThan(text.indexOf('src/pool.ts'));
  });

  test('tells the way back of a diff', async () => {
    const text = await say('code_diff', {
      from: '1.4.2',
      to: '1.4.1',
      paths: ['src/pool.ts', 'src/prices.ts'],
    });
    expect(text).toContain('2 files differ in src/pool.ts, src/prices.ts');
    expect(text).toMatch(/^-export const pool = \{ max: 500 \};$/m);
    expect(text).toMatch(/^\+export const pool = \{ max: 10 \};$/m);
    expect(text).toContain('added src/prices.ts (+1 -0)');
  });

  test('names a folder or a file, and shows that alone', async () => {
    const text = await say('code_diff', { from: '1.4.1', to: '1.4.2', paths: ['docs'] });
    expect(text).toMatch(/^shop-api: 1 file differs in docs/);
    expect(text).toContain('+Orders');
  });

  test('blames a line as it is in the version that runs', async () => {
    expect(await say('code_blame', { path: 'src/pool.ts', line: 1, revision: '1.4.1' })).toMatch(
      /olivia: Serve orders \| 1: export const pool = \{ max: 10 \};/,
    );
    const now = await call('code_blame', { path: 'src/pool.ts', line: 1, lines: 2, revision: '1.4.2' });
    expect(textOf(now)).toMatch(
      /olivia: Use 500 connections \| 1: export const pool = \{ max: 500 \};\n.*Serve orders \| 2: /,
    );
    expect(now).toMatchObject({
      data: {
        lines: [
          { line: 1, sha: shas['pool'] },
          { line: 2, sha: shas['first'] },
        ],
      },
    });
    expect(await say('code_blame', { path: 'src/pool.ts', line: 9 })).toMatch(
      /^PAST_END: src\/pool\.ts has 2 lines/,
    );
  });

  test('shows a file by lines, and a folder by names', async () => {
    const text = await say('code_file', {
      path: 'src/orders/list.ts',
      revision: '1.4.2',
      from_line: 20,
      lines: 3,
    });
    expect(text).toMatch(
      /lines 20 to 22 of 40; 18 more from line 23\n20: .*step\(20\);\n21: .*changed\(21\);\n22: /,
    );
    expect(await say('code_file', { path: 'src/' })).toMatch(
      /src is a folder of 3 names: orders\/, pool\.ts, test-key\.ts/,
    );
  });

  test('hides a key line by line, so that what follows keeps its number', async () => {
    const text = await say('code_file', { path: 'src/test-key.ts' });
    expect(text).toMatch(/17: export const after = 1;$/);
    for (const line of PRIVATE_KEY.split('\n').slice(1, -1)) expect(text).not.toContain(line);
    const part = await say('code_file', { path: 'src/test-key.ts', from_line: 5, lines: 2 });
    for (const line of PRIVATE_KEY.split('\n').slice(1, -1)) expect(part).not.toContain(line);
    const blamed = await say('code_blame', { path: 'src/test-key.ts', line: 5, lines: 3 });
    for (const line of PRIVATE_KEY.split('\n').slice(1, -1)) expect(blamed).not.toContain(line);
  });

  test.each([
    ['a binary file', 'logo.png', /it is binary/],
    ['a large file', 'big.txt', /more than 524288 are not shown/],
    ['a symbolic link', 'current', /it is a symbolic link/],
    ['a link to credentials', 'credentials-of-it', /it is a symbolic link/],
  ])('tells why it does not show %s', async (_, path, why) => {
    expect(await say('code_file', { path })).toMatch(why);
  });

  test('names files like the one of a stack trace that is not there', async () => {
    const text = await say('code_blame', { path: 'app/src/pool.ts', line: 1 });
    expect(text).toMatch(
      /^NO_SUCH_PATH: shop-api has no app\/src\/pool\.ts at main .*There is src\/pool\.ts\.$/,
    );
  });

  test.each(['1.4.1', 'v1.4.0', '1.4.0', '1.4.2', 'main', 'hotfix'])(
    'knows the version %s',
    async (version) => {
      expect(await say('code_file', { path: 'src/pool.ts', revision: version })).toContain(`at ${version} (`);
    },
  );

  test('knows a commit by its hash and by the beginning of it', async () => {
    for (const length of [7, 12, 40])
      expect(
        await say('code_file', { path: 'src/pool.ts', revision: shas['pool']?.slice(0, length) }),
      ).toContain('max: 500');
  });

  test.each(['stranger', 'gone'])(
    'knows nothing of the commit of %s, which no branch or tag has',
    async (who) => {
      const sha = shas[who] ?? '';
      expect(sha).toMatch(/^[0-9a-f]{40}$/);
      await expect(call('code_file', { path: 'src/pool.ts', revision: sha })).rejects.toThrow(
        /has no tag, branch or commit/,
      );
      await expect(call('code_diff', { from: '1.4.1', to: sha.slice(0, 10) })).rejects.toMatchObject({
        code: 'CODE_NO_REVISION',
      });
    },
  );

  test.each(['9.9.9', 'refs/pull/7/head', 'pull/7/head', 'deadbeef'])(
    'knows no version %s',
    async (version) => {
      await expect(call('code_log', { to: version })).rejects.toMatchObject({ code: 'CODE_NO_REVISION' });
    },
  );

  test('refuses to compare a version with itself by another name', async () => {
    expect(await say('code_log', { from: '1.4.2', to: 'main' })).toMatch(/^SAME_REVISION/);
    expect(await say('code_diff', { from: '1.4.2', to: 'main' })).toMatch(/^shop-api: 0 files differ/);
  });

  test('is looked at by the doctor', async () => {
    const at = places[place]?.();
    if (!at) throw new Error('no place');
    const [repository] = openRepositories([{ name: 'shop-api', of: ['shop-api'], branch: null, at }]);
    const says = await repository?.look({ signal: new AbortController().signal, timeoutMs: 60_000 });
    expect(says).toContain(shas['orders']?.slice(0, 12));
  });
});

test('what GitHub leaves out of two versions that went apart is said', async () => {
  const at = places['GitHub']?.();
  if (!at) throw new Error('no place');
  const call = codeCaller(openRepositories([{ name: 'shop-api', of: ['shop-api'], branch: 'main', at }]));
  expect(textOf(await call('code_diff', { from: '1.4.0-hotfix', to: '1.4.1' }))).toContain(
    'Neither has all of the other: shown is 1.4.1 against what they have in common.',
  );
});

test.each([
  [{ status: 401 }, /does not let Sentry read shop\/shop-api \(401\)/],
  [{ status: 403 }, /does not let Sentry read shop\/shop-api \(403\)/],
  [
    { status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1795687200' } },
    /no more questions of this token until 2026-11-26/,
  ],
  [{ status: 429 }, /no more questions/],
  [{ status: 301, headers: { location: 'http://127.0.0.1:1/' } }, /elsewhere \(301\)/],
  [{ status: 500 }, /GitHub answered 500/],
  [{ status: 404 }, /GitHub has no such repository/],
])('what GitHub answers with %j is told as why nothing could be looked at', async (instead, says) => {
  hub.answerWith(instead);
  try {
    const at = places['GitHub']?.();
    if (!at) throw new Error('no place');
    const call = codeCaller(openRepositories([{ name: 'shop-api', of: ['shop-api'], branch: null, at }]));
    await expect(call('code_log', {})).rejects.toThrow(says);
  } finally {
    hub.answerWith(null);
  }
});

test('nobody at the address is told as why nothing could be looked at', async () => {
  const at = {
    kind: 'github',
    owner: 'shop',
    repo: 'shop-api',
    api: 'http://127.0.0.1:9',
    token: null,
  } as const;
  const call = codeCaller(openRepositories([{ name: 'shop-api', of: ['shop-api'], branch: 'main', at }]));
  await expect(call('code_log', {})).rejects.toMatchObject({
    code: 'CODE_AWAY',
    message: expect.stringContaining('GitHub did not answer'),
  });
});
