import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseTargets } from '../../../src/config/targets.ts';
import { scratchDir } from '../../support/scratch-dir.ts';

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

test('or in files that others cannot read', () => {
  const path = join(scratchDir(), 'url');
  const inFile = read({ read_url_env: undefined, act_url_env: undefined, read_url_file: path }, {});
  expect(inFile).toThrow(/url, which read_url_file names, cannot be read: there is no such file or folder/);
  writeFileSync(path, `${readUrl}\n`, { mode: 0o600 });
  for (const mode of [0o600, 0o400, 0o440]) {
    chmodSync(path, mode);
    expect(inFile()).toMatchObject([{ readUrl, actUrl: null }]);
  }
  for (const mode of [0o604, 0o620, 0o644]) {
    chmodSync(path, mode);
    expect(inFile).toThrow(/can be read or written by others; run chmod/);
  }
  writeFileSync(path, 'hunter2');
  chmodSync(path, 0o600);
  expect(inFile).toThrow(/holds no URL/);
  expect(inFile).not.toThrow(/hunter2/);
  writeFileSync(path, '\n');
  expect(inFile).toThrow(/is empty/);
  expect(read({ read_url_file: path }, { READ: readUrl, ACT: readUrl })).toThrow(/not both/);
  const folder = join(scratchDir(), 'folder');
  mkdirSync(folder);
  expect(read({ read_url_env: undefined, read_url_file: folder }, { ACT: readUrl })).toThrow(/is no file/);
  expect(read({ read_url_env: undefined }, { ACT: readUrl })).toThrow(/read_url_env: name the variable/);
});

test.each([
  ['a URL with its password', { read_url_env: readUrl }, 'read_url_env'],
  ['a field that there is not', { read_url: readUrl }, 'read_url'],
  ['an alias', { aliases: ['db1', readUrl] }, 'aliases.1'],
])('refuses a secret in the file, told by its place only: %s', (_, changes, field) => {
  const given = read(changes, { READ: readUrl, ACT: readUrl });
  expect(given).toThrow(
    `targets.0.${field}: that looks like a secret: put it into an environment variable or a file`,
  );
  expect(given).not.toThrow(/hunter2/);
});
