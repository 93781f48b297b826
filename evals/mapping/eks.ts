import { z } from 'zod';
import type { RecordedOutput } from '../replay/scenario.ts';
import { documentOf } from './document-of.ts';
import type { MappedOutput, Mapping } from './mapping.ts';
import { type SeenContainer, whyUnhealthy } from './seen-pod.ts';

// What tools for Amazon EKS tell of pods, events and nodes, as JSON documents.

const EKS_PODS = 'eks_pods';
const EKS_DEPLOYMENTS = 'eks_deployments';
const EKS_EVENTS = 'eks_events';
const EKS_NODES = 'eks_node_health';

const State = z.object({
  waiting: z.boolean().optional(),
  terminated: z.boolean().optional(),
  reason: z.string().default(''),
  message: z.string().default(''),
  exit_code: z.number().optional(),
});
const Pods = z.object({
  pods: z.array(
    z.object({
      name: z.string(),
      namespace: z.string(),
      node_name: z.string().nullish(),
      containers: z
        .array(
          z.object({
            name: z.string(),
            restart_count: z.number().default(0),
            state: State,
            last_state: State.nullish(),
          }),
        )
        .default([]),
      conditions: z
        .array(
          z.object({
            type: z.string(),
            status: z.string(),
            message: z.string().default(''),
          }),
        )
        .default([]),
    }),
  ),
});
const Deployments = z.object({
  deployments: z.array(
    z.object({
      name: z.string(),
      namespace: z.string(),
      desired: z.number(),
      available: z.number(),
      unavailable: z.number(),
    }),
  ),
});
const Events = z.object({
  warning_events: z.array(
    z.object({
      reason: z.string(),
      message: z.string(),
      count: z.number().default(1),
      involved_object: z.string(),
    }),
  ),
});
const flag = z.enum(['True', 'False', 'Unknown']);
const Nodes = z.object({
  nodes: z.array(
    z.object({
      name: z.string(),
      ready: flag,
      memory_pressure: flag,
      disk_pressure: flag,
      pid_pressure: flag,
      allocatable_cpu: z.string().default(''),
      allocatable_memory: z.string().default(''),
    }),
  ),
});

/** Of several pods of a deployment in trouble, the first stands for it. */
function whyNotHealthy(outputs: readonly RecordedOutput[]): readonly MappedOutput[] {
  const { pods = [] } = Pods.safeParse(documentOf(outputs, EKS_PODS)).data ?? {};
  const { deployments = [] } = Deployments.safeParse(documentOf(outputs, EKS_DEPLOYMENTS)).data ?? {};
  const { warning_events: events = [] } = Events.safeParse(documentOf(outputs, EKS_EVENTS)).data ?? {};
  const mapped = pods.flatMap(({ name, namespace, node_name: node, containers, conditions }) => {
    const of = deployments.find((one) => one.namespace === namespace && isPodOf(one.name, name));
    return whyUnhealthy({
      name,
      namespace,
      workload: of?.name ?? null,
      ...(of && {
        replicas: { desired: of.desired, available: of.available, unavailable: of.unavailable },
      }),
      node: node && node !== 'unscheduled' ? node : null,
      refused:
        conditions.find(({ type, status }) => type === 'PodScheduled' && status === 'False')?.message ?? null,
      containers: containers.map(containerOf),
      events: events
        .filter(({ involved_object: about }) => about.endsWith(`/${name}`))
        .map(
          ({ reason, message, count, involved_object: about }) =>
            `Warning ${reason} ${about.toLowerCase()} (${count} times): ${message}`,
        ),
      log: [],
    });
  });
  return mapped.filter(
    ({ args }, at) => mapped.findIndex((one) => one.args?.['name'] === args?.['name']) === at,
  );
}

/** By their names: a hash and five characters more. */
const isPodOf = (deployment: string, pod: string): boolean =>
  pod.startsWith(`${deployment}-`) && /^-[a-z0-9]{5,10}-[a-z0-9]{5}$/.test(pod.slice(deployment.length));

type Container = z.infer<typeof Pods>['pods'][number]['containers'][number];

/** Which image it is, only the message of a pull tells. */
function containerOf({ name, restart_count: restarts, state, last_state: last }: Container): SeenContainer {
  const ended = [state, last].find((one) => one?.terminated === true);
  const [, image = null] = /image "([^"]+)"/.exec(state.message) ?? [];
  return {
    name,
    image,
    restarts,
    waits: state.waiting === true ? { reason: state.reason, message: state.message } : null,
    ended: ended?.exit_code === undefined ? null : { reason: ended.reason, exitCode: ended.exit_code },
  };
}

/** Not whether one is cordoned or tainted, and not which pods it has. */
function nodesOf(outputs: readonly RecordedOutput[]): readonly MappedOutput[] {
  const { nodes: found = [] } = Nodes.safeParse(documentOf(outputs, EKS_NODES)).data ?? {};
  if (found.length === 0) return [];
  const nodes = found.map((node) => ({
    name: node.name,
    ready: node.ready === 'True',
    ready_status: node.ready,
    troubles: [
      ...(node.ready === 'True' ? [] : [`Ready is ${node.ready}`]),
      ...(node.memory_pressure === 'True' ? ['MemoryPressure is True'] : []),
      ...(node.disk_pressure === 'True' ? ['DiskPressure is True'] : []),
      ...(node.pid_pressure === 'True' ? ['PIDPressure is True'] : []),
    ],
    memory_pressure: node.memory_pressure === 'True',
    disk_pressure: node.disk_pressure === 'True',
    pid_pressure: node.pid_pressure === 'True',
    cpu: node.allocatable_cpu,
    memory: node.allocatable_memory,
  }));
  const lines = nodes.map(
    ({ name, troubles, cpu, memory }) =>
      `${name}: ${troubles.join('; ') || 'ready'}; can hold ${cpu} CPUs, ${memory}`,
  );
  const notReady = nodes.filter(({ ready }) => !ready).length;
  return [
    {
      text: [`${nodes.length} nodes, ${notReady} not ready.`, ...lines].join('\n'),
      data: { nodes, total: nodes.length, not_ready: notReady },
    },
  ];
}

export const kubernetesOfEks: readonly Mapping[] = [
  { from: [EKS_PODS, EKS_EVENTS, EKS_DEPLOYMENTS], to: 'kubernetes_why_unhealthy', read: whyNotHealthy },
  { from: [EKS_NODES], to: 'kubernetes_nodes', read: nodesOf },
];
