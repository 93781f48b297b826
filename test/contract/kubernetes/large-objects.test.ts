import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { connectCluster } from '../../../src/targets/kubernetes/connect/connect-cluster.ts';

const options = { signal: new AbortController().signal, timeoutMs: 30_000 };
const BYTES = 1024 * 1024;

/** A cluster of so many large pods. */
async function listOf(count: number) {
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://cluster');
    const from = Number(searchParams.get('continue') ?? 0);
    const to = Math.min(count, from + Number(searchParams.get('limit')));
    const items = Array.from({ length: to - from }, (_, at) => ({
      metadata: { name: `pod-${from + at}`, annotations: { big: 'x'.repeat(BYTES) } },
    }));
    response.end(JSON.stringify({ items, metadata: to < count ? { continue: String(to) } : {} }));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const text = JSON.stringify({
    'current-context': 'one',
    contexts: [{ name: 'one', context: { cluster: 'one', user: 'one' } }],
    clusters: [
      { name: 'one', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } },
    ],
    users: [{ name: 'one', user: {} }],
  });
  const cluster = connectCluster({ path: '/nowhere', text, context: undefined });
  try {
    return await cluster.list('pod', { namespace: 'shop' }, options);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const names = (count: number) => Array.from({ length: count }, (_, at) => `pod-${at}`);

test('objects that are too large for one page are read in smaller ones, each once [T4]', async () => {
  const { items, isComplete } = await listOf(30);
  expect(items.map(({ metadata }) => metadata.name)).toEqual(names(30));
  expect(isComplete).toBe(true);
});

test('of large objects without number no more is read than memory takes, and that there are more is said [T7]', async () => {
  const { items, isComplete } = await listOf(100);
  expect(items.length).toBeGreaterThan(30);
  expect(items.length).toBeLessThan(100);
  expect(items.map(({ metadata }) => metadata.name)).toEqual(names(items.length));
  expect(isComplete).toBe(false);
});
