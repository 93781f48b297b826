import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clusterFaults } from '../../../../playground/faults/kubernetes/cluster-faults.ts';
import { applyShop, namespaces } from '../../../../playground/faults/kubernetes/shop-cluster.ts';
import { changeTeller } from '../../../../playground/faults/tell-change.ts';
import { type Cluster, startCluster } from '../../../../playground/kubernetes/cluster.ts';
import type { Change } from '../../../../src/core/change.ts';
import { createHttpServer } from '../../../../src/http/server.ts';
import { webhookRoutes } from '../../../../src/http/webhook-route.ts';
import { connectCluster } from '../../../../src/targets/kubernetes/connect/connect-cluster.ts';
import { kubernetesInventory } from '../../../../src/targets/kubernetes/inventory.ts';
import { inventoryChanges } from '../../../support/inventory-changes.ts';
import { quiet } from '../../../support/quiet.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';

const secret = 'shop-deploys-tell-this';
const told: Change[] = [];
const http = createHttpServer({
  host: '127.0.0.1',
  port: 0,
  routes: webhookRoutes({
    accept: async () => ({ kind: 'orphan_resolved', incidentId: null }),
    recordChange: async (change) => {
      told.push(change);
      return 'recorded';
    },
    secret,
    ownSecrets: new Map(),
    log: quiet,
  }),
  log: quiet,
});
let cluster: Cluster;
let webhook: { readonly url: string; readonly secret: string };

beforeAll(async () => {
  webhook = { url: `http://127.0.0.1:${(await http.listen()).port}/webhooks/alertmanager`, secret };
  cluster = await startCluster({});
  await applyShop(cluster);
});
afterAll(async () => {
  await cluster.stop();
  await http.close(0);
});

function look() {
  const [path, text] = [join(scratchDir(), 'kubeconfig'), cluster.kubeconfig('act')];
  writeFileSync(path, text);
  const system = {
    cluster: connectCluster({ path, text, context: undefined }),
    namespaces,
    acts: true,
    maxReplicas: 10,
  };
  return kubernetesInventory(system, new AbortController().signal);
}

const cases = [
  ['bad_rollout', 'image of checkout on shop: shop/checkout:2.4.0 → shop/checkout:2.5.0-crash'],
  ['crash_loop', 'PAYMENTS_URL of orders on shop: http://payments.shop:8080 → empty'],
  ['quota', 'replicas of search on shop: 2 → 5'],
  [
    'missing_config',
    'image of payments on shop: shop/payments:1.8.0 → shop/payments:1.9.0, variables PROVIDER → PROVIDER, RETRY_BUDGET',
  ],
] as const;

test.each(cases)('what was changed for %s is seen, and nothing else', async (id, title) => {
  const faults = clusterFaults(cluster, changeTeller({ webhook }, quiet));
  const fault = faults.find((each) => each.id === `kubernetes_${id}`);
  const before = await look();
  told.splice(0);
  await fault?.cause();
  const seen = inventoryChanges(before, await look());
  expect(seen.map((change) => change.title)).toEqual([title]);
  // The one deployment by a tool is told of, too; as the same version, so that it is known for the same.
  expect(told).toMatchObject(
    id === 'bad_rollout'
      ? [
          {
            kind: 'deployment',
            title: 'checkout 2.5.0-crash deployed',
            where: ['checkout', 'shop-cluster'],
            by: 'olivia',
            from: '2.4.0',
            to: '2.5.0-crash',
          },
        ]
      : [],
  );
  await fault?.undo();
});

test('a deployment that nobody hears of is made all the same', async () => {
  const away = changeTeller({ webhook: { url: 'http://127.0.0.1:9/webhooks/alertmanager', secret } }, quiet);
  await away({ title: 'x 2 deployed', where: ['x'], by: 'olivia', from: '1', to: '2' });
  await changeTeller(
    { webhook: { ...webhook, secret: 'another' } },
    quiet,
  )({
    title: 'x 2 deployed',
    where: ['x'],
    by: 'olivia',
    from: '1',
    to: '2',
  });
  expect(told.filter(({ where }) => where.includes('x'))).toEqual([]);
});
