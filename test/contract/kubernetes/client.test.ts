import { once } from 'node:events';
import { get } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import {
  ApiException,
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  type KubernetesObject,
  Log,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  type V1ConfigMap,
  type V1Pod,
  Watch,
} from '@kubernetes/client-node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Cluster, startCluster } from '../../../playground/kubernetes/cluster.ts';
import { applyShop, deployment, SHOP } from '../../support/kubernetes-shop.ts';
import { scratchDir } from '../../support/scratch-dir.ts';

/** The official client against a cluster in which nothing moves by itself. */
describe('the official JavaScript client', () => {
  let cluster: Cluster;
  let config: KubeConfig;
  let core: CoreV1Api;
  let apps: AppsV1Api;

  beforeEach(async () => {
    cluster = await startCluster({ controller: false });
    await applyShop(cluster);
    ({ config, core, apps } = clientsOf('admin'));
  });
  afterEach(() => cluster.stop());

  function clientsOf(user: 'admin' | 'read' | 'act') {
    const own = new KubeConfig();
    own.loadFromString(cluster.kubeconfig(user));
    return { config: own, core: own.makeApiClient(CoreV1Api), apps: own.makeApiClient(AppsV1Api) };
  }

  const configMap = (
    name: string,
    labels: Record<string, string> = {},
    fields: Partial<V1ConfigMap> = {},
  ) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: SHOP, labels },
    data: { name },
    ...fields,
  });

  const pod = (name: string, status: V1Pod['status'] = { phase: 'Running' }): V1Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: SHOP },
    spec: { nodeName: 'node-1', containers: [{ name: 'app', image: 'shop/app:1' }] },
    status,
  });

  /** The `Status` that a call was refused with. */
  async function refusal(call: Promise<unknown>): Promise<{ code: number; reason: string; message: string }> {
    const error = await call.then(
      () => null,
      (failure: unknown) => failure,
    );
    if (!(error instanceof ApiException)) throw new Error(`not refused by the API: ${String(error)}`);
    // Of a 401, the client keeps the code alone.
    const status = typeof error.body === 'string' ? JSON.parse(error.body) : error.body;
    return { code: error.code, ...status };
  }

  /** Changes as they come; ends when the connection does. */
  function watching(path: string, query: Record<string, string | boolean>) {
    const seen: { type: string; object: KubernetesObject & { code?: number } }[] = [];
    let ended: unknown;
    const request = new Watch(config).watch(
      path,
      query,
      (type, object) => seen.push({ type, object }),
      (error) => {
        ended = error ?? 'closed';
      },
    );
    const names = () =>
      seen.map(({ type, object }) => `${type} ${object.metadata?.name ?? object.code ?? ''}`);
    return { seen, names, ended: () => ended, stop: async () => (await request).abort() };
  }
  const CONFIG_MAPS = `/api/v1/namespaces/${SHOP}/configmaps`;

  it('reads lists by label and field, of one namespace and of all', async () => {
    await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bank' } });
    await cluster.apply(configMap('a', { tier: 'web' }), configMap('b', { tier: 'db' }), configMap('c'));
    await cluster.apply(configMap('d', {}, { metadata: { name: 'd', namespace: 'bank' } }));
    const names = async (labelSelector: string) =>
      (await core.listNamespacedConfigMap({ namespace: SHOP, labelSelector })).items.map(
        ({ metadata }) => metadata?.name,
      );
    expect(await names('tier=web')).toEqual(['a']);
    expect(await names('tier in (web, db)')).toEqual(['a', 'b']);
    expect(await names('tier!=web')).toEqual(['b', 'c']);
    expect(await names('!tier')).toEqual(['c']);
    expect(await names('tier,tier notin (db)')).toEqual(['a']);
    const all = await core.listConfigMapForAllNamespaces({ fieldSelector: 'metadata.name=d' });
    expect(all.items.map(({ metadata }) => metadata?.namespace)).toEqual(['bank']);
    const wrong = core.listNamespacedPod({ namespace: SHOP, fieldSelector: 'spec.nonsense=1' });
    expect(await refusal(wrong)).toMatchObject({
      code: 400,
      message: 'field label not supported: spec.nonsense',
    });
  });

  it('pages through a list as it was when the first page was read', async () => {
    await cluster.apply(...['a', 'b', 'c'].map((name) => configMap(name)));
    const first = await core.listNamespacedConfigMap({ namespace: SHOP, limit: 2 });
    expect(first.metadata?.remainingItemCount).toBe(1);
    await cluster.apply(configMap('d'));
    await core.deleteNamespacedConfigMap({ namespace: SHOP, name: 'c' });
    const next = { namespace: SHOP, limit: 2, _continue: first.metadata?._continue ?? '' };
    const second = await core.listNamespacedConfigMap(next);
    expect(second.items.map(({ metadata }) => metadata?.name)).toEqual(['c']);
    expect(second.metadata?._continue).toBeUndefined();
    cluster.compact();
    const late = await refusal(core.listNamespacedConfigMap(next));
    expect(late).toMatchObject({ code: 410, reason: 'Expired' });
  });

  it('watches from a version on, by selector, and is told 410 inside the stream when that is forgotten', async () => {
    await cluster.apply(configMap('before', { app: 'x' }));
    const { metadata } = await core.listNamespacedConfigMap({ namespace: SHOP });
    const from = metadata?.resourceVersion ?? '';
    const one = watching(CONFIG_MAPS, { resourceVersion: from, labelSelector: 'app=x' });
    await cluster.apply(configMap('after', { app: 'x' }), configMap('other', { app: 'y' }));
    await cluster.apply(configMap('before', { app: 'y' }));
    await expect.poll(one.names).toEqual(['ADDED after', 'DELETED before']);
    await one.stop();
    cluster.compact();
    const late = watching(CONFIG_MAPS, { resourceVersion: from });
    await expect.poll(late.names).toEqual(['ERROR 410']);
    const fresh = watching(CONFIG_MAPS, {});
    await expect.poll(fresh.names).toEqual(['ADDED after', 'ADDED before', 'ADDED other']);
    await fresh.stop();
  });

  it('ends a watch when its time is over, with a bookmark of the last version', async () => {
    const brief = watching(CONFIG_MAPS, { timeoutSeconds: '1', allowWatchBookmarks: true });
    await expect.poll(brief.ended).toBeDefined();
    const last = brief.seen.at(-1);
    expect(last?.type).toBe('BOOKMARK');
    expect(Number(last?.object.metadata?.resourceVersion)).toBeGreaterThan(1000);
  });

  it('keeps an informer in step, also after the connection was cut and the past forgotten', async () => {
    await cluster.apply(configMap('a'));
    const informer = makeInformer(config, CONFIG_MAPS, () =>
      core.listNamespacedConfigMap({ namespace: SHOP }),
    );
    const names = () => new Set(informer.list(SHOP).map(({ metadata }) => metadata?.name));
    let isOver = false;
    // Its own end is an error to it, too.
    informer.on('error', () => setTimeout(() => (isOver ? undefined : void informer.start()), 20));
    await informer.start();
    await expect.poll(names).toEqual(new Set(['a']));
    await cluster.apply(configMap('b'));
    await expect.poll(names).toEqual(new Set(['a', 'b']));
    cluster.interfere({ kind: 'cut', after: 'nothing', times: 1, on: { verb: 'watch' } });
    cluster.compact();
    await cluster.apply(configMap('c'));
    await core.deleteNamespacedConfigMap({ namespace: SHOP, name: 'a' });
    await expect.poll(names).toEqual(new Set(['b', 'c']));
    isOver = true;
    await informer.stop();
  });

  it('is left by a cluster that stops, also while it says hello', async () => {
    const own = await startCluster({ controller: false });
    const { port, hostname } = new URL(own.url);
    const half = connect(Number(port), hostname);
    await once(half, 'connect');
    // Time for the server to have it: it hears nothing of a client that says nothing.
    await core.listNamespacedConfigMap({ namespace: SHOP });
    const gone = once(half, 'close');
    half.resume();
    await own.stop();
    await gone;
  });

  it('refuses a write that was made from an old version', async () => {
    await cluster.apply(configMap('a'));
    const mine = await core.readNamespacedConfigMap({ namespace: SHOP, name: 'a' });
    await cluster.apply(configMap('a', {}, { data: { name: 'theirs' } }));
    const call = core.replaceNamespacedConfigMap({ namespace: SHOP, name: 'a', body: mine });
    expect(await refusal(call)).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    });
    const body = { preconditions: { uid: 'somebody-else' } };
    const other = await refusal(core.deleteNamespacedConfigMap({ namespace: SHOP, name: 'a', body }));
    expect(other).toMatchObject({ code: 409, reason: 'Conflict' });
    const { data } = await core.readNamespacedConfigMap({ namespace: SHOP, name: 'a' });
    expect(data).toEqual({ name: 'theirs' });
  });

  it('patches in the three ways, and counts the generations of the spec', async () => {
    await cluster.apply(
      deployment('orders', 'shop/orders:1', {
        container: {
          env: [
            { name: 'A', value: '1' },
            { name: 'B', value: '2' },
          ],
        },
      }),
    );
    const patch = (strategy: PatchStrategy, body: object) =>
      apps.patchNamespacedDeployment(
        { namespace: SHOP, name: 'orders', body },
        setHeaderOptions('Content-Type', strategy),
      );
    const containers = (fields: object) => ({
      spec: { template: { spec: { containers: [{ name: 'app', ...fields }] } } },
    });
    const strategic = await patch(
      PatchStrategy.StrategicMergePatch,
      containers({
        env: [
          { name: 'B', value: '3' },
          { name: 'A', $patch: 'delete' },
          { name: 'C', value: '4' },
        ],
      }),
    );
    expect(strategic.spec?.template.spec?.containers[0]).toMatchObject({
      image: 'shop/orders:1',
      env: [
        { name: 'B', value: '3' },
        { name: 'C', value: '4' },
      ],
    });
    expect(strategic.metadata?.generation).toBe(2);
    const labelled = await patch(PatchStrategy.MergePatch, {
      metadata: { labels: { app: null, team: 'a' } },
    });
    expect(labelled.metadata).toMatchObject({ labels: { team: 'a' }, generation: 2 });
    const replaced = await patch(PatchStrategy.JsonPatch, [
      { op: 'test', path: '/spec/replicas', value: 1 },
      { op: 'replace', path: '/spec/replicas', value: 4 },
    ]);
    expect(replaced.spec?.replicas).toBe(4);
    const moved = patch(PatchStrategy.JsonPatch, [{ op: 'test', path: '/spec/replicas', value: 1 }]);
    expect(await refusal(moved)).toMatchObject({ code: 422 });
    const { message } = await refusal(patch(PatchStrategy.MergePatch, { spec: { replicas: -1 } }));
    expect(message).toBe(
      'Deployment.apps "orders" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    );
  });

  it('leaves everything as it was with a dry run, and says that one was asked for', async () => {
    await cluster.apply(deployment('orders', 'shop/orders:1'));
    const before = cluster.object('Deployment', SHOP, 'orders');
    const body = { spec: { replicas: 9 } };
    const tried = await apps.patchNamespacedDeployment(
      { namespace: SHOP, name: 'orders', body, dryRun: 'All' },
      setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
    );
    expect(tried.spec?.replicas).toBe(9);
    await core.createNamespacedConfigMap({ namespace: SHOP, body: configMap('never'), dryRun: 'All' });
    await apps.deleteNamespacedDeployment({ namespace: SHOP, name: 'orders', dryRun: 'All' });
    expect(cluster.object('ConfigMap', SHOP, 'never')).toBeUndefined();
    expect(cluster.object('Deployment', SHOP, 'orders')).toBe(before);
    expect(cluster.requests().map(({ method, dryRun }) => `${method} ${dryRun}`)).toEqual([
      'PATCH true',
      'POST true',
      'DELETE true',
    ]);
  });

  it('reads and follows logs, bounded by lines, bytes and time', async () => {
    await cluster.apply(pod('orders', { phase: 'Running', containerStatuses: [runningContainer] }));
    for (const line of ['one', 'two', 'three']) cluster.say({ namespace: SHOP, name: 'orders' }, line);
    const read = (options: object) =>
      core.readNamespacedPodLog({ namespace: SHOP, name: 'orders', ...options });
    expect(await read({ tailLines: 2 })).toBe('two\nthree\n');
    expect(await read({ limitBytes: 5 })).toBe('one\nt');
    expect(await read({ sinceSeconds: 3600 })).toBe('one\ntwo\nthree\n');
    expect(await refusal(read({ container: 'other' }))).toMatchObject({
      code: 400,
      message: 'container other is not valid for pod orders',
    });
    let followed = '';
    const sink = new Writable({
      write(chunk, _encoding, done) {
        followed += String(chunk);
        done();
      },
    });
    const request = await new Log(config).log(SHOP, 'orders', 'app', sink, { follow: true, tailLines: 1 });
    await expect.poll(() => followed).toBe('three\n');
    cluster.say({ namespace: SHOP, name: 'orders' }, 'four');
    await expect.poll(() => followed).toBe('three\nfour\n');
    request.abort();
  });

  const runningContainer = {
    name: 'app',
    image: 'shop/app:1',
    imageID: '',
    ready: true,
    restartCount: 0,
    state: { running: { startedAt: new Date() } },
  };

  it('answers strangers with 401, and each role with what it may not do', async () => {
    config.users[0] = { name: 'admin', token: 'not-a-token' };
    const stranger = config.makeApiClient(CoreV1Api);
    expect(await refusal(stranger.listNode())).toMatchObject({ code: 401 });
    const read = clientsOf('read');
    await read.core.listNode();
    const secret = read.core.readNamespacedSecret({ namespace: SHOP, name: 'db' });
    expect(await refusal(secret)).toMatchObject({
      code: 403,
      message:
        'secrets "db" is forbidden: User "system:serviceaccount:sentry:sentry-read" cannot get resource "secrets" in API group "" in the namespace "shop"',
    });
    const body = { spec: { unschedulable: true } };
    const cordon = read.core.patchNode({ name: 'node-1', body });
    expect((await refusal(cordon)).message).toMatch(
      /cannot patch resource "nodes" in API group "" at the cluster scope$/,
    );
    expect(cluster.requests().at(-1)?.user).toBe('system:serviceaccount:sentry:sentry-read');
  });

  it('keeps its address and its credentials for the next start, where a file is given for them', async () => {
    const options = { controller: false, accessFile: join(scratchDir(), 'access.json') };
    const first = await startCluster(options);
    const own = new KubeConfig();
    own.loadFromString(first.kubeconfig('read'));
    await first.stop();
    const second = await startCluster(options);
    try {
      const { items } = await own.makeApiClient(CoreV1Api).listNamespace();
      expect(items.map(({ metadata }) => metadata?.name)).toContain('default');
      expect(cluster.kubeconfig('read')).not.toBe(second.kubeconfig('read'));
    } finally {
      await second.stop();
    }
  });

  describe('while the API itself fails', () => {
    beforeEach(() => cluster.apply(configMap('a'), configMap('b'), configMap('c')));
    const list = (options: object = {}) => core.listNamespacedConfigMap({ namespace: SHOP, ...options });

    it.each([
      [{ kind: 'forbidden' }, { code: 403, reason: 'Forbidden' }],
      [
        { kind: 'too_many_requests', retryAfterSeconds: 7 },
        { code: 429, details: { retryAfterSeconds: 7 } },
      ],
      [{ kind: 'server_error' }, { code: 500, reason: 'InternalError' }],
    ] as const)('answers with %o until it is over', async (fault, expected) => {
      cluster.interfere(fault);
      expect(await refusal(list())).toMatchObject(expected);
      expect(await refusal(list())).toMatchObject(expected);
      cluster.interfere(null);
      expect((await list()).items).toHaveLength(3);
    });

    it('says when to come again after too many requests', async () => {
      cluster.interfere({ kind: 'too_many_requests', retryAfterSeconds: 7 });
      const error = await list().catch((failure: unknown) => failure);
      expect((error as ApiException<unknown>).headers['retry-after']).toBe('7');
    });

    it('hits only the requests that are meant, as often as is meant', async () => {
      cluster.interfere({ kind: 'server_error', times: 1, on: { resource: 'configmaps', verb: 'list' } });
      await core.listNamespacedPod({ namespace: SHOP });
      await core.readNamespacedConfigMap({ namespace: SHOP, name: 'a' });
      expect(await refusal(list())).toMatchObject({ code: 500 });
      expect((await list()).items).toHaveLength(3);
    });

    it('lets somebody else be faster: 409 for writes, and reads go on', async () => {
      cluster.interfere({ kind: 'conflict' });
      const mine = await core.readNamespacedConfigMap({ namespace: SHOP, name: 'a' });
      const write = core.replaceNamespacedConfigMap({ namespace: SHOP, name: 'a', body: mine });
      expect(await refusal(write)).toMatchObject({ code: 409, reason: 'Conflict' });
    });

    it('forgets the past: 410 for the next page, and for a watch', async () => {
      const first = await list({ limit: 1 });
      cluster.interfere({ kind: 'gone' });
      const next = list({ limit: 1, _continue: first.metadata?._continue ?? '' });
      expect(await refusal(next)).toMatchObject({ code: 410, reason: 'Expired' });
      const late = watching(CONFIG_MAPS, { resourceVersion: first.metadata?.resourceVersion ?? '' });
      await expect.poll(late.ended).toBeDefined();
      expect(late.names()).toEqual([]);
      expect((await list()).items).toHaveLength(3);
    });

    it('gives pages that nobody asked for', async () => {
      cluster.interfere({ kind: 'pages', size: 2 });
      const first = await list();
      expect(first.items).toHaveLength(2);
      expect((await list({ _continue: first.metadata?._continue ?? '' })).items).toHaveLength(1);
    });

    it('answers late, and not before', async () => {
      cluster.interfere({ kind: 'slow', ms: 300 });
      let isDone = false;
      const answer = list().then((result) => {
        isDone = true;
        return result;
      });
      // The request has arrived, and is still without an answer.
      await expect.poll(() => cluster.requests().length).toBe(1);
      expect(isDone).toBe(false);
      expect((await answer).items).toHaveLength(3);
    });

    it('ends the connection before the answer', async () => {
      cluster.interfere({ kind: 'cut', after: 'nothing' });
      await expect(list()).rejects.toThrow('socket hang up');
    });

    it('breaks off in the middle of an answer', async () => {
      cluster.interfere({ kind: 'cut', after: 'half' });
      // Not by the client: its HTTP library would wait for the rest for ever.
      const options = { ca: Buffer.from(config.clusters[0]?.caData ?? '', 'base64') };
      const error = await new Promise((resolve) => {
        get(`${cluster.url}${CONFIG_MAPS}`, options, (response) => response.resume().once('error', resolve));
      });
      expect(error).toMatchObject({ code: 'ECONNRESET' });
    });
  });
});
