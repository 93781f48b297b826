import { expect, test } from 'vitest';
import { statusPagesOf } from '../../../src/config/status-pages.ts';
import { parseTargets } from '../../../src/config/targets.ts';

/** As `loadConfig` reads them: the form first, with the targets. */
function read(pages: unknown) {
  const raw = { status_pages: pages };
  parseTargets(raw, {}, 'sentry.yaml');
  return statusPagesOf({ raw, placeOf: () => 'sentry.yaml' });
}

test('are named by their public hosts', () => {
  expect(read([{ name: 'GitHub', host: 'WWW.githubstatus.com' }])).toEqual([
    { name: 'GitHub', host: 'www.githubstatus.com' },
  ]);
  expect(read(undefined)).toEqual([]);
  expect(read(null)).toEqual([]);
});

test.each([
  'https://www.githubstatus.com',
  'www.githubstatus.com/api',
  'localhost',
  '127.0.0.1',
  '[::1]',
  'status.example:8443',
  'olivia@status.example',
])('are at no %s', (host) => {
  expect(() => read([{ name: 'x', host }])).toThrow(/expected the name of a public host/);
});

test.each(['', '*all is well*', '<!channel>', 'a'.repeat(41)])('have no name like %s', (name) => {
  expect(() => read([{ name, host: 'www.githubstatus.com' }])).toThrow(/expected a plain name/);
});
