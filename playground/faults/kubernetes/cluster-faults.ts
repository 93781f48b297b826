import type { V1Deployment, V1Pod } from '@kubernetes/client-node';
import type { Cluster } from '../../kubernetes/cluster.ts';
import { type FaultFacts, nothingHeld, type Reading, type ShopFault } from '../fault.ts';
import type { TellChange } from '../tell-change.ts';
import { until } from '../until.ts';
import { deployment, fromConfig, type Workload, workloads } from './shop-cluster.ts';

/** What goes wrong in the cluster, as kube-state-metrics would label the alerts. */
export function clusterFaults(
  cluster: Cluster,
  tell: TellChange = async () => undefined,
): readonly ShopFault[] {
  return faults.map(({ healthy, broken, sees, deployedBy, ...facts }) => {
    const roll = (workload: Workload) => cluster.apply(deployment(workload));
    const read = async () => sees(lookAt(cluster, healthy));
    return {
      ...facts,
      system: 'shop-cluster',
      impossible: null,
      async cause() {
        await roll(healthy);
        await until(`${healthy.name} to be well`, async () => isWhole(lookAt(cluster, healthy)));
        await roll(broken);
        if (deployedBy !== undefined) await tell(deploymentOf(healthy, broken, deployedBy));
        await until(`${healthy.name} to be ill`, async () => (await read()).holds);
        return nothingHeld;
      },
      undo: () => roll(healthy),
      read,
    };
  });
}

interface ClusterFault extends FaultFacts {
  readonly healthy: Workload;
  readonly broken: Workload;
  readonly sees: (look: Look) => Reading;
  /** Who deploys it by a tool that tells of it; left out: nobody tells, and what was changed is to be seen in the cluster alone. */
  readonly deployedBy?: string;
}

function deploymentOf({ name, image: before }: Workload, { image: after }: Workload, by: string) {
  const [from, to] = [before, after].map((image) => image.replace(/^.*:/, '')) as [string, string];
  return { title: `${name} ${to} deployed`, where: [name, 'shop-cluster'], by, from, to };
}

interface Look {
  readonly deployment: V1Deployment | undefined;
  readonly pods: readonly V1Pod[];
}

function lookAt(cluster: Cluster, { name, namespace }: Workload): Look {
  const pods: readonly V1Pod[] = cluster.list('Pod', namespace);
  return {
    deployment: cluster.object('Deployment', namespace, name),
    pods: pods.filter(({ metadata }) => metadata?.labels?.['app'] === name),
  };
}

function isWhole({ deployment: found, pods }: Look): boolean {
  const { spec, status, metadata } = found ?? {};
  return (
    status?.observedGeneration === metadata?.generation &&
    status?.updatedReplicas === spec?.replicas &&
    status?.availableReplicas === spec?.replicas &&
    pods.length === spec?.replicas
  );
}

const conditionOf = ({ deployment: found }: Look, type: string) =>
  found?.status?.conditions?.find((each) => each.type === type);

/** Pods one of whose containers waits for this reason. */
const waiting = ({ pods }: Look, reason: string) =>
  pods.filter(({ status }) =>
    status?.containerStatuses?.some(({ state }) => state?.waiting?.reason === reason),
  );

const restarts = ({ pods }: Look) =>
  pods
    .flatMap(({ status }) => status?.containerStatuses ?? [])
    .reduce((most, { restartCount }) => Math.max(most, restartCount), 0);

function facts(
  id: string,
  title: string,
  description: string,
  { name, namespace }: Workload,
  rule: Pick<FaultFacts['rule'], 'alertname' | 'severity' | 'summary'>,
): FaultFacts {
  return {
    id: `kubernetes_${id}`,
    title,
    description,
    rule: {
      ...rule,
      forMs: 3_000,
      description: 'Seen by kube-state-metrics.',
      inhibitedBy: [],
      labels: {
        cluster: 'shop-cluster',
        namespace,
        deployment: name,
        job: 'kube-state-metrics',
        team: 'shop',
      },
    },
  };
}

const { checkout, orders, payments, search } = workloads;

const faults: readonly ClusterFault[] = [
  {
    ...facts(
      'bad_rollout',
      'Bad rollout',
      'A new version of the checkout dies at its start; the old one goes on.',
      checkout,
      {
        alertname: 'KubeDeploymentRolloutStuck',
        severity: 'warning',
        summary: 'Rollout of deployment shop/checkout is not progressing',
      },
    ),
    healthy: checkout,
    broken: { ...checkout, image: 'shop/checkout:2.5.0-crash' },
    deployedBy: 'olivia',
    sees(look) {
      const { status, message = '' } = conditionOf(look, 'Progressing') ?? {};
      return { holds: status === 'False', says: message.replace(/\.$/, '') };
    },
  },
  {
    ...facts(
      'crash_loop',
      'CrashLoopBackOff',
      'Somebody emptied a variable of the orders; new pods die at once.',
      orders,
      {
        alertname: 'KubePodCrashLooping',
        severity: 'critical',
        summary: 'A pod of shop/orders is in a crash loop',
      },
    ),
    healthy: orders,
    broken: { ...orders, env: [{ name: 'PAYMENTS_URL', value: '' }] },
    sees: (look) => ({
      // Between two waits it runs for a moment.
      holds: !isWhole(look) && restarts(look) > 1,
      says: `${restarts(look)} restarts`,
    }),
  },
  {
    ...facts(
      'quota',
      'Pending by quota',
      'The search is scaled to more pods than the quota of its namespace allows.',
      search,
      {
        alertname: 'KubeQuotaExceeded',
        severity: 'warning',
        summary: 'Namespace shop-search has used up its quota, and search lacks pods',
      },
    ),
    // Whether the quota is too low or the search too large is for whoever owns the namespace.
    needsPeople: true,
    healthy: search,
    broken: { ...search, replicas: 5 },
    sees(look) {
      const { status, message = 'it has all its pods' } = conditionOf(look, 'ReplicaFailure') ?? {};
      return { holds: status === 'True', says: message };
    },
  },
  {
    ...facts(
      'missing_config',
      'Missing config',
      'A new version of the payments asks for a key that its config map lacks.',
      payments,
      {
        alertname: 'KubeContainerConfigError',
        severity: 'warning',
        summary: 'A container of shop/payments cannot be created',
      },
    ),
    healthy: payments,
    broken: {
      ...payments,
      image: 'shop/payments:1.9.0',
      env: [...payments.env, fromConfig('RETRY_BUDGET', 'retry_budget')],
    },
    sees(look) {
      const count = waiting(look, 'CreateContainerConfigError').length;
      return { holds: count > 0, says: `${count} of its pods wait for their configuration` };
    },
  },
];
