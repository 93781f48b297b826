import { messageOf, OpsError } from '../../core/errors.ts';
import type { Inventory, InventoryItem } from '../../core/inventory.ts';
import type { SessionOptions } from '../../tools/ports.ts';
import { type InventorySource, readInventory, unreadOf } from '../inventory-parts.ts';
import { type Cluster, type ResourceKind, resources } from './cluster.ts';
import { plainItem, plainKinds } from './inventory/plain-items.ts';
import { cronJobItems, replicasItem, usersOf, workloadItems } from './inventory/workload-items.ts';
import type { Autoscaler, CronJob, KubernetesObject, Node, Workload } from './objects.ts';
import type { KubernetesSystem } from './tool.ts';
import { workloadKinds } from './workload.ts';

const WITHIN_MS = 15_000;
const TOO_MANY = 'there are more than are read at once';

/**
 * What runs in the namespaces under care, what configures it, and the nodes below it. Pods come and go by themselves and are none of
 * it. Of a config map its keys are told, and a digest of what it holds; Secrets are not read at all.
 */
export function kubernetesInventory(
  { cluster, namespaces }: KubernetesSystem,
  signal: AbortSignal,
): Promise<Inventory> {
  const options = { signal, timeoutMs: WITHIN_MS };
  return readInventory([
    {
      parts: ['cluster'],
      read: async () => ({ items: [versionItem(await cluster.version(options))], unread: [] }),
    },
    { parts: ['nodes'], read: () => nodesOf(cluster, options) },
    ...namespaces.map((namespace) => namespaceSource(cluster, namespace, options)),
  ]);
}

const versionItem = (value: string): InventoryItem => ({
  part: 'cluster',
  key: 'cluster version',
  name: '',
  kind: 'infrastructure',
  value,
  objects: [],
  mayComeAndGo: false,
});

async function nodesOf(cluster: Cluster, options: SessionOptions): Promise<Inventory> {
  const { items, isComplete } = await cluster.list<Node>('node', {}, options);
  return isComplete ? { items: items.map(nodeItem), unread: [] } : unreadOf(['nodes'], TOO_MANY);
}

function nodeItem({ metadata: { name }, spec, status }: Node): InventoryItem {
  const version = status?.nodeInfo?.kubeletVersion ?? 'no kubelet';
  return {
    part: 'nodes',
    key: `node ${name}`,
    name: `node ${name}`,
    kind: 'infrastructure',
    value: spec?.unschedulable ? `${version}, cordoned` : version,
    objects: [name],
    mayComeAndGo: true,
    told: { came: 'joined', went: 'left' },
  };
}

const runKinds = [...workloadKinds, 'cronjob'] as const satisfies readonly ResourceKind[];

/** Each kind of object is a part of its own, so that a right that is missing hides that kind alone. */
function namespaceSource(cluster: Cluster, namespace: string, options: SessionOptions): InventorySource {
  const partOf = (kind: ResourceKind): string => `${resources[kind].plural} in ${namespace}`;
  const replicas = `replicas in ${namespace}`;
  return {
    parts: [...runKinds.map(partOf), ...plainKinds.map(partOf), replicas],
    async read() {
      const readAll = (kinds: readonly ResourceKind[]) =>
        Promise.all(kinds.map((kind) => readKind(cluster, kind, namespace, options)));
      // In two goes, so that a look is not a burst of requests.
      const read = new Map([...(await readAll([...runKinds, 'replicaset'])), ...(await readAll(plainKinds))]);
      const of = <T extends KubernetesObject>(kind: ResourceKind) =>
        (read.get(kind)?.items ?? []) as readonly T[];
      const scalers = read.get('horizontalpodautoscaler');
      const sets = of<Workload>('replicaset');
      const workloads = workloadKinds.flatMap((kind) =>
        of<Workload>(kind).map((workload) => ({ kind, workload })),
      );
      const jobs = of<CronJob>('cronjob');
      return {
        items: [
          ...workloads.flatMap(({ kind, workload }) => workloadItems(kind, workload, sets, partOf(kind))),
          ...jobs.flatMap((job) => cronJobItems(job, partOf('cronjob'))),
          // What an autoscaler sets is no change, and whether there is one must be known.
          ...(scalers?.why === undefined
            ? workloads.flatMap(({ kind, workload }) =>
                replicasItem(kind, workload, of<Autoscaler>('horizontalpodautoscaler'), replicas),
              )
            : []),
          ...plainKinds.flatMap((kind) =>
            of(kind).map((object) =>
              plainItem(kind, object, partOf(kind), usersOf(kind, object, workloads, jobs)),
            ),
          ),
        ],
        unread: [
          ...[...read].flatMap(([kind, { why }]) => (why === undefined ? [] : [{ part: partOf(kind), why }])),
          ...(scalers?.why === undefined ? [] : [{ part: replicas, why: scalers.why }]),
        ].filter(({ part }) => part !== partOf('replicaset')),
      };
    },
  };
}

/** `why`: it could not be read. */
interface Read {
  readonly items: readonly KubernetesObject[];
  readonly why?: string;
}

async function readKind(
  cluster: Cluster,
  kind: ResourceKind,
  namespace: string,
  options: SessionOptions,
): Promise<readonly [ResourceKind, Read]> {
  try {
    const { items, isComplete } = await cluster.list(kind, { namespace }, options);
    return [kind, isComplete ? { items } : { items: [], why: TOO_MANY }];
  } catch (error) {
    // A cluster that does not answer is not asked for the rest.
    if (!(error instanceof OpsError) || error.code === 'KUBERNETES_AWAY') throw error;
    // Without its API there is none of a kind.
    if (error.code === 'KUBERNETES_NOT_SERVED') return [kind, { items: [] }];
    return [kind, { items: [], why: messageOf(error) }];
  }
}
