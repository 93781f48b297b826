import { afterAll, beforeAll, expect, test } from 'vitest';
import { type KubernetesScene, startKubernetesScene } from '../../../support/kubernetes-scene.ts';
import { waitFor } from '../../../support/wait-for.ts';

let scene: KubernetesScene;
beforeAll(async () => {
  scene = await startKubernetesScene();
});
afterAll(async () => {
  const secrets = scene.cluster
    .requests()
    .filter(({ path, user }) => path.includes('/secrets') && user.includes('sentry'));
  expect(secrets).toEqual([]);
  await scene.stop();
});

const alert = (name: string, deployment: string, title = name) => ({
  name,
  title,
  labels: { namespace: 'shop', deployment },
});

/** A deployment that was whole, and then got a revision that dies. */
async function rolledOut(name: string) {
  await scene.deploy(name, { image: 'shop/web:1' });
  await scene.ready(name, 2, 'shop/web:1');
  await scene.deploy(name, { image: 'shop/web:2-crash' });
  await waitFor(`${name} dies again and again`, async () =>
    (await scene.pods(name)).some(
      ({ status }) => status.containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff',
    ),
  );
}

test('a bad rollout is named with its cause, rolled back by one approval, and seen to be whole', async () => {
  await rolledOut('web');
  const id = await scene.open(alert('KubeDeploymentRolloutStuck', 'web'));
  const asked = await scene.until(id, ({ incident }) => incident.state === 'awaiting_approval');
  expect(asked.incident).toMatchObject({ domain: 'kubernetes', target: 'prod' });
  expect(asked.incident.cause).toContain('Revision 2 of web does not become healthy');
  expect(asked.incident.cause).toContain('shop/web:1 → shop/web:2-crash');
  expect(asked.actions).toMatchObject([
    {
      tool: 'kubernetes_rollout_undo',
      command: 'kubectl rollout undo --namespace shop deployment/web --to-revision=1',
      purpose: 'repair',
      undo: 'Roll it to revision 2 again.',
    },
  ]);
  expect(asked.actions[0]?.preflight.join('\n')).toContain('It knows no deadline');
  const { incident } = await scene.approve(id);
  expect(incident).toMatchObject({ state: 'resolved', verdict: 'fixed', resolvedBy: 'confirmed' });
  await scene.ready('web', 2, 'shop/web:1');
});

test('what somebody has rolled out since voids the approval, and nothing is changed', async () => {
  await rolledOut('moved');
  const id = await scene.open(alert('KubeDeploymentRolloutStuck', 'moved'));
  await scene.until(id, ({ incident }) => incident.state === 'awaiting_approval');
  await scene.deploy('moved', { image: 'shop/web:3' });
  await scene.ready('moved', 2, 'shop/web:3');
  const { actions } = await scene.core.records
    .load(id)
    .then((record) => record ?? Promise.reject(new Error('gone')));
  const card = actions.at(-1);
  if (!card) throw new Error('no card');
  const by = { actionId: card.id, planHash: card.planHash, by: 'UONCALL', reason: '' } as const;
  await scene.core.approvals.decide({ ...by, anotherWay: false, decision: 'approve' });
  const ended = await scene.until(id, ({ actions: all }) => all.some(({ state }) => state === 'void'));
  expect(ended.actions.filter(({ state }) => state === 'succeeded')).toEqual([]);
  await scene.ready('moved', 2, 'shop/web:3');
});

test('pods that wait for a node which was left cordoned: one approval, and they are placed', async () => {
  const cordon = async (unschedulable: boolean) => {
    const { status: _, ...node } = await scene.seen('Node', 'node-2', () => true);
    await scene.apply({ ...node, spec: { ...node.spec, unschedulable } });
  };
  await cordon(true);
  await scene.deploy('placed', { image: 'shop/web:1' }, 2, {
    nodeSelector: { 'kubernetes.io/hostname': 'node-2' },
  });
  await scene.seen('Deployment', 'placed', ({ status }) => status.unavailableReplicas === 2);
  const id = await scene.open(alert('KubePodPending', 'placed', 'Pod is pending'));
  const asked = await scene.until(id, ({ incident }) => incident.state === 'awaiting_approval');
  expect(asked.incident.cause).toContain('node-2 is cordoned');
  expect(asked.actions).toMatchObject([{ tool: 'kubernetes_uncordon', command: 'kubectl uncordon node-2' }]);
  const { incident } = await scene.approve(id);
  expect(incident).toMatchObject({ state: 'resolved', verdict: 'fixed', resolvedBy: 'confirmed' });
  await scene.ready('placed', 2, 'shop/web:1');
});

test('one pod that is stuck while the others are well: one approval, and another is made in its place', async () => {
  const probed = { image: 'shop/web:1', readinessProbe: { httpGet: { path: '/', port: 8080 } } };
  await scene.deploy('stuck', probed, 3);
  await scene.ready('stuck', 3, 'shop/web:1');
  const [pod] = await scene.pods('stuck');
  const { status: _, ...rest } = pod;
  await scene.apply({
    ...rest,
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...pod.metadata, annotations: { 'playground.sentry/behaviour': 'unready' } },
  });
  await scene.seen('Deployment', 'stuck', ({ status }) => status.availableReplicas === 2);
  const id = await scene.open(alert('KubePodNotReady', 'stuck', `pod ${pod.metadata.name} is not ready`));
  const { actions, incident: asked } = await scene.until(
    id,
    ({ incident }) => incident.state === 'awaiting_approval',
  );
  expect(asked.cause).toContain(`${pod.metadata.name} alone is not ready`);
  expect(actions).toMatchObject([{ tool: 'kubernetes_delete_pod' }]);
  const { incident } = await scene.approve(id);
  expect(incident).toMatchObject({ state: 'resolved', verdict: 'fixed', resolvedBy: 'confirmed' });
  expect(
    scene.cluster
      .requests()
      .filter((each) => each.method === 'DELETE' && each.path.includes('/pods/stuck-') && !each.dryRun),
  ).toHaveLength(1);
  await scene.ready('stuck', 3, 'shop/web:1');
});

test('a quota, a config map, an image, a memory limit: each is named by what the cluster says of it', async () => {
  await scene.deploy('config', {
    image: 'shop/web:1',
    env: [{ name: 'URL', valueFrom: { configMapKeyRef: { name: 'config', key: 'url' } } }],
  });
  await scene.deploy('image', { image: 'shop/web:9-missing' });
  await scene.deploy('memory', {
    image: 'shop/web:1-uses300Mi',
    resources: { requests: { memory: '64Mi' }, limits: { memory: '128Mi' } },
  });
  await scene.deploy('crash', { image: 'shop/web:1-crash' });
  const found = async (name: string, title: string) => {
    await scene.seen('Deployment', name, ({ status }) => status.unavailableReplicas > 0);
    // Its pods need a moment to get into trouble.
    for (;;) {
      const { diagnosis, record } = await scene.diagnosis(
        alert('KubeDeploymentReplicasMismatch', name, title),
      );
      expect(record.actions).toEqual([]);
      if (!diagnosis.rootCause.includes('is being rolled out')) return diagnosis.rootCause;
    }
  };
  expect(await found('config', 'config')).toContain('configmap config is not there');
  expect(await found('image', 'image')).toContain('is not in its registry');
  expect(await found('memory', 'memory')).toContain('uses more memory than its limit');
  expect(await found('crash', 'crash')).toContain('crash');
  await scene.apply({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'team', namespace: 'shop' },
    spec: { hard: { pods: '1' } },
  });
  await scene.seen('ResourceQuota', 'team', ({ status }) => status?.used !== undefined);
  await scene.deploy('refused', { image: 'shop/web:1' });
  expect(await found('refused', 'refused')).toContain('Quota team lets no more pods of refused be made');
});
