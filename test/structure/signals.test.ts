import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { repository } from '../support/product.ts';

it('nothing of Sentry follows signals by Node 20’s own way, which forgets time limits', () => {
  const found = execFileSync('git', ['grep', '-l', 'AbortSignal[.]any(', '--', 'src', 'playground'], {
    cwd: repository,
    encoding: 'utf8',
  });
  expect(found.trim().split('\n')).toEqual(['src/core/any-signal.ts']);
});
