import { expect, test } from 'vitest';
import { readMcpServers } from '../../../src/config/mcp.ts';
import { parseTargets } from '../../../src/config/targets.ts';

const env = {
  GRAFANA_TOKEN: 'of-a-test',
  GITHUB_AUTHORIZATION: 'Bearer of-a-test',
  TWO_LINES: 'Bearer of-\na-test',
  ENDS_A_LINE: 'Bearer of-a-test\n',
};
const grafana = { name: 'grafana', command: 'mcp-grafana', env: { TOKEN: 'GRAFANA_TOKEN' }, read: ['query'] };
const github = {
  name: 'github',
  url: 'https://mcp.example/',
  headers: { Authorization: 'GITHUB_AUTHORIZATION' },
};

/** As `loadConfig` reads them: the form first, with the targets. */
function read(...entries: readonly unknown[]) {
  const raw = { mcp_servers: entries };
  parseTargets(raw, env, 'sentry.yaml');
  return readMcpServers({ raw, placeOf: () => 'sentry.yaml' }, env);
}

test('are read with the values of their variables, and allow nothing unless named', () => {
  expect(read(grafana, { ...github, act: ['open'], timeout_seconds: 5 })).toEqual([
    {
      name: 'grafana',
      transport: { kind: 'stdio', command: 'mcp-grafana', args: [], env: { TOKEN: 'of-a-test' } },
      read: ['query'],
      act: [],
      timeoutMs: 20_000,
    },
    {
      name: 'github',
      transport: {
        kind: 'http',
        url: 'https://mcp.example/',
        headers: { Authorization: 'Bearer of-a-test' },
      },
      read: [],
      act: ['open'],
      timeoutMs: 5_000,
    },
  ]);
});

test.each([
  [{ ...grafana, name: 'my_grafana' }, /lower-case letters and digits/],
  [{ ...grafana, url: 'https://x.example' }, /either command or url/],
  [{ name: 'grafana' }, /either command or url/],
  [{ ...grafana, url: 'file:///x', command: undefined }, /http/],
  [{ ...github, url: 'https://a:b@mcp.example/' }, /belong into headers/],
  [{ ...grafana, env: { TOKEN: 'NOT_SET' } }, /TOKEN: the variable NOT_SET is not set/],
  [{ ...grafana, env: { TOKEN: 'of-a-test' } }, /the name of a variable/],
  [{ ...grafana, act: ['query'] }, /more than once in read and act/],
  [{ ...grafana, allow: ['query'] }, /there is no "/],
  [{ ...grafana, timeout_seconds: 0 }, /timeout_seconds/],
])('refuses %j', (entry, reason) => {
  expect(() => read(entry)).toThrow(reason);
});

test('two of one name are refused', () => {
  expect(() => read(grafana, { ...github, name: 'grafana' })).toThrow(/two MCP servers are called "grafana"/);
});

test('a header’s value that cannot be sent is refused here: the error of whoever sends it would hold it whole', () => {
  const sent = (from: string) => () => read({ ...github, headers: { Authorization: from } });
  expect(sent('TWO_LINES')).toThrow(/Authorization: the value of TWO_LINES cannot stand in a header/);
  expect(sent('TWO_LINES')).not.toThrow(/a-test/);
  expect(sent('ENDS_A_LINE')()).toMatchObject([
    { transport: { headers: { Authorization: 'Bearer of-a-test' } } },
  ]);
});
