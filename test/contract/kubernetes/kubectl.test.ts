import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type Cluster, startCluster } from '../../../playground/kubernetes/cluster.ts';
import { type Kubectl, kubectlFor, missingKubectl } from '../../support/kubectl.ts';
import { applyShop, deployment, SHOP } from '../../support/kubernetes-shop.ts';
import { scratchDir } from '../../support/scratch-dir.ts';

const missing = missingKubectl();

const title = "kubectl against the playground's cluster";

describe.skipIf(missing !== null)(missing === null ? title : `${title} (skipped: ${missing})`, () => {
  let cluster: Cluster;
  let kubectl: Kubectl;

  beforeAll(async () => {
    cluster = await startCluster({ speed: 50 });
    await applyShop(cluster);
    const admin = kubectlFor(cluster);
    kubectl = Object.assign((...args: readonly string[]) => admin('-n', SHOP, ...args), {
      tries: (...args: readonly string[]) => admin.tries('-n', SHOP, ...args),
      follows: (...args: readonly string[]) => admin.follows('-n', SHOP, ...args),
    });
  });
  afterAll(() => cluster.stop());

  const isRolledOut = (name: string) => kubectl('rollout', 'status', `deployment/${name}`, '--timeout=50s');
  const podsOf = async (name: string) =>
    (await kubectl('get', 'pods', '-l', `app=${name}`, '-o', 'name'))
      .split('\n')
      .filter((line) => line !== '');
  const podOf = async (name: string) => (await podsOf(name))[0] ?? '';
  const image = (name: string) => kubectl('get', 'deployment', name, '-o', 'jsonpath={..image}');
  /** What `get` prints of one thing, as cells. */
  const row = async (...args: readonly string[]) =>
    (await kubectl('get', ...args, '--no-headers')).trim().split(/\s{2,}/);

  function manifest(object: object): string {
    const file = join(scratchDir(), 'manifest.yaml');
    writeFileSync(file, stringify(object));
    return file;
  }

  it('applies, lists, shows and deletes a deployment', async () => {
    const file = manifest(deployment('plain', 'shop/plain:1.0.0', { replicas: 2 }));
    expect(await kubectl('apply', '-f', file)).toBe('deployment.apps/plain created\n');
    expect(await kubectl('apply', '-f', file)).toBe('deployment.apps/plain unchanged\n');
    await isRolledOut('plain');
    expect((await row('deployment', 'plain')).slice(0, 4)).toEqual(['plain', '2/2', '2', '2']);
    const wide = await kubectl('get', 'deployments', '-o', 'wide');
    expect(wide).toMatch(/^NAME +READY +UP-TO-DATE +AVAILABLE +AGE +CONTAINERS +IMAGES +SELECTOR/);
    expect(wide).toContain('shop/plain:1.0.0   app=plain');
    const json = JSON.parse(await kubectl('get', 'deployment', 'plain', '-o', 'json'));
    expect(json).toMatchObject({ kind: 'Deployment', status: { readyReplicas: 2 } });
    expect(await kubectl('get', 'deployment', 'plain', '-o', 'yaml')).toContain('kind: Deployment');
    expect(await kubectl('delete', 'deployment', 'plain')).toContain('deleted');
    await expect.poll(() => podsOf('plain')).toEqual([]);
  });

  it('describes a deployment, its replica set, a pod and a node with their events', async () => {
    await cluster.apply(deployment('described', 'shop/described:1.0.0'));
    await isRolledOut('described');
    const about = await kubectl('describe', 'deployment', 'described');
    expect(about).toContain('1 desired | 1 updated | 1 total | 1 available | 0 unavailable');
    expect(about).toMatch(/Progressing +True +NewReplicaSetAvailable/);
    expect(about).toMatch(/ScalingReplicaSet .*Scaled up replica set described-\w+ from 0 to 1/);
    expect(await kubectl('describe', 'replicaset', '-l', 'app=described')).toContain('SuccessfulCreate');
    const pod = await kubectl('describe', await podOf('described'));
    expect(pod).toMatch(/Controlled By: +ReplicaSet\/described-/);
    expect(pod).toMatch(/Scheduled .*Successfully assigned shop\/described-/);
    expect(pod).toMatch(/Started .*Started container app/);
    const node = await kubectl('describe', 'node', 'node-1');
    expect(node).toMatch(/Ready +True .*KubeletReady/);
    expect(node).not.toContain('Failed to get');
  });

  it('tells a crash loop, and reads the log of the run before', async () => {
    await cluster.apply(deployment('crashing', 'shop/crashing:1.0.0-crash'));
    await expect.poll(() => row('pods', '-l', 'app=crashing')).toContain('CrashLoopBackOff');
    const pod = await podOf('crashing');
    expect(await kubectl('logs', pod, '--previous')).toContain('fatal: cannot read setting');
    const about = await kubectl('describe', pod);
    expect(about).toMatch(/Last State: +Terminated\n +Reason: +Error\n +Exit Code: +1/);
    expect(about).toContain('Back-off restarting failed container app in pod');
  });

  it('says that there is no previous log of a container that has never ended', async () => {
    await cluster.apply(deployment('steady', 'shop/steady:1.0.0'));
    await isRolledOut('steady');
    const { error, code } = await kubectl.tries('logs', await podOf('steady'), '--previous');
    expect(code).toBe(1);
    expect(error).toMatch(/BadRequest\): previous terminated container "app" in pod "steady-.*" not found/);
  });

  it('follows a log, and takes the last lines of it', async () => {
    await cluster.apply(deployment('talking', 'shop/talking:1.0.0'));
    await isRolledOut('talking');
    const pod = await podOf('talking');
    const following = kubectl.follows('logs', '-f', pod);
    await expect.poll(() => following.lines()).toContain('listening on :8080');
    cluster.say({ namespace: SHOP, name: pod.replace('pod/', '') }, 'order 17 took 4 s');
    await expect.poll(() => following.lines()).toContain('order 17 took 4 s');
    await following.stop();
    expect(await kubectl('logs', pod, '--tail=1')).toBe('order 17 took 4 s\n');
    expect(await kubectl('logs', pod, '--tail=1', '--timestamps')).toMatch(
      /^\d{4}-.*T.*Z order 17 took 4 s\n$/,
    );
  });

  it('restarts a rollout, tells its history and takes a bad one back to a revision', async () => {
    await cluster.apply(deployment('rolled', 'shop/rolled:1.0.0', { spec: { progressDeadlineSeconds: 20 } }));
    await isRolledOut('rolled');
    await kubectl('rollout', 'restart', 'deployment/rolled');
    await isRolledOut('rolled');
    await kubectl('set', 'image', 'deployment/rolled', 'app=shop/rolled:2.0.0-crash');
    const stuck = await kubectl.tries('rollout', 'status', 'deployment/rolled', '--timeout=50s');
    expect(stuck.error).toContain('deployment "rolled" exceeded its progress deadline');
    // The last good pod has been kept all the time.
    expect((await row('deployment', 'rolled')).slice(0, 2)).toEqual(['rolled', '1/1']);
    const history = await kubectl('rollout', 'history', 'deployment/rolled');
    expect(history.match(/^\d+/gm)).toEqual(['1', '2', '3']);
    expect(await kubectl('rollout', 'history', 'deployment/rolled', '--revision=3')).toContain(
      'rolled:2.0.0-crash',
    );
    const tried = await kubectl(
      'rollout',
      'undo',
      'deployment/rolled',
      '--to-revision=1',
      '--dry-run=server',
    );
    expect(tried).toContain('(server dry run)');
    expect(await image('rolled')).toBe('shop/rolled:2.0.0-crash');
    await kubectl('rollout', 'undo', 'deployment/rolled', '--to-revision=1');
    await isRolledOut('rolled');
    expect(await kubectl('get', 'deployment', 'rolled', '-o', 'jsonpath={..image}')).toBe(
      'shop/rolled:1.0.0',
    );
    // The replica set of revision 1 is used again, as revision 4.
    const after = await kubectl('rollout', 'history', 'deployment/rolled');
    expect(after.match(/^\d+/gm)).toEqual(['2', '3', '4']);
    await expect.poll(async () => (await podsOf('rolled')).length).toBe(1);
  });

  it('takes back a rollout of a daemon set', async () => {
    const labels = { app: 'agent' };
    const template = {
      metadata: { labels },
      spec: { containers: [{ name: 'app', image: 'shop/agent:1.0.0' }] },
    };
    const spec = { selector: { matchLabels: labels }, template };
    await cluster.apply({
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'agent', namespace: SHOP },
      spec,
    } as never);
    await kubectl('rollout', 'status', 'daemonset/agent', '--timeout=50s');
    await kubectl('set', 'image', 'daemonset/agent', 'app=shop/agent:2.0.0-missing');
    await expect
      .poll(() => kubectl('get', 'pods', '-l', 'app=agent'))
      .toMatch(/ErrImagePull|ImagePullBackOff/);
    await kubectl('rollout', 'undo', 'daemonset/agent');
    await kubectl('rollout', 'status', 'daemonset/agent', '--timeout=50s');
    expect(
      await kubectl('get', 'pods', '-l', 'app=agent', '-o', 'jsonpath={..spec.containers[0].image}'),
    ).toBe('shop/agent:1.0.0 shop/agent:1.0.0 shop/agent:1.0.0');
  });

  it('scales, within what the deployment really runs', async () => {
    await cluster.apply(deployment('scaled', 'shop/scaled:1.0.0'));
    await kubectl('scale', 'deployment/scaled', '--replicas=3');
    await isRolledOut('scaled');
    expect(await podsOf('scaled')).toHaveLength(3);
    const refused = await kubectl.tries('scale', 'deployment/scaled', '--current-replicas=7', '--replicas=1');
    expect(refused.error).toContain('Expected replicas to be 7, was 3');
    expect(await podsOf('scaled')).toHaveLength(3);
  });

  it('changes nothing with a dry run on the server, and is refused by it what would be refused', async () => {
    await cluster.apply(deployment('tried', 'shop/tried:1.0.0'));
    await isRolledOut('tried');
    const before = await kubectl('get', 'deployment', 'tried', '-o', 'json');
    const changed = deployment('tried', 'shop/tried:2.0.0');
    expect(await kubectl('apply', '--dry-run=server', '-f', manifest(changed))).toContain('(server dry run)');
    expect(
      await kubectl('set', 'image', 'deployment/tried', 'app=shop/tried:3.0.0', '--dry-run=server'),
    ).toContain('(server dry run)');
    expect(await kubectl('delete', 'deployment', 'tried', '--dry-run=server')).toContain('(server dry run)');
    expect(await kubectl('get', 'deployment', 'tried', '-o', 'json')).toBe(before);
    const wrong = deployment('tried', 'shop/tried:2.0.0', {
      spec: { selector: { matchLabels: { app: 'other' } } },
    });
    const { error } = await kubectl.tries('apply', '--dry-run=server', '-f', manifest(wrong));
    expect(error).toContain('The Deployment "tried" is invalid');
    expect(error).toContain('field is immutable');
  });

  it('keeps pods off a cordoned node until it is uncordoned', async () => {
    for (const node of ['node-2', 'node-3']) await kubectl('cordon', node);
    expect((await row('node', 'node-2'))[1]).toBe('Ready,SchedulingDisabled');
    await cluster.apply(deployment('placed', 'shop/placed:1.0.0', { replicas: 3 }));
    await isRolledOut('placed');
    const nodes = () => kubectl('get', 'pods', '-l', 'app=placed', '-o', 'jsonpath={..spec.nodeName}');
    expect(await nodes()).toBe('node-1 node-1 node-1');
    await kubectl('cordon', 'node-1');
    await kubectl('scale', 'deployment/placed', '--replicas=4');
    await expect
      .poll(() => kubectl('get', 'events'))
      .toContain('0/3 nodes are available: 3 node(s) were unschedulable.');
    for (const node of ['node-1', 'node-2', 'node-3']) await kubectl('uncordon', node);
    expect((await row('node', 'node-2'))[1]).toBe('Ready');
  });

  it('replaces a pod that is deleted, and drains a node', async () => {
    await cluster.apply(deployment('replaced', 'shop/replaced:1.0.0'));
    await isRolledOut('replaced');
    const before = await podOf('replaced');
    await kubectl('delete', before);
    await isRolledOut('replaced');
    expect(await podOf('replaced')).not.toBe(before);
    const node = await kubectl('get', await podOf('replaced'), '-o', 'jsonpath={.spec.nodeName}');
    // Older versions say that the node was evicted.
    expect(await kubectl('drain', node, '--ignore-daemonsets', '--force')).toMatch(
      /node\/node-\d (drained|evicted)/,
    );
    await isRolledOut('replaced');
    expect(await kubectl('get', 'pods', '-l', 'app=replaced', '-o', 'jsonpath={..spec.nodeName}')).not.toBe(
      node,
    );
    await kubectl('uncordon', node);
  });

  it('says who may do what, by the roles of deploy/kubernetes', async () => {
    const may = async (user: 'admin' | 'read' | 'act', ...asked: readonly string[]) =>
      (await kubectlFor(cluster, user).tries('-n', SHOP, 'auth', 'can-i', ...asked)).out.trim();
    expect(await may('read', 'get', 'pods')).toBe('yes');
    expect(await may('read', 'get', 'pods', '--subresource=log')).toBe('yes');
    for (const user of ['read', 'act'] as const) {
      expect(await may(user, 'get', 'secrets')).toBe('no');
      expect(await may(user, 'create', 'pods', '--subresource=exec')).toBe('no');
      expect(await may(user, 'delete', 'deployments.apps')).toBe('no');
    }
    expect(await may('read', 'patch', 'deployments.apps')).toBe('no');
    expect(await may('act', 'patch', 'deployments.apps')).toBe('yes');
    expect(await may('act', 'delete', 'pods')).toBe('yes');
    expect(await may('act', 'patch', 'nodes')).toBe('yes');
    expect(await may('admin', 'delete', 'namespaces')).toBe('yes');
  });

  it('is refused in the words of the real server', async () => {
    const { error, code } = await kubectlFor(cluster, 'read').tries('get', 'secrets', '-n', SHOP);
    expect(code).toBe(1);
    expect(error).toBe(
      'Error from server (Forbidden): secrets is forbidden: User "system:serviceaccount:sentry:sentry-read" ' +
        'cannot list resource "secrets" in API group "" in the namespace "shop"\n',
    );
    const unknown = await kubectl.tries('get', 'deployment', 'nowhere');
    expect(unknown.error).toBe('Error from server (NotFound): deployments.apps "nowhere" not found\n');
  });

  it('shows what pods and nodes use', async () => {
    await cluster.apply(
      deployment('measured', 'shop/measured:uses300Mi', {
        container: { resources: { requests: { cpu: '500m', memory: '400Mi' } } },
      }),
    );
    await isRolledOut('measured');
    expect(await kubectl('top', 'pod', '-l', 'app=measured', '--no-headers')).toMatch(
      /measured-\S+ +100m +300Mi/,
    );
    expect((await kubectl('top', 'nodes', '--no-headers')).trim().split('\n')).toHaveLength(3);
  });
});
