import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { inspect } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { type Cluster, startCluster } from '../../../playground/kubernetes/cluster.ts';
import { connectCluster } from '../../../src/targets/kubernetes/connect/connect-cluster.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster({ controller: false });
});
afterAll(() => cluster.stop());

const options = () => ({ signal: new AbortController().signal, timeoutMs: 10_000 });

function through(proxy: string) {
  const config = parse(cluster.kubeconfig('read'));
  config.clusters[0].cluster['proxy-url'] = proxy;
  return connectCluster({ path: '/etc/sentry/kubeconfig', text: stringify(config), context: undefined });
}

test('a cluster behind a proxy is spoken to through it, still by its own certificate', async () => {
  const asked: string[] = [];
  const sockets: Duplex[] = [];
  let isOpen = true;
  const proxy = createServer();
  proxy.on('connect', ({ url = '' }, socket) => {
    sockets.push(socket);
    if (!isOpen) return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    asked.push(url);
    const { hostname, port } = new URL(`http://${url}`);
    const there = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      there.pipe(socket).pipe(there);
    });
    there.on('error', () => socket.destroy());
    socket.on('error', () => there.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  const behind = through(`http://sentry:hunter2@127.0.0.1:${port}`);
  expect(await behind.version(options())).toMatch(/^Kubernetes v/);
  expect(asked).toEqual([new URL(cluster.url).host]);
  isOpen = false;
  const failed: unknown = await behind.version(options()).catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: 'KUBERNETES_AWAY' });
  expect(inspect(failed, { depth: 9 })).not.toContain('hunter2');
  for (const socket of sockets) socket.destroy();
  proxy.close();
});
