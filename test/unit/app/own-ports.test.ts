import { expect, it } from 'vitest';
import { ownPorts } from '../../../src/app/tool-ports.ts';
import { parseCommand } from '../../../src/safety/commands/parse-command.ts';
import { defaultCommandPolicy } from '../../../src/safety/commands/policy.ts';

const parts = {
  config: { http: { port: 80 } },
  store: { url: 'postgres://sentry@127.0.0.1:20111/sentry' },
  chromaHost: 'http://127.0.0.1:20222',
  slack: { apiUrl: 'http://127.0.0.1:20333/api/' },
  playgroundPorts: [20_444],
} as never;

const asks = (url: string): boolean =>
  parseCommand(`curl ${url}`, { ...defaultCommandPolicy, curlDeniedPorts: ownPorts(parts) }).allowed;

it.each([
  'http://localhost:20111/',
  'http://127.0.0.1:20222/api/v2/tenants',
  'http://[::1]:20333/api/auth.test',
  'localhost:020444/faults',
  'http://localhost/metrics',
  'http://localhost:80/metrics',
  'localhost',
])('curl never asks one of our own servers, embedded or not: %s [F13]', (url) => {
  expect(asks(url)).toBe(false);
});

it('curl asks others', () => {
  expect(asks('http://localhost:9200/_cat/health')).toBe(true);
  expect(asks('https://localhost/health')).toBe(true);
});

it('a server of a Sentry without an embedded part has its usual port', () => {
  const away = { ...(parts as object), store: { url: 'postgres://db/x' }, slack: { apiUrl: null } } as never;
  expect(ownPorts(away)).toEqual([80, 5432, 20_222, 20_444]);
});
