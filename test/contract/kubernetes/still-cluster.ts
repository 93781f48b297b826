import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startCluster } from '../../../playground/kubernetes/cluster.ts';
import { parseTargets } from '../../../src/config/targets.ts';
import { OpsError } from '../../../src/core/errors.ts';
import type { Json } from '../../../src/core/tool-call.ts';
import type { Connection, TargetConfig } from '../../../src/targets/kind.ts';
import { kubernetes } from '../../../src/targets/kubernetes/kind.ts';
import type { KubernetesSystem } from '../../../src/targets/kubernetes/tool.ts';
import type { ActiveTool, ReadTool, ToolContext } from '../../../src/tools/define.ts';
import { scratchDir } from '../../support/scratch-dir.ts';
import { noDocs } from '../../support/targets.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * A cluster in which nothing moves by itself, and a target that may read and change the namespace "shop": every state is as
 * a test has written it.
 */
export async function startStillCluster() {
  const cluster = await startCluster({ controller: false });
  for (const name of ['shop', 'pay', 'other'])
    await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

  async function apply(...objects: readonly Fields[]): Promise<void> {
    for (const object of objects) await cluster.apply(object as never);
  }
  /** As the server keeps it. */
  function stored(kind: string, name: string, namespace: string | null = 'shop'): any {
    const found = cluster.object(kind, namespace, name);
    if (found === undefined) throw new Error(`no ${kind} ${name}`);
    return found;
  }

  function connect(
    fields: Fields = {},
    user: 'read' | 'act' | 'admin' = 'act',
    {
      meanwhile,
      losesAnswers = false,
    }: {
      /** Happens after each look at an object, before whoever looked can act. */
      readonly meanwhile?: () => Promise<void>;
      /** Changes are made, and their answers never arrive. */
      readonly losesAnswers?: boolean;
    } = {},
  ) {
    const file = join(scratchDir(), `kubeconfig-${user}`);
    writeFileSync(file, cluster.kubeconfig(user));
    const entry = { name: 'prod', kind: 'kubernetes', environment: 'test', kubeconfig_file: file };
    const [config] = parseTargets(
      { targets: [{ ...entry, namespaces: ['shop'], acts: true, ...fields }] },
      {},
      'sentry.yaml',
      [kubernetes],
    );
    if (!config) throw new Error('no target');
    const connection = kubernetes.connect(config as never, { ownPorts: [] }) as Connection<KubernetesSystem>;
    const { cluster: api } = connection.system;
    const lost = () => {
      if (losesAnswers) throw new OpsError('KUBERNETES_AWAY', 'the answer was lost', { hint: 'Look.' });
    };
    const get: typeof api.get = async (...asked) => {
      const found = await api.get<any>(...asked);
      await meanwhile?.();
      return found;
    };
    const change: typeof api.change = async (...asked) => {
      const changed = await api.change<any>(...asked);
      if (!asked[3].dryRun) lost();
      return changed;
    };
    const remove: typeof api.remove = async (...asked) => {
      await api.remove(...asked);
      if (!asked[2].dryRun) lost();
    };
    const system = { ...connection.system, cluster: { ...api, get, change, remove } };
    return { ...toolsOn(config, system), config, connection };
  }
  return { cluster, apply, stored, connect, ...buildersOf(apply, stored), stop: () => cluster.stop() };
}

export type StillCluster = Awaited<ReturnType<typeof startStillCluster>>;

/** The tools as the gate calls them, rules first. */
function toolsOn(config: TargetConfig, system: KubernetesSystem) {
  const context = (timeoutMs = 10_000): ToolContext<KubernetesSystem> => ({
    target: { ...config },
    system,
    docs: noDocs,
    signal: new AbortController().signal,
    timeoutMs,
  });
  const toolOf = (name: string) => {
    const found = kubernetes.tools.find((each) => each.name === `kubernetes_${name}`);
    if (!found) throw new Error(`no kubernetes_${name}`);
    return found;
  };
  async function read(name: string, given: Json = {}, timeoutMs?: number) {
    const tool = toolOf(name) as ReadTool<any, KubernetesSystem>;
    const input = tool.input.parse(given);
    const refusal = await tool.rules?.(context(), input);
    if (refusal) return { text: refusal.reason, data: refusal as Record<string, any> };
    const { text, data } = await tool.run(context(timeoutMs), input);
    // What is stored and shown is JSON.
    return { text, data: JSON.parse(JSON.stringify(data)) as Record<string, any> };
  }
  async function act(name: string, given: Json, withinMs = 60_000) {
    const tool = toolOf(name) as ActiveTool<any, any, KubernetesSystem>;
    const input = tool.input.parse(given);
    const refusal = await tool.rules?.(context(), input);
    if (refusal) throw Object.assign(new Error(refusal.reason), refusal);
    const before = await tool.preflight(context(), input);
    return {
      before,
      command: tool.command(input),
      run: (timeoutMs?: number) =>
        tool.run(context(timeoutMs), input, before.guard, {
          clock: before.clock,
          withinMs,
          risk: before.risk,
        }),
      look: () => tool.look(context(), input, before.guard),
      objects: tool.objects(input, before.guard, before),
      effect: tool.effect(input, before.guard),
      undo: (data: Json) => tool.inverse?.(data) ?? null,
    };
  }
  return { read, act, context, system };
}

/** Writes objects as a cluster's controllers would have left them. */
function buildersOf(apply: (...objects: readonly Fields[]) => Promise<void>, stored: (...of: any[]) => any) {
  const owner = (kind: string, name: string, namespace: string) => ({
    apiVersion: 'apps/v1',
    kind,
    name,
    uid: stored(kind, name, namespace).metadata.uid,
    controller: true,
  });

  /** A deployment with a revision for each template, the last one current, and no pods yet. */
  async function deployment(
    name: string,
    templates: readonly Fields[],
    { namespace = 'shop', replicas = 2, status = {}, failure = '' as string } = {},
  ) {
    const selector = { matchLabels: { app: name } };
    const withLabels = (spec: Fields) => ({ metadata: { labels: { app: name } }, spec });
    const current = templates.at(-1) ?? {};
    await apply({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {
        name,
        namespace,
        annotations: { 'deployment.kubernetes.io/revision': `${templates.length}` },
      },
      spec: { replicas, selector, template: withLabels(current) },
    });
    // The generation that a status has seen is known only once the object is there.
    await apply({
      ...stored('Deployment', name, namespace),
      status: { observedGeneration: stored('Deployment', name, namespace).metadata.generation, ...status },
    });
    for (const [at, template] of templates.entries()) {
      const conditions =
        failure !== '' && at === templates.length - 1
          ? [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: failure }]
          : [];
      await replicaSet(name, at + 1, withLabels(template), { namespace, conditions });
    }
  }

  /** As the controller keeps a revision of a deployment: by default, of what it is to run now. */
  async function replicaSet(
    name: string,
    number: number,
    template?: any,
    { namespace = 'shop', conditions = [] as readonly Fields[] } = {},
  ) {
    const hash = `5d4f6c7b8${number - 1}`;
    const labels = { app: name, 'pod-template-hash': hash };
    const { metadata, spec } = template ?? stored('Deployment', name, namespace).spec.template;
    await apply({
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: {
        name: `${name}-${hash}`,
        namespace,
        labels,
        annotations: { 'deployment.kubernetes.io/revision': `${number}` },
        ownerReferences: [owner('Deployment', name, namespace)],
      },
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: { metadata: { ...metadata, labels }, spec },
      },
      status: { replicas: 0, conditions },
    });
  }

  /** A pod of a revision (1 is the first). */
  async function pod(
    workload: string,
    revision: number,
    end: string,
    status: Fields = running(),
    { namespace = 'shop', node = 'node-1', labels = {} as Fields } = {},
  ): Promise<string> {
    const hash = `5d4f6c7b8${revision - 1}`;
    const name = `${workload}-${hash}-${end}`;
    const set = stored('ReplicaSet', `${workload}-${hash}`, namespace);
    await apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        namespace,
        labels: { app: workload, 'pod-template-hash': hash, ...labels },
        ownerReferences: [owner('ReplicaSet', `${workload}-${hash}`, namespace)],
      },
      spec: { ...set.spec.template.spec, nodeName: node },
    });
    await apply({ ...stored('Pod', name, namespace), status });
    return name;
  }

  /** A stateful set or a daemon set, with a revision for each template and a pod of the revisions that are named. */
  async function set(
    kind: 'StatefulSet' | 'DaemonSet',
    name: string,
    templates: readonly Fields[],
    { spec = {}, status = {}, pods = [] as readonly number[] } = {},
  ) {
    const labels = { app: name };
    const template = { metadata: { labels }, spec: templates.at(-1) };
    const own = kind === 'StatefulSet' ? { replicas: pods.length, serviceName: name } : {};
    const metadata = { name, namespace: 'shop' };
    await apply({
      apiVersion: 'apps/v1',
      kind,
      metadata,
      spec: { ...own, selector: { matchLabels: labels }, template, ...spec },
    });
    const { generation } = stored(kind, name).metadata;
    await apply({ ...stored(kind, name), status: { observedGeneration: generation, ...status } });
    const ownerReferences = [owner(kind, name, 'shop')];
    for (const at of templates.keys()) await revision(kind, name, at + 1, templates[at] ?? {});
    for (const [at, number] of pods.entries()) {
      const podLabels = { ...labels, 'controller-revision-hash': `${name}-${number}` };
      await apply({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: `${name}-${at}`, namespace: 'shop', labels: podLabels, ownerReferences },
        spec: templates[number - 1],
      });
      await apply({ ...stored('Pod', `${name}-${at}`), status: running() });
    }
  }

  /** As the controller keeps what a set runs. */
  const revision = (
    kind: 'StatefulSet' | 'DaemonSet',
    name: string,
    number: number,
    spec: Fields,
    annotations: Fields = {},
  ) =>
    apply({
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: {
        name: `${name}-${number}`,
        namespace: 'shop',
        labels: { app: name },
        ownerReferences: [owner(kind, name, 'shop')],
      },
      revision: number,
      data: {
        spec: { template: { $patch: 'replace', metadata: { labels: { app: name }, annotations }, spec } },
      },
    });

  async function node(name: string, conditions: readonly Fields[] = [], spec: Fields = {}) {
    await apply({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      spec,
      status: {
        allocatable: { cpu: '4', memory: '8Gi', pods: '110' },
        conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }, ...conditions],
      },
    });
  }

  const event = (about: { kind: string; name: string }, reason: string, message: string, type = 'Warning') =>
    apply({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `${about.name}.${reason.toLowerCase()}`, namespace: 'shop' },
      involvedObject: { ...about, namespace: 'shop' },
      type,
      reason,
      message,
      count: 3,
      lastTimestamp: new Date().toISOString(),
    });
  return { deployment, replicaSet, pod, set, revision, node, event };
}

export const web = (rest: Fields = {}): Fields => ({
  containers: [{ name: 'web', image: 'shop:1', ...rest }],
});

const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();

/** A pod that has been ready for a while. */
export const running = (): Fields => ({
  phase: 'Running',
  conditions: [{ type: 'Ready', status: 'True' }],
  containerStatuses: [
    {
      name: 'web',
      ready: true,
      restartCount: 0,
      image: 'shop:1',
      imageID: '',
      state: { running: { startedAt: ago(600) } },
    },
  ],
});

/** A pod whose container waits for its next start. */
export const waiting = (reason: string, message: string, ended?: Fields): Fields => ({
  phase: ended ? 'Running' : 'Pending',
  conditions: [{ type: 'Ready', status: 'False' }],
  containerStatuses: [
    {
      name: 'web',
      ready: false,
      restartCount: ended ? 4 : 0,
      image: 'shop:1',
      imageID: '',
      state: { waiting: { reason, message } },
      lastState: ended ? { terminated: ended } : {},
    },
  ],
});

export const crashing = (exitCode = 1, reason = 'Error'): Fields =>
  waiting('CrashLoopBackOff', 'back-off 40s restarting failed container', {
    exitCode,
    reason,
    finishedAt: ago(20),
  });
