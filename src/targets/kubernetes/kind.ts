import { defineKind } from '../kind.ts';
import { cordonTools } from './active/cordon.ts';
import { deletePod } from './active/delete-pod.ts';
import { restartRollout } from './active/restart.ts';
import { scaleWorkload } from './active/scale.ts';
import { undoRollout } from './active/undo-rollout.ts';
import { adviseKubernetes } from './advise.ts';
import { type KubernetesConfig, kubernetesFields, readKubernetes } from './config.ts';
import { connectCluster } from './connect/connect-cluster.ts';
import { checkKubernetes } from './doctor.ts';
import { kubernetesInventory } from './inventory.ts';
import { describeObject } from './read/describe.ts';
import { listEvents } from './read/events.ts';
import { readLimits } from './read/limits.ts';
import { listObjects } from './read/list.ts';
import { podLogs } from './read/logs.ts';
import { listNodes } from './read/nodes.ts';
import { readRolloutTool } from './read/rollout.ts';
import { readService } from './read/service.ts';
import { topPods } from './read/top.ts';
import { whyUnhealthy } from './read/why-unhealthy.ts';
import { listWorkloads } from './read/workloads.ts';
import type { KubernetesSystem } from './tool.ts';
import { kubernetesUsual } from './usual.ts';

const WITHIN_MS = 10_000;
const within = () => ({ timeoutMs: WITHIN_MS, signal: AbortSignal.timeout(WITHIN_MS) });

export const kubernetes = defineKind<KubernetesConfig, KubernetesSystem>({
  name: 'kubernetes',
  plural: 'Kubernetes clusters',
  domains: [{ name: 'kubernetes', label: ['container_runtime', 'kubernetes'] }],
  fields: kubernetesFields,
  read: readKubernetes,
  settings: ({ namespaces, acts, maxReplicas }) => ({ namespaces, acts, max_replicas: maxReplicas }),
  // Its role is what counts, and which account is bound to it the cluster's administrator knows.
  reader: () => null,
  connect({ kubeconfig, namespaces, acts, maxReplicas }) {
    const cluster = connectCluster(kubeconfig);
    return {
      system: { cluster, namespaces, acts, maxReplicas },
      identity: async () => ({ systemIdentifier: await cluster.identity(within()), timelineId: 0 }),
      close: async () => undefined,
    };
  },
  doctor: (_config, { system }) => checkKubernetes(system, within),
  facts: async ({ cluster }) => ({ kubernetes: await cluster.version(within()) }),
  inventory: kubernetesInventory,
  usual: kubernetesUsual,
  // Events of a cluster are for its own monitoring: what they tell in passing mends itself most of the time.
  watch: () => null,
  logs: () => [],
  advise: adviseKubernetes,
  looks: [
    { tool: 'kubernetes_workloads', why: 'How the workloads are' },
    { tool: 'kubernetes_nodes', why: 'How the nodes are' },
  ],
  tools: [
    listWorkloads,
    whyUnhealthy,
    readRolloutTool,
    podLogs,
    listEvents,
    listObjects,
    describeObject,
    topPods,
    listNodes,
    readLimits,
    readService,
    restartRollout,
    undoRollout,
    scaleWorkload,
    deletePod,
    ...cordonTools,
  ],
});
