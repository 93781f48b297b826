import { expect, test } from 'vitest';
import { readMcpCallers } from '../../../src/config/mcp.ts';
import { parseTargets } from '../../../src/config/targets.ts';

const secret = ['a', 'test', 'secret', 'of', 'olivia'].join('-');
const env = { OLIVIA_MCP_SECRET: secret, NOAH_MCP_SECRET: `${secret}-and-noah`, SHORT: 'short' };
const olivia = { name: 'olivia', secret_env: 'OLIVIA_MCP_SECRET', user: 'U0123' };

/** As `loadConfig` reads them: the form first, with the targets. */
function read(entries: readonly unknown[], shared?: string) {
  const raw = { mcp_callers: entries };
  parseTargets(raw, env, 'sentry.yaml');
  return readMcpCallers({ raw, placeOf: () => 'sentry.yaml' }, env, shared);
}

test('none have a secret, and the server is off', () => {
  expect(readMcpCallers({ raw: undefined, placeOf: () => 'sentry.yaml' }, env, undefined)).toEqual([]);
});

test('the shared secret is of nobody, a named one of its user', () => {
  expect(read([olivia], 'a-shared-secret-of-tests')).toEqual([
    { name: 'shared', secret: 'a-shared-secret-of-tests', user: null },
    { name: 'olivia', secret, user: 'U0123' },
  ]);
});

test.each([
  [{ ...olivia, secret_env: 'NOT_SET' }, /the variable NOT_SET is not set/],
  [{ ...olivia, secret_env: 'SHORT' }, /at least 16 characters/],
  [{ ...olivia, secret_env: 'short' }, /the name of a variable/],
  [{ name: 'olivia' }, /either secret_env or secret_file/],
  [{ ...olivia, secret_file: '/x' }, /either secret_env or secret_file/],
  [{ name: 'olivia', secret_file: '/nonexistent/secret' }, /secret_file: ENOENT/],
  [{ ...olivia, name: 'shared' }, /"shared" is who sends SENTRY_MCP_SECRET/],
  [{ ...olivia, user: 'olivia' }, /a Slack user id/],
  [{ ...olivia, secret }, /there is no "/],
])('refuses %j', (entry, reason) => {
  expect(() => read([entry])).toThrow(reason);
});

test('two clients cannot be told apart by one secret, or named alike', () => {
  expect(() => read([olivia, { ...olivia, name: 'noah' }])).toThrow(/"olivia".* same name or secret/);
  expect(() => read([olivia, { ...olivia, secret_env: 'NOAH_MCP_SECRET' }])).toThrow(/same name or secret/);
  expect(() => read([olivia], secret)).toThrow(/"shared".* same name or secret/);
});
