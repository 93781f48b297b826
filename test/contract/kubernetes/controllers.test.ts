import {
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  type KubernetesObject,
  PolicyV1Api,
  type V1Pod,
} from '@kubernetes/client-node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Cluster, startCluster } from '../../../playground/kubernetes/cluster.ts';
import { BEHAVIOUR } from '../../../playground/kubernetes/controller/behaviours.ts';
import { applyShop, deployment, SHOP } from '../../support/kubernetes-shop.ts';

/** What goes wrong in the cluster, told as a real one tells it, and how it comes right again. */
describe("the cluster's controllers", () => {
  let cluster: Cluster;
  let core: CoreV1Api;
  let apps: AppsV1Api;
  let config: KubeConfig;

  beforeEach(async () => {
    cluster = await startCluster({ speed: 100 });
    config = new KubeConfig();
    config.loadFromString(cluster.kubeconfig('admin'));
    core = config.makeApiClient(CoreV1Api);
    apps = config.makeApiClient(AppsV1Api);
    await applyShop(cluster);
  });
  afterEach(() => cluster.stop());

  const podsOf = async (app: string): Promise<V1Pod[]> =>
    (await core.listNamespacedPod({ namespace: SHOP, labelSelector: `app=${app}` })).items;
  const stateOf = async (app: string) => (await podsOf(app))[0]?.status?.containerStatuses?.[0];
  const waiting = async (app: string) => (await stateOf(app))?.state?.waiting;
  const ready = async (app: string) =>
    (await podsOf(app)).filter(
      ({ status }) => status?.containerStatuses?.every((each) => each.ready) === true,
    ).length;
  const eventsOf = async (reason: string) =>
    (await core.listNamespacedEvent({ namespace: SHOP, fieldSelector: `reason=${reason}` })).items.map(
      ({ message }) => message ?? '',
    );
  const condition = async (name: string, type: string) => {
    const { status } = await apps.readNamespacedDeployment({ namespace: SHOP, name });
    return status?.conditions?.find((each) => each.type === type);
  };
  /** How a node or a pod behaves from now on. */
  const behave = (object: KubernetesObject | undefined, word: string) => {
    const changed = structuredClone(object) ?? {};
    changed.metadata ??= {};
    changed.metadata.annotations = { ...changed.metadata.annotations, [BEHAVIOUR]: word };
    return cluster.apply(changed);
  };
  const shop = (kind: string, apiVersion: string, name: string, fields: object) =>
    ({ apiVersion, kind, metadata: { name, namespace: SHOP }, ...fields }) as KubernetesObject;
  const probe = { httpGet: { path: '/health', port: 8080 }, periodSeconds: 5, failureThreshold: 2 };

  it('restarts a container that crashes, ever later, until another image runs', async () => {
    await cluster.apply(deployment('orders', 'shop/orders:2.0.0-exit7'));
    await expect.poll(() => waiting('orders')).toMatchObject({ reason: 'CrashLoopBackOff' });
    await expect
      .poll(async () => (await waiting('orders'))?.message)
      .toMatch(/^back-off 20s restarting failed container=app pod=orders-/);
    const state = await stateOf('orders');
    expect(state).toMatchObject({
      ready: false,
      lastState: { terminated: { exitCode: 7, reason: 'Error' } },
    });
    expect(state?.restartCount).toBeGreaterThan(1);
    expect(await eventsOf('BackOff')).toEqual([
      expect.stringMatching(/^Back-off restarting failed container app in pod orders-\S+_shop\(\S+\)$/),
    ]);
    await cluster.apply(deployment('orders', 'shop/orders:2.0.1'));
    await expect.poll(() => ready('orders')).toBe(1);
  });

  it('kills a container at its memory limit, and lets it live under a higher one', async () => {
    const limited = (memory: string) =>
      deployment('report', 'shop/report:1.0.0-uses300Mi', {
        container: { resources: { limits: { memory } } },
      });
    await cluster.apply(limited('256Mi'));
    await expect
      .poll(async () => (await stateOf('report'))?.lastState?.terminated)
      .toMatchObject({ exitCode: 137, reason: 'OOMKilled' });
    await cluster.apply(limited('512Mi'));
    await expect.poll(() => ready('report')).toBe(1);
  });

  it('says of an image that cannot be pulled what the registry said', async () => {
    await cluster.apply(deployment('web', 'shop/web:9.9.9-missing'));
    await expect
      .poll(() => waiting('web'))
      .toMatchObject({
        reason: 'ImagePullBackOff',
        message: 'Back-off pulling image "shop/web:9.9.9-missing"',
      });
    expect(await eventsOf('Failed')).toContainEqual(
      expect.stringContaining('docker.io/shop/web:9.9.9-missing: not found'),
    );
    const [pod] = await podsOf('web');
    const log = core.readNamespacedPodLog({ namespace: SHOP, name: pod?.metadata?.name ?? '' });
    await expect(log).rejects.toThrow(
      /is waiting to start: (trying and failing to pull image|image can't be pulled)/,
    );
  });

  it('waits for a config map and for its key, and starts when both are there', async () => {
    const valueFrom = { configMapKeyRef: { name: 'orders', key: 'url' } };
    await cluster.apply(
      deployment('orders', 'shop/orders:1.0.0', { container: { env: [{ name: 'URL', valueFrom }] } }),
    );
    await expect
      .poll(() => waiting('orders'))
      .toEqual({
        reason: 'CreateContainerConfigError',
        message: 'configmap "orders" not found',
      });
    await cluster.apply(shop('ConfigMap', 'v1', 'orders', { data: { uri: 'x' } }));
    await expect
      .poll(async () => (await waiting('orders'))?.message)
      .toBe("couldn't find key url in ConfigMap shop/orders");
    await cluster.apply(shop('ConfigMap', 'v1', 'orders', { data: { url: 'x' } }));
    await expect.poll(() => ready('orders')).toBe(1);
  });

  it('does not start a pod whose volume is missing', async () => {
    const volumes = [{ name: 'settings', configMap: { name: 'absent' } }];
    await cluster.apply(deployment('orders', 'shop/orders:1.0.0', { pod: { volumes } }));
    await expect
      .poll(() => eventsOf('FailedMount'))
      .toEqual(['MountVolume.SetUp failed for volume "settings" : configmap "absent" not found']);
    expect(await waiting('orders')).toEqual({ reason: 'ContainerCreating' });
  });

  it('takes a pod that is not ready from behind its service, and puts it back', async () => {
    await cluster.apply(
      shop('Service', 'v1', 'web', {
        spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] },
      }),
      deployment('web', 'shop/web:1.0.0', { replicas: 2, container: { readinessProbe: probe } }),
    );
    const subset = async () =>
      (await core.readNamespacedEndpoints({ namespace: SHOP, name: 'web' })).subsets?.[0];
    await expect.poll(async () => (await subset())?.addresses?.length).toBe(2);
    const [pod] = await podsOf('web');
    await behave(pod, 'unready');
    await expect
      .poll(async () => (await subset())?.notReadyAddresses?.map(({ ip }) => ip))
      .toEqual([pod?.status?.podIP]);
    const others = (await podsOf('web'))
      .map(({ status }) => status?.podIP)
      .filter((ip) => ip !== pod?.status?.podIP);
    expect((await subset())?.addresses?.map(({ ip }) => ip)).toEqual(others);
    expect(await eventsOf('Unhealthy')).toEqual([
      'Readiness probe failed: HTTP probe failed with statuscode: 503',
    ]);
    await behave(cluster.object('Pod', SHOP, pod?.metadata?.name ?? ''), 'well');
    await expect.poll(async () => (await subset())?.addresses?.length).toBe(2);
  });

  it('restarts a container that fails its liveness probe, and keeps the log of the run before', async () => {
    const livenessProbe = { ...probe, periodSeconds: 60 };
    await cluster.apply(deployment('web', 'shop/web:1.0.0', { container: { livenessProbe } }));
    await expect.poll(() => ready('web')).toBe(1);
    const name = (await podsOf('web'))[0]?.metadata?.name ?? '';
    cluster.say({ namespace: SHOP, name }, 'said in the first run');
    await behave(cluster.object('Pod', SHOP, name), 'unlive');
    await expect.poll(async () => (await stateOf('web'))?.restartCount).toBe(1);
    await behave(cluster.object('Pod', SHOP, name), 'well');
    expect(await eventsOf('Killing')).toEqual(['Container app failed liveness probe, will be restarted']);
    expect((await stateOf('web'))?.lastState?.terminated?.exitCode).toBe(137);
    const log = (previous: boolean) => core.readNamespacedPodLog({ namespace: SHOP, name, previous });
    expect(await log(true)).toContain('said in the first run');
    expect(await log(false)).not.toContain('said in the first run');
  });

  it('keeps a pod pending that no node can take, and says why of each', async () => {
    await cluster.apply(
      deployment('huge', 'shop/huge:1.0.0', { container: { resources: { requests: { memory: '64Gi' } } } }),
      deployment('picky', 'shop/picky:1.0.0', { pod: { nodeSelector: { disk: 'ssd' } } }),
    );
    await expect
      .poll(async () => new Set(await eventsOf('FailedScheduling')))
      .toEqual(
        new Set([
          '0/3 nodes are available: 3 Insufficient memory. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.',
          "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
        ]),
      );
    expect((await podsOf('huge'))[0]?.status?.phase).toBe('Pending');
    const body = [{ op: 'add', path: '/metadata/labels/disk', value: 'ssd' }];
    await core.patchNode({ name: 'node-2', body });
    await expect.poll(async () => (await podsOf('picky'))[0]?.spec?.nodeName).toBe('node-2');
  });

  it('creates no pod beyond a quota, says so on the replica set, and goes on when there is room', async () => {
    const quota = (pods: string) => shop('ResourceQuota', 'v1', 'shop', { spec: { hard: { pods } } });
    await cluster.apply(quota('1'), deployment('web', 'shop/web:1.0.0', { replicas: 2 }));
    await expect
      .poll(() => eventsOf('FailedCreate'))
      .toContainEqual(
        expect.stringMatching(
          /^Error creating: pods "web-\S+" is forbidden: exceeded quota: shop, requested: pods=1, used: pods=1, limited: pods=1$/,
        ),
      );
    await expect
      .poll(() => condition('web', 'ReplicaFailure'))
      .toMatchObject({ status: 'True', reason: 'FailedCreate' });
    const used = await core.readNamespacedResourceQuota({ namespace: SHOP, name: 'shop' });
    expect(used.status).toEqual({ hard: { pods: '1' }, used: { pods: '1' } });
    await cluster.apply(quota('5'));
    await expect.poll(() => ready('web')).toBe(2);
    await expect.poll(() => condition('web', 'ReplicaFailure')).toBeUndefined();
  });

  it('keeps the old pods while a new revision does not come up, and says when its deadline is over', async () => {
    const spec = { progressDeadlineSeconds: 30 };
    await cluster.apply(deployment('web', 'shop/web:1.0.0', { replicas: 4, spec }));
    await expect
      .poll(() => condition('web', 'Progressing'))
      .toMatchObject({ reason: 'NewReplicaSetAvailable' });
    await cluster.apply(deployment('web', 'shop/web:2.0.0-crash', { replicas: 4, spec }));
    await expect
      .poll(() => condition('web', 'Progressing'))
      .toMatchObject({
        status: 'False',
        reason: 'ProgressDeadlineExceeded',
        message: expect.stringMatching(/^ReplicaSet "web-\S+" has timed out progressing.$/),
      });
    // A quarter may be missing, and a quarter too many.
    expect(await ready('web')).toBe(3);
    expect(await condition('web', 'Available')).toMatchObject({
      status: 'True',
      reason: 'MinimumReplicasAvailable',
    });
    expect((await podsOf('web')).length).toBe(5);
  });

  it('gives up the pods of a node that is down, after as long as they tolerate that', async () => {
    await cluster.apply(deployment('web', 'shop/web:1.0.0', { replicas: 3 }));
    await expect.poll(() => ready('web')).toBe(3);
    await behave(cluster.object('Node', null, 'node-1'), 'down');
    await expect
      .poll(async () =>
        (await core.readNode({ name: 'node-1' })).status?.conditions?.find(({ type }) => type === 'Ready'),
      )
      .toMatchObject({ status: 'Unknown', reason: 'NodeStatusUnknown' });
    await expect.poll(() => eventsOf('TaintManagerEviction')).toHaveLength(1);
    const others = async () => (await podsOf('web')).filter(({ spec }) => spec?.nodeName !== 'node-1').length;
    await expect.poll(others).toBe(3);
    // Nobody on that node can say that the pod has ended.
    const [lost] = (await podsOf('web')).filter(({ spec }) => spec?.nodeName === 'node-1');
    expect(lost?.metadata?.deletionTimestamp).toBeDefined();
    await behave(cluster.object('Node', null, 'node-1'), 'well');
    await expect.poll(async () => (await podsOf('web')).length).toBe(3);
  });

  it('evicts what has promised least from a node under memory pressure', async () => {
    await cluster.apply(
      deployment('web', 'shop/web:1.0.0', { pod: { nodeSelector: { 'kubernetes.io/hostname': 'node-1' } } }),
    );
    await expect.poll(() => ready('web')).toBe(1);
    await behave(cluster.object('Node', null, 'node-1'), 'memory-pressure');
    await expect
      .poll(async () =>
        (await podsOf('web'))
          .map(({ status }) => `${status?.phase} ${status?.reason ?? ''}`)
          .toSorted((a, b) => a.localeCompare(b)),
      )
      .toEqual(['Failed Evicted', 'Pending ']);
    expect((await eventsOf('Evicted'))[0]).toMatch(/^The node was low on resource: memory\. /);
  });

  it('starts the pods of a stateful set one after the other, each with its volume', async () => {
    const labels = { app: 'db' };
    const claim = {
      metadata: { name: 'data' },
      spec: { storageClassName: 'fast', resources: { requests: { storage: '1Gi' } } },
    };
    const spec = {
      replicas: 2,
      serviceName: 'db',
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'shop/db:1' }] } },
      volumeClaimTemplates: [claim],
    };
    await cluster.apply(shop('StatefulSet', 'apps/v1', 'db', { spec }));
    await expect
      .poll(() => eventsOf('ProvisioningFailed'))
      .toEqual(['storageclass.storage.k8s.io "fast" not found']);
    expect((await podsOf('db')).map(({ metadata }) => metadata?.name)).toEqual(['db-0']);
    await cluster.apply({
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'fast' },
    });
    await expect.poll(() => ready('db')).toBe(2);
    const claims = await core.listNamespacedPersistentVolumeClaim({ namespace: SHOP });
    expect(claims.items.map(({ metadata, status }) => `${metadata?.name} ${status?.phase}`)).toEqual([
      'data-db-0 Bound',
      'data-db-1 Bound',
    ]);
  });

  it('finishes a job, and gives one up that fails too often', async () => {
    const job = (name: string, image: string) =>
      shop('Job', 'batch/v1', name, {
        spec: {
          backoffLimit: 1,
          template: { spec: { restartPolicy: 'Never', containers: [{ name: 'app', image }] } },
        },
      });
    await cluster.apply(job('good', 'shop/report:1-done'), job('bad', 'shop/report:1-exit3'));
    const ending = (name: string) =>
      (cluster.object('Job', SHOP, name) as { status?: { conditions?: { type: string; reason: string }[] } })
        .status?.conditions?.[0];
    await expect.poll(() => ending('good')).toMatchObject({ type: 'Complete' });
    await expect.poll(() => ending('bad')).toMatchObject({ type: 'Failed', reason: 'BackoffLimitExceeded' });
    const runs = await core.listNamespacedPod({
      namespace: SHOP,
      labelSelector: 'batch.kubernetes.io/job-name=bad',
    });
    expect(runs.items.map(({ status }) => status?.phase)).toEqual(['Failed', 'Failed']);
  });

  it('refuses an eviction that a disruption budget cannot spare', async () => {
    const spec = { minAvailable: 1, selector: { matchLabels: { app: 'web' } } };
    await cluster.apply(
      shop('PodDisruptionBudget', 'policy/v1', 'web', { spec }),
      deployment('web', 'shop/web:1.0.0'),
    );
    await expect.poll(() => ready('web')).toBe(1);
    const name = (await podsOf('web'))[0]?.metadata?.name ?? '';
    const body = { metadata: { name, namespace: SHOP } };
    const evict = () => core.createNamespacedPodEviction({ namespace: SHOP, name, body });
    await expect(evict()).rejects.toThrow(
      "Cannot evict pod as it would violate the pod's disruption budget.",
    );
    await apps.patchNamespacedDeploymentScale({
      namespace: SHOP,
      name: 'web',
      body: [{ op: 'replace', path: '/spec/replicas', value: 2 }],
    });
    const policy = config.makeApiClient(PolicyV1Api);
    await expect
      .poll(
        async () =>
          (await policy.readNamespacedPodDisruptionBudget({ namespace: SHOP, name: 'web' })).status
            ?.disruptionsAllowed,
      )
      .toBe(1);
    await evict();
    await expect
      .poll(async () => (await podsOf('web')).some(({ metadata }) => metadata?.name === name))
      .toBe(false);
  });

  it('empties a namespace that is deleted, and leaves orphans where that is asked for', async () => {
    await cluster.apply(deployment('web', 'shop/web:1.0.0'), deployment('kept', 'shop/kept:1.0.0'));
    await expect.poll(() => ready('kept')).toBe(1);
    await apps.deleteNamespacedDeployment({ namespace: SHOP, name: 'kept', propagationPolicy: 'Orphan' });
    await expect.poll(() => cluster.object('Deployment', SHOP, 'kept')).toBeUndefined();
    const [left] = cluster
      .list('ReplicaSet', SHOP)
      .filter(({ metadata }) => metadata?.labels?.['app'] === 'kept');
    expect(left?.metadata?.ownerReferences).toEqual([]);
    expect(await ready('kept')).toBe(1);
    await core.deleteNamespace({ name: SHOP });
    await expect.poll(() => cluster.object('Namespace', null, SHOP)).toBeUndefined();
    expect((await core.listPodForAllNamespaces()).items).toEqual([]);
  });
});
