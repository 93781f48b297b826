import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  crashing,
  running,
  type StillCluster,
  startStillCluster,
  waiting,
  web,
} from '../../../contract/kubernetes/still-cluster.ts';
import { scratchDir } from '../../../support/scratch-dir.ts';
import { startTargetScene, type TargetScene } from '../../../support/target-scene.ts';

let still: StillCluster;
let scene: TargetScene;

beforeAll(async () => {
  still = await startStillCluster();
  const file = join(scratchDir(), 'kubeconfig');
  writeFileSync(file, still.cluster.kubeconfig('act'));
  scene = await startTargetScene({
    name: 'prod',
    kind: 'kubernetes',
    kubeconfig_file: file,
    namespaces: ['shop', 'pay', 'other'],
    acts: true,
  });
  await still.node('node-1');
});
afterAll(async () => {
  await scene.stop();
  expect(still.cluster.requests().filter(({ path }) => path.includes('secrets'))).toEqual([]);
  await still.stop();
});

const WHOLE = { replicas: 2, readyReplicas: 2, updatedReplicas: 2, availableReplicas: 2 };
const ONCE_WHOLE = {
  updatedReplicas: 1,
  conditions: [{ type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' }],
};

const NEVER_WHOLE = {
  updatedReplicas: 1,
  conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }],
};

const diagnose = (name: string, labels: Readonly<Record<string, string>>, title = name) =>
  scene.diagnosis({ name, title, labels: { namespace: 'shop', ...labels } });

/** Every alert about a workload that is well is healthy, whichever runbook it names. */
test.each([
  ['KubePodCrashLooping', 'CrashLoopBackOff'],
  ['KubeDeploymentReplicasMismatch', 'Deployment has not matched the expected number of replicas'],
  ['KubeDeploymentRolloutStuck', 'Rollout of deployment is not progressing'],
  ['PodOOMKilled', 'Container was OOMKilled'],
  ['PodImagePullBackOff', 'ImagePullBackOff'],
  ['PodCreateContainerConfigError', 'CreateContainerConfigError'],
  ['KubePodPending', 'Pod is pending'],
  ['PodEvicted', 'Pod was evicted'],
])('%s about a workload that is well is healthy', async (alert, title) => {
  const name = 'well';
  if (!still.cluster.object('Deployment', 'shop', name)) {
    await still.deployment(name, [web(), web({ image: 'shop:2' })], { status: WHOLE });
    await still.pod(name, 2, 'aaaaa');
  }
  const { diagnosis, record } = await diagnose(alert, { deployment: name }, title);
  expect(diagnosis).toMatchObject({ verdict: 'healthy' });
  expect(record.actions).toEqual([]);
});

describe('a new revision', () => {
  async function badRollout(name: string, served: boolean) {
    await still.deployment(name, [web(), web({ image: 'shop:2' })], {
      status: { ...NEVER_WHOLE, replicas: 3, availableReplicas: served ? 2 : 0 },
    });
    if (served) await still.pod(name, 1, 'aaaaa');
    const pod = await still.pod(name, 2, 'bbbbb', crashing());
    still.cluster.say({ namespace: 'shop', name: pod }, 'Error: connect ECONNREFUSED 10.0.0.9:5432');
    return pod;
  }

  test.each([
    ['KubeDeploymentRolloutStuck', 'deployment'],
    ['KubePodCrashLooping', 'pod'],
    ['KubeDeploymentReplicasMismatch', 'deployment'],
  ])('by %s: that only its pods die is the cause, and going back is proposed', async (alert, label) => {
    const name = `bad-${label}-${alert.length}`;
    const pod = await badRollout(name, true);
    const { diagnosis, record } = await diagnose(alert, { [label]: label === 'pod' ? pod : name });
    expect(diagnosis).toMatchObject({ verdict: 'cause_found', runbookId: 'kubernetes-bad-rollout' });
    expect(diagnosis.rootCause).toContain(`Revision 2 of ${name}`);
    expect(diagnosis.rootCause).toContain('containers.web.image: shop:1 → shop:2');
    expect(record.actions).toMatchObject([
      {
        tool: 'kubernetes_rollout_undo',
        command: `kubectl rollout undo --namespace shop deployment/${name} --to-revision=1`,
        purpose: 'repair',
      },
    ]);
  });

  test('that leaves no pod of the old one is told with what is not known', async () => {
    await badRollout('bad-alone', false);
    const { diagnosis, record } = await diagnose('KubeDeploymentRolloutStuck', { deployment: 'bad-alone' });
    expect(JSON.stringify(diagnosis)).toContain('whether revision 1 would work now');
    expect(record.actions).toMatchObject([{ tool: 'kubernetes_rollout_undo' }]);
  });

  test('that was whole once is not blamed for what broke later (look-alike)', async () => {
    await still.deployment('broke-later', [web(), web({ image: 'shop:2' })], { status: ONCE_WHOLE });
    const pod = await still.pod('broke-later', 2, 'aaaaa', crashing());
    for (const line of ['INFO starting', 'Error: connect ECONNREFUSED 10.0.0.9:5432'])
      still.cluster.say({ namespace: 'shop', name: pod }, line);
    const { diagnosis, record } = await diagnose('KubePodCrashLooping', { pod });
    expect(diagnosis).toMatchObject({ verdict: 'cause_found', runbookId: 'kubernetes-crash-loop' });
    expect(diagnosis.rootCause).toContain('ECONNREFUSED');
    expect(diagnosis.rootCause).toContain('it was healthy once');
    expect(record.actions).toEqual([]);
  });
});

test.each([
  ['starts for an hour', 'stuck-starts', 'KubeContainerWaiting', 'does not get beyond ContainerCreating'],
  ['does not end', 'stuck-ends', 'PodStuckTerminating', 'example.com/backup'],
])('a pod that %s is the cause, and nothing is proposed', async (_, name, alert, says) => {
  await still.deployment(name, [web()], { status: { ...WHOLE, availableReplicas: 1 } });
  const hourAgo = new Date(Date.now() - 3_600_000);
  const scheduled = { type: 'PodScheduled', status: 'True', lastTransitionTime: hourAgo.toISOString() };
  const starting = { ...waiting('ContainerCreating', ''), conditions: [scheduled] };
  const pod = await still.pod(name, 1, 'aaaaa', name === 'stuck-starts' ? starting : running());
  await still.event({ kind: 'Pod', name: pod }, 'FailedAttachVolume', 'Multi-Attach error for volume "v"');
  if (name === 'stuck-ends') {
    const { metadata, ...rest } = still.stored('Pod', pod);
    const { uid: _, resourceVersion: __, ...kept } = metadata;
    // It was deleted an hour ago.
    const ending = { finalizers: ['example.com/backup'], deletionTimestamp: hourAgo.toISOString() };
    await still.apply({ ...rest, metadata: { ...kept, ...ending, name: `${pod}x` } });
  }
  const { diagnosis, record } = await diagnose(alert, { deployment: name });
  expect(diagnosis).toMatchObject({ verdict: 'cause_found', runbookId: 'kubernetes-workload-unhealthy' });
  expect(diagnosis.rootCause).toContain(says);
  expect(record.actions).toEqual([]);
});

test('a crash loop without words of a reason is told, and nothing is proposed', async () => {
  await still.deployment('mute', [web()], { status: ONCE_WHOLE });
  const pod = await still.pod('mute', 1, 'aaaaa', crashing(7));
  const { diagnosis, record } = await diagnose('KubePodCrashLooping', { pod });
  expect(diagnosis.verdict).not.toBe('healthy');
  expect(diagnosis.rootCause).toContain('ends with code 7');
  expect(record.actions).toEqual([]);
});

test('out of memory: a limit that was changed is the cause, else that is left open', async () => {
  const limit = (memory: string) => web({ resources: { limits: { memory } } });
  await still.deployment('lowered', [limit('512Mi'), limit('64Mi')], { status: ONCE_WHOLE });
  await still.pod('lowered', 2, 'aaaaa', crashing(137, 'OOMKilled'));
  const lowered = await diagnose('PodOOMKilled', { deployment: 'lowered' });
  expect(lowered.diagnosis.rootCause).toContain('512Mi → 64Mi');
  await still.deployment('leaks', [limit('512Mi')], { status: ONCE_WHOLE });
  await still.pod('leaks', 1, 'aaaaa', crashing(137, 'OOMKilled'));
  const leaks = await diagnose('KubePodCrashLooping', { deployment: 'leaks' });
  expect(leaks.diagnosis).toMatchObject({ runbookId: 'kubernetes-out-of-memory' });
  expect(JSON.stringify(leaks.diagnosis)).toContain('whether leaks leaks memory');
});

describe('missing config', () => {
  test('a key: named with those that are there', async () => {
    await still.apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'till-config', namespace: 'shop' },
      data: { mode: 'fast' },
    });
    await still.deployment('till', [web()]);
    await still.pod(
      'till',
      1,
      'aaaaa',
      waiting('CreateContainerConfigError', "couldn't find key url in ConfigMap shop/till-config"),
    );
    const { diagnosis, record } = await diagnose('KubeContainerWaiting', { deployment: 'till' });
    expect(diagnosis).toMatchObject({ verdict: 'cause_found', runbookId: 'kubernetes-missing-config' });
    expect(diagnosis.rootCause).toContain('key url of configmap till-config is not there. It has: mode.');
    expect(record.actions).toEqual([]);
  });

  test('a secret: named, and never looked at', async () => {
    await still.deployment('vault', [web()]);
    await still.pod('vault', 1, 'aaaaa', waiting('CreateContainerConfigError', 'secret "db" not found'));
    const { diagnosis } = await diagnose(
      'PodCreateContainerConfigError',
      { deployment: 'vault' },
      'vault fails',
    );
    expect(diagnosis.rootCause).toContain('secret db is not there');
  });

  test('one that is there by now is no cause (look-alike)', async () => {
    await still.apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'late-config', namespace: 'shop' },
      data: { url: 'x' },
    });
    await still.deployment('late', [web()]);
    await still.pod(
      'late',
      1,
      'aaaaa',
      waiting('CreateContainerConfigError', "couldn't find key url in ConfigMap shop/late-config"),
    );
    const { diagnosis } = await diagnose('KubeContainerWaiting', { deployment: 'late' });
    expect(diagnosis.verdict).toBe('cannot_tell');
    expect(diagnosis.rootCause).toContain('has the key url by now');
  });
});

describe('quota', () => {
  const quota = async (namespace: string, used: string) => {
    await still.apply({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'team', namespace },
      spec: { hard: { pods: '4' } },
    });
    await still.apply({
      ...still.stored('ResourceQuota', 'team', namespace),
      status: { hard: { pods: '4' }, used: { pods: used } },
    });
  };
  const REFUSED =
    'pods "x" is forbidden: exceeded quota: team, requested: pods=1, used: pods=4, limited: pods=4';

  test('that keeps pods from being made is the cause, by the alert of the quota and of the workload', async () => {
    await quota('pay', '4');
    await still.deployment('ledger', [web()], { namespace: 'pay', failure: REFUSED });
    const byQuota = await diagnose(
      'KubeQuotaFullyUsed',
      { namespace: 'pay', resourcequota: 'team' },
      'quota is used up',
    );
    expect(byQuota.diagnosis).toMatchObject({ verdict: 'cause_found', runbookId: 'kubernetes-quota' });
    expect(byQuota.diagnosis.rootCause).toContain('Quota team lets no more pods of ledger be made');
    const byWorkload = await diagnose('KubeDeploymentReplicasMismatch', {
      namespace: 'pay',
      deployment: 'ledger',
    });
    expect(byWorkload.diagnosis.rootCause).toContain('Quota team lets no more pods of ledger be made');
    expect([...byQuota.record.actions, ...byWorkload.record.actions]).toEqual([]);
  });

  test('with room is healthy', async () => {
    await quota('other', '2');
    const { diagnosis } = await diagnose('KubeQuotaAlmostFull', { namespace: 'other' }, 'quota almost full');
    expect(diagnosis).toMatchObject({ verdict: 'healthy' });
  });
});

test.each([
  ['missing', 'manifest for shop:9 not found: manifest unknown', 'is not in its registry'],
  ['denied', 'pull access denied: unauthorized', 'refuses'],
  ['unreachable', 'dial tcp: lookup registry.internal: no such host', 'cannot be reached'],
])('an image that cannot be pulled: %s', async (kind, message, says) => {
  await still.deployment(`image-${kind}`, [web({ image: 'registry.internal/shop:9' })], {
    status: ONCE_WHOLE,
  });
  await still.pod(`image-${kind}`, 1, 'aaaaa', waiting('ErrImagePull', message));
  const { diagnosis } = await diagnose('KubeContainerWaiting', {
    deployment: `image-${kind}`,
    reason: 'ErrImagePull',
  });
  expect(diagnosis).toMatchObject({ runbookId: 'kubernetes-image-pull' });
  expect(diagnosis.rootCause).toContain(says);
});

describe('no node', () => {
  const pending = (message: string) => ({
    phase: 'Pending',
    conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }],
  });

  test('has room', async () => {
    await still.deployment('wide', [web()], { status: ONCE_WHOLE });
    await still.pod('wide', 1, 'aaaaa', pending('0/1 nodes are available: 1 Insufficient memory.'));
    const { diagnosis, record } = await diagnose('KubePodPending', { deployment: 'wide' }, 'Pod is pending');
    expect(diagnosis.rootCause).toContain('No node has room for');
    expect(record.actions).toEqual([]);
  });

  test('is free, as one is cordoned: to uncordon it is proposed', async () => {
    await still.node('node-c', [], { unschedulable: true });
    await still.deployment('shut-out', [web()], { status: ONCE_WHOLE });
    await still.pod(
      'shut-out',
      1,
      'aaaaa',
      pending('0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable.'),
    );
    const { diagnosis, record } = await diagnose(
      'KubePodPending',
      { deployment: 'shut-out' },
      'Pod is pending',
    );
    expect(diagnosis.rootCause).toContain('node-c is cordoned');
    expect(record.actions).toMatchObject([
      { tool: 'kubernetes_uncordon', command: 'kubectl uncordon node-c' },
    ]);
    await still.node('node-c');
  });
});

test('an eviction: by a node that is still short, and by one that is not any more', async () => {
  const evicted = { phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory.' };
  await still.node('node-full', [
    { type: 'MemoryPressure', status: 'True', reason: 'KubeletHasInsufficientMemory' },
  ]);
  await still.deployment('moved', [web()], { status: ONCE_WHOLE });
  await still.pod('moved', 1, 'aaaaa', evicted, { node: 'node-full' });
  const short = await diagnose('PodEvicted', { deployment: 'moved' }, 'Pod was evicted');
  expect(short.diagnosis.rootCause).toContain('because node node-full is short');
  expect(short.record.actions).toEqual([]);
  await still.node('node-full');
  await still.deployment('moved-on', [web()], { status: ONCE_WHOLE });
  await still.pod('moved-on', 1, 'aaaaa', evicted);
  const over = await diagnose('PodEvicted', { deployment: 'moved-on' }, 'Pod was evicted');
  expect(over.diagnosis.rootCause).toContain('is not short of it any more');
  expect(over.record.actions).toEqual([]);
});

test('a node that is not ready, one that is, and one that the alert does not mean', async () => {
  const away = (name: string) =>
    still.apply({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      status: { conditions: [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' }] },
    });
  const well = await diagnose('KubeNodeNotReady', { node: 'node-1' }, 'Node is not ready');
  expect(well.diagnosis).toMatchObject({ verdict: 'healthy' });
  await away('node-away');
  const other = await diagnose('KubeNodeNotReady', { node: 'node-1' }, 'Node is not ready');
  expect(other.diagnosis).toMatchObject({ verdict: 'cannot_tell' });
  const { diagnosis, record } = await diagnose(
    'KubeNodeNotReady',
    { node: 'node-away' },
    'Node is not ready',
  );
  expect(diagnosis.rootCause).toContain('its kubelet does not report');
  expect(record.actions).toEqual([]);
  await still.node('node-away');
});

describe('a disruption budget', () => {
  const budget = async (name: string, status: object) => {
    await still.apply({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name, namespace: 'shop' },
      spec: { minAvailable: 2, selector: { matchLabels: { app: name } } },
    });
    await still.apply({ ...still.stored('PodDisruptionBudget', name), status });
  };
  const about = (name: string) =>
    diagnose('KubePdbNotEnoughHealthyPods', { poddisruptionbudget: name }, 'Disruption budget');

  test('that needs all there are, one whose pods are ill, and one that allows a disruption', async () => {
    await budget('all', { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2, expectedPods: 2 });
    expect((await about('all')).diagnosis.rootCause).toContain('allows no disruption even when all is well');
    await budget('ill', { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 2, expectedPods: 3 });
    expect((await about('ill')).diagnosis.rootCause).toContain('Its pods are ill');
    await budget('free', { disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, expectedPods: 3 });
    expect((await about('free')).diagnosis).toMatchObject({ verdict: 'healthy' });
  });
});

describe('an autoscaler', () => {
  const scaler = async (name: string, currentReplicas: number) => {
    await still.apply({
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name, namespace: 'shop' },
      spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name }, maxReplicas: 2 },
    });
    await still.apply({
      ...still.stored('HorizontalPodAutoscaler', name),
      status: { currentReplicas, desiredReplicas: currentReplicas },
    });
    await still.deployment(name, [web()], { status: WHOLE });
    await still.pod(name, 1, 'aaaaa');
  };
  const about = (name: string) =>
    diagnose('KubeHpaMaxedOut', { horizontalpodautoscaler: name }, 'HPA is at its maximum');

  test('at its maximum with pods that are well, and below it', async () => {
    await scaler('busy', 2);
    expect((await about('busy')).diagnosis.rootCause).toContain(
      'is at its maximum of 2 replicas, and all of its pods are well',
    );
    await scaler('calm', 1);
    expect((await about('calm')).diagnosis).toMatchObject({ verdict: 'healthy' });
  });
});

describe('a service', () => {
  const service = (name: string, selector: object) =>
    still.apply({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace: 'shop' },
      spec: { selector, ports: [{ port: 80 }] },
    });
  const endpoints = (name: string, ready: readonly string[]) =>
    still.apply({
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name, namespace: 'shop' },
      subsets: [{ addresses: ready.map((ip) => ({ ip })) }],
    });
  const about = (name: string) =>
    diagnose('ServiceWithoutEndpoints', { service: name }, 'Service has no endpoints');

  test('whose selector misses its pods, whose pods die, and that is served', async () => {
    await still.deployment('front', [web()], { status: WHOLE });
    await still.pod('front', 1, 'aaaaa');
    await service('front', { app: 'front', tier: 'new' });
    const missed = await about('front');
    expect(missed.diagnosis.rootCause).toContain('selects no pod');
    expect(missed.diagnosis.rootCause).toContain('tier=new');
    await still.deployment('api', [web(), web({ image: 'shop:2' })], { status: NEVER_WHOLE });
    await still.pod('api', 2, 'aaaaa', crashing());
    await service('api', { app: 'api' });
    const dying = await about('api');
    expect(dying.diagnosis.rootCause).toContain('has no pod to send to');
    expect(dying.record.actions).toMatchObject([{ tool: 'kubernetes_rollout_undo' }]);
    await service('served', { app: 'front' });
    await endpoints('served', ['10.0.0.1']);
    expect((await about('served')).diagnosis).toMatchObject({ verdict: 'healthy' });
  });
});

test('pods that run and are not ready, a rollout that is paused, and one that is scaled to nothing', async () => {
  await still.deployment('deaf', [web()], { status: ONCE_WHOLE });
  await still.pod('deaf', 1, 'aaaaa', { ...running(), conditions: [{ type: 'Ready', status: 'False' }] });
  const deaf = await diagnose('KubePodNotReady', { deployment: 'deaf' });
  expect(deaf.diagnosis.rootCause).toContain('their readiness probe does not pass');
  expect(deaf.record.actions).toEqual([]);
  await still.deployment('zero', [web()], { replicas: 0 });
  const zero = await diagnose('KubeDeploymentReplicasMismatch', { deployment: 'zero' });
  expect(zero.diagnosis).toMatchObject({ verdict: 'cannot_tell' });
  expect(zero.diagnosis.rootCause).toContain('scaled to 0');
});
