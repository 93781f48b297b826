import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { crashing, running, type StillCluster, startStillCluster, waiting, web } from './still-cluster.ts';

let still: StillCluster;
let on: ReturnType<StillCluster['connect']>;

beforeAll(async () => {
  still = await startStillCluster();
  on = still.connect();
  await still.node('node-1');
});
afterEach(() => vi.useRealTimers());
afterAll(() => still.stop());

const WHOLE = { replicas: 2, readyReplicas: 2, updatedReplicas: 2, availableReplicas: 2 };
const why = async (name: string) => (await on.read('why_unhealthy', { name })).data;
const rollout = async (name: string, kind = 'statefulset') => on.read('rollout', { kind, name });
const workload = async (name: string) => (await on.read('workloads', { name })).data['workloads'][0];

/** Clocks alone: nothing waits for them. */
function later(minutes: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + minutes * 60_000 });
}

const progressing = (status: string, reason: string) => [{ type: 'Progressing', status, reason }];

describe('a pod that does not end', () => {
  /** Somebody deletes it, and its finalizer keeps it. */
  async function end(name: string): Promise<void> {
    const found = still.stored('Pod', name);
    await still.apply({ ...found, metadata: { ...found.metadata, finalizers: ['example.com/backup'] } });
    await on.system.cluster.remove({ kind: 'pod', namespace: 'shop', name }, found.metadata.uid, {
      signal: new AbortController().signal,
      timeoutMs: 5_000,
    });
  }

  test('is in trouble once its time is over, though others are in its place', async () => {
    await still.deployment('ends', [web()], { status: WHOLE });
    const pod = await still.pod('ends', 1, 'aaaaa');
    await end(pod);
    expect(await why('ends')).toMatchObject({ reason: 'healthy', ill_pods: 0 });
    later(30);
    expect(await why('ends')).toMatchObject({
      reason: 'stuck_terminating',
      healthy: false,
      ill_pods: 1,
      says: expect.stringMatching(/ends-.* does not end: .*example\.com\/backup/),
    });
    expect(await workload('ends')).toMatchObject({ healthy: false, ill_pods: 1 });
  });

  test('on a node that is away does not end because of that', async () => {
    await still.apply({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'node-away' },
      status: { conditions: [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' }] },
    });
    await still.deployment('off', [web()], { status: WHOLE });
    const pod = await still.pod('off', 1, 'aaaaa', running(), { node: 'node-away' });
    await end(pod);
    later(30);
    expect(await why('off')).toMatchObject({ reason: 'node', healthy: false });
  });
});

describe('a pod that does not get beyond being set up', () => {
  const creating = waiting('ContainerCreating', '');

  test('is in trouble after a while, and the last warning says why', async () => {
    await still.deployment('sets-up', [web()], { status: { ...WHOLE, availableReplicas: 1 } });
    await still.pod('sets-up', 1, 'aaaaa');
    const pod = await still.pod('sets-up', 1, 'bbbbb', creating);
    expect(await why('sets-up')).toMatchObject({ reason: 'rolling_out', ill_pods: 0 });
    await still.event({ kind: 'Pod', name: pod }, 'FailedAttachVolume', 'Multi-Attach error for volume "v"');
    later(60);
    expect(await why('sets-up')).toMatchObject({
      reason: 'stuck_starting',
      ill_pods: 1,
      says: `${pod} does not get beyond ContainerCreating: FailedAttachVolume: Multi-Attach error for volume "v"`,
    });
  });

  test('is in trouble as soon as its rollout has stalled, and its measures tell so', async () => {
    const status = (reason: string) => ({
      replicas: 3,
      readyReplicas: 2,
      updatedReplicas: 1,
      availableReplicas: 2,
      conditions: progressing(reason === 'ReplicaSetUpdated' ? 'True' : 'False', reason),
    });
    await still.deployment('stalls', [web(), web({ image: 'shop:2' })], {
      status: status('ReplicaSetUpdated'),
    });
    await still.pod('stalls', 1, 'aaaaa');
    await still.pod('stalls', 1, 'ccccc');
    await still.pod('stalls', 2, 'bbbbb', creating);
    expect(await workload('stalls')).toMatchObject({ healthy: true, ill_pods: 0 });
    await still.apply({
      ...still.stored('Deployment', 'stalls'),
      status: { observedGeneration: 1, ...status('ProgressDeadlineExceeded') },
    });
    expect(await why('stalls')).toMatchObject({ reason: 'stuck_starting', stalled: true, ill_pods: 1 });
    expect((await rollout('stalls', 'deployment')).data).toMatchObject({ ill_pods: 1 });
    expect(await workload('stalls')).toMatchObject({ healthy: false, ill_pods: 1 });
  });

  test('a rollout that stalls without a pod in trouble is told to have stalled', async () => {
    await still.deployment('quiet', [web()], {
      status: { updatedReplicas: 1, conditions: progressing('False', 'ProgressDeadlineExceeded') },
    });
    await still.pod('quiet', 1, 'aaaaa');
    expect(await why('quiet')).toMatchObject({ reason: 'stalled', healthy: false });
    expect(await workload('quiet')).toMatchObject({ healthy: false });
  });
});

describe('whether a rollout is complete, as kubectl has it', () => {
  const both = [web(), web({ image: 'shop:2' })];
  const status = (updated: number) => ({
    replicas: 3,
    readyReplicas: 3,
    availableReplicas: 3,
    updatedReplicas: updated,
    currentRevision: 'x',
    updateRevision: 'y',
  });
  const partition = (number: number) => ({
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: number } },
  });

  test('a stateful set is, down to its partition', async () => {
    await still.set('StatefulSet', 'canary', both, {
      spec: partition(2),
      status: status(1),
      pods: [1, 1, 2],
    });
    const { data, text } = await rollout('canary');
    expect(data).toMatchObject({ complete: true, updated: 1, desired: 3 });
    expect(text).toContain('down to its partition');
    expect(await why('canary')).toMatchObject({ reason: 'healthy' });
    await still.set('StatefulSet', 'behind', both, {
      spec: partition(1),
      status: status(1),
      pods: [1, 1, 2],
    });
    expect((await rollout('behind')).data).toMatchObject({ complete: false });
    await still.set('StatefulSet', 'missing', both, {
      spec: partition(2),
      status: { ...status(1), readyReplicas: 2, availableReplicas: 2 },
      pods: [1, 1, 2],
    });
    expect((await rollout('missing')).data).toMatchObject({ complete: false });
  });

  test.each(['StatefulSet', 'DaemonSet'] as const)(
    'a %s whose pods are replaced by hand has nothing to roll out',
    async (kind) => {
      const name = `by-hand-${kind.toLowerCase()}`;
      const counted = { desiredNumberScheduled: 3, numberReady: 3, numberAvailable: 3 };
      await still.set(kind, name, both, {
        spec: { updateStrategy: { type: 'OnDelete' } },
        status:
          kind === 'DaemonSet' ? { ...counted, updatedNumberScheduled: 1 } : { ...status(1), replicas: 3 },
        pods: [1, 1, 2],
      });
      const { data, text } = await rollout(name, kind.toLowerCase());
      expect(data).toMatchObject({ complete: true });
      expect(text).toContain('only when somebody deletes it (OnDelete)');
      expect(await why(name)).toMatchObject({ reason: 'healthy' });
    },
  );
});

describe('whose pods are whose', () => {
  test('is told by who made them, and not by their labels', async () => {
    await still.deployment('owns', [web()], { status: WHOLE });
    await still.pod('owns', 1, 'aaaaa');
    const job = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      name: 'owns-backup',
      uid: 'of-a-job',
      controller: true,
    };
    await still.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'owns-backup-x',
        namespace: 'shop',
        labels: { app: 'owns' },
        ownerReferences: [job],
      },
      spec: web(),
    });
    await still.apply({
      ...still.stored('Pod', 'owns-backup-x'),
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] },
    });
    expect(await workload('owns')).toMatchObject({ healthy: true, ill_pods: 0 });
    const { data } = await on.read('workloads', {});
    expect(data['others']).toMatchObject([{ name: 'owns-backup-x', trouble: 'not_ready' }]);
  });

  test('a set of the same name that was made anew owns none of the pods before it', async () => {
    await still.deployment('anew', [web()], { status: WHOLE });
    const pod = await still.pod('anew', 1, 'aaaaa', crashing());
    const found = still.stored('Pod', pod);
    const [owner] = found.metadata.ownerReferences;
    await still.apply({
      ...found,
      metadata: { ...found.metadata, ownerReferences: [{ ...owner, uid: 'of-the-one-before' }] },
    });
    expect(await workload('anew')).toMatchObject({ healthy: true, ill_pods: 0 });
  });
});
