import { expect, test } from 'vitest';
import { parseTargets } from '../../../src/config/targets.ts';

const entry = { name: 'orders', kind: 'postgres', read_url_env: 'READ', act_url_env: 'ACT' };
const readUrl = 'postgres://reader:hunter2@db/orders';
const read = (changes: object, env: Record<string, string>) => () =>
  parseTargets({ targets: [{ ...entry, ...changes }] }, env, 'sentry.yaml');

test('a database has its credentials in the environment', () => {
  expect(read({}, { READ: readUrl, ACT: readUrl })()).toMatchObject([
    { domain: 'postgres', readUrl, actUrl: readUrl },
  ]);
  expect(read({ act_url_env: undefined }, { READ: readUrl })()).toMatchObject([{ actUrl: null }]);
});

test.each([
  [
    'a variable that is not set',
    {},
    { READ: readUrl },
    /target "orders": ACT is not set, and act_url_env names it/,
  ],
  ['two of them', {}, {}, /READ is not set[^]*ACT is not set/],
  ['no URL', {}, { READ: readUrl, ACT: 'hunter2' }, /ACT, which act_url_env names, holds no URL/],
  [
    'a URL in place of a name',
    { read_url_env: readUrl },
    {},
    /read_url_env: expected the name of an environment variable/,
  ],
  ['a name that every object has', { read_url_env: 'toString' }, Object.create(null), /toString is not set/],
])('%s is said without what it holds', (_, changes, env, message) => {
  expect(read(changes, env)).toThrow(message);
  expect(read(changes, env)).not.toThrow(/hunter2/);
});
