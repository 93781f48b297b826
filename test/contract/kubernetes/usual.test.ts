import { afterAll, beforeAll, expect, test } from 'vitest';
import { kubernetesUsual } from '../../../src/targets/kubernetes/usual.ts';
import { readUsual } from '../../../src/targets/read-usual.ts';
import { type StillCluster, startStillCluster } from './still-cluster.ts';

let still: StillCluster;
beforeAll(async () => {
  still = await startStillCluster();
});
afterAll(() => still.stop());

const target = {
  name: 'shop-cluster',
  kind: 'kubernetes',
  domain: 'kubernetes',
  environment: 'test',
  aliases: [],
} as const;
const look = (system: unknown) => readUsual(target, kubernetesUsual, system, new AbortController().signal);

test('a cluster tells how many pods there are, are ill and wait', async () => {
  const { numbers, unread } = await look(still.connect().system);
  expect(unread).toEqual([]);
  expect(Object.fromEntries(numbers.map(({ name, now }) => [name, now]))).toEqual({
    pods: 0,
    ill_pods: 0,
    pending: 0,
  });
});

test('where not all pods were read, nothing is said of how many there are', async () => {
  const { system } = still.connect();
  const list: typeof system.cluster.list = async (...given) => ({
    ...(await system.cluster.list(...given)),
    isComplete: false,
  });
  const { numbers } = await look({ ...system, cluster: { ...system.cluster, list } });
  expect(numbers.map(({ now }) => now)).toEqual([null, null, null]);
});
