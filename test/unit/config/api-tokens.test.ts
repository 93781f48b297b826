import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/config.ts';

const secret = 'a-secret-of-a-test';
const read = (text: string, env: Record<string, string> = {}) =>
  loadConfig({ SENTRY_API_TOKENS: text, ...env }).http.apiTokens;

test('a token has a name, and may read unless it says what it may', () => {
  expect(read(`grafana=${secret}1,ci:read+trigger=${secret}=2`)).toEqual([
    { name: 'grafana', secret: `${secret}1`, scopes: ['read'] },
    { name: 'ci', secret: `${secret}=2`, scopes: ['read', 'trigger'] },
  ]);
  expect(read('')).toEqual([]);
});

test.each([
  ['short', 'grafana=too-short'],
  ['no name', secret],
  ['a name of other letters', `Grafana=${secret}`],
  ['an unknown scope', `grafana:approve=${secret}`],
  ['the name of the admin', `admin=${secret}`],
  ['a name twice', `ci=${secret}1,ci=${secret}2`],
  ['a secret twice', `ci=${secret},cd=${secret}`],
])('%s is refused with the place and what was expected, and the secret is not repeated', (_name, text) => {
  expect(() => read(text)).toThrow(/SENTRY_API_TOKENS: entry \d/);
  expect(() => read(text)).not.toThrow(/a-secret|too-short/);
});

test('the secret of SENTRY_ADMIN_TOKEN is nobody else’s', () => {
  expect(() => read(`ci=${secret}`, { SENTRY_ADMIN_TOKEN: secret })).toThrow(/"ci" has the secret of/);
});
