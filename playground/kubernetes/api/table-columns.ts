import type {
  Container,
  CoreEvent,
  CronJob,
  DaemonSet,
  Deployment,
  HorizontalPodAutoscaler,
  Job,
  Node,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  ReplicaSet,
  Service,
  StatefulSet,
  StoredObject,
} from '../objects.ts';
import type { Resource } from '../resources.ts';
import { ageSince } from './age.ts';
import { podColumns } from './pod-columns.ts';
import { type Column, column } from './table-column.ts';

const age: Column = { name: 'Age' };

/** What `kubectl get` shows of a kind behind its name, as the printers of the real server do. */
export const columnsOf = ({ kind }: Resource): readonly Column[] => columns[kind] ?? [age];

interface Templated extends StoredObject {
  readonly spec: {
    readonly selector?: { readonly matchLabels?: Record<string, string> } | undefined;
    readonly template?: { readonly spec?: { readonly containers: readonly Container[] } };
  };
}

const selectorText = (labels: Readonly<Record<string, string>> = {}) =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

const ofTemplate: readonly Column[] = [
  column<Templated>(
    'Containers',
    ({ spec }) => spec.template?.spec?.containers.map(({ name }) => name).join(','),
    true,
  ),
  column<Templated>(
    'Images',
    ({ spec }) => spec.template?.spec?.containers.map(({ image }) => image).join(','),
    true,
  ),
  column<Templated>('Selector', ({ spec }) => selectorText(spec.selector?.matchLabels), true),
];

const columns: Readonly<Record<string, readonly Column[]>> = {
  Pod: podColumns,
  Namespace: [
    column<StoredObject & { status?: { phase?: string } }>('Status', ({ status }) => status?.phase),
    age,
  ],
  Node: [
    column<Node>('Status', nodeStatus),
    column<Node>('Roles', () => undefined),
    age,
    column<Node>('Version', ({ status }) => status.nodeInfo?.kubeletVersion),
    column<Node>(
      'Internal-IP',
      ({ status }) => status.addresses?.find(({ type }) => type === 'InternalIP')?.address,
      true,
    ),
    column<Node>('External-IP', () => undefined, true),
    column<Node>('OS-Image', ({ status }) => status.nodeInfo?.osImage, true),
    column<Node>('Kernel-Version', ({ status }) => status.nodeInfo?.kernelVersion, true),
    column<Node>('Container-Runtime', ({ status }) => status.nodeInfo?.containerRuntimeVersion, true),
  ],
  Deployment: [
    column<Deployment>('Ready', ({ spec, status }) => `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`),
    column<Deployment>('Up-to-date', ({ status }) => status.updatedReplicas ?? 0),
    column<Deployment>('Available', ({ status }) => status.availableReplicas ?? 0),
    age,
    ...ofTemplate,
  ],
  ReplicaSet: [
    column<ReplicaSet>('Desired', ({ spec }) => spec.replicas),
    column<ReplicaSet>('Current', ({ status }) => status.replicas ?? 0),
    column<ReplicaSet>('Ready', ({ status }) => status.readyReplicas ?? 0),
    age,
    ...ofTemplate,
  ],
  StatefulSet: [
    column<StatefulSet>('Ready', ({ spec, status }) => `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`),
    age,
    ...ofTemplate.slice(0, 2),
  ],
  DaemonSet: [
    column<DaemonSet>('Desired', ({ status }) => status.desiredNumberScheduled ?? 0),
    column<DaemonSet>('Current', ({ status }) => status.currentNumberScheduled ?? 0),
    column<DaemonSet>('Ready', ({ status }) => status.numberReady ?? 0),
    column<DaemonSet>('Up-to-date', ({ status }) => status.updatedNumberScheduled ?? 0),
    column<DaemonSet>('Available', ({ status }) => status.numberAvailable ?? 0),
    column<DaemonSet>('Node Selector', ({ spec }) => selectorText(spec.template.spec?.nodeSelector)),
    age,
    ...ofTemplate,
  ],
  Job: [
    column<Job>(
      'Status',
      ({ status }) => status.conditions?.find((each) => each.status === 'True')?.type ?? 'Running',
    ),
    column<Job>('Completions', ({ spec, status }) => `${status.succeeded ?? 0}/${spec.completions ?? 1}`),
    column<Job>('Duration', ({ status }) =>
      status.startTime === undefined
        ? undefined
        : ageSince(status.startTime, Date.parse(status.completionTime ?? new Date().toISOString())),
    ),
    age,
    ...ofTemplate,
  ],
  CronJob: [
    column<CronJob>('Schedule', ({ spec }) => spec.schedule),
    column<CronJob>('Timezone', ({ spec }) => spec.timeZone),
    column<CronJob>('Suspend', ({ spec }) => (spec.suspend === true ? 'True' : 'False')),
    column<CronJob>('Active', ({ status }) => status.active?.length ?? 0),
    column<CronJob>(
      'Last Schedule',
      ({ status }) => status.lastScheduleTime && ageSince(status.lastScheduleTime),
    ),
    age,
  ],
  Service: [
    column<Service>('Type', ({ spec }) => spec.type),
    column<Service>('Cluster-IP', ({ spec }) => spec.clusterIP),
    column<Service>('External-IP', ({ spec }) => spec.externalIPs?.join(',')),
    column<Service>('Port(s)', ({ spec }) =>
      (spec.ports ?? []).map((each) => `${each.port}/${each.protocol}`).join(','),
    ),
    age,
    column<Service>('Selector', ({ spec }) => selectorText(spec.selector), true),
  ],
  Event: [
    column<CoreEvent>('Last Seen', ({ lastTimestamp, eventTime }) => ageSince(lastTimestamp ?? eventTime)),
    column<CoreEvent>('Type', ({ type }) => type),
    column<CoreEvent>('Reason', ({ reason }) => reason),
    column<CoreEvent>('Object', ({ involvedObject: { kind, name } }) => `${kind?.toLowerCase()}/${name}`),
    column<CoreEvent>('Subobject', ({ involvedObject }) => involvedObject.fieldPath, true),
    column<CoreEvent>(
      'Source',
      ({ source }) => [source?.component, source?.host].filter(Boolean).join(', '),
      true,
    ),
    column<CoreEvent>('Message', ({ message }) => message?.trim()),
    column<CoreEvent>('First Seen', ({ firstTimestamp }) => ageSince(firstTimestamp), true),
    column<CoreEvent>('Count', ({ count }) => count ?? 1, true),
  ],
  ConfigMap: [
    column<StoredObject & { data?: object }>('Data', ({ data = {} }) => Object.keys(data).length),
    age,
  ],
  Secret: [
    column<StoredObject & { type?: string }>('Type', ({ type }) => type),
    column<StoredObject & { data?: object }>('Data', ({ data = {} }) => Object.keys(data).length),
    age,
  ],
  Endpoints: [
    column<StoredObject & { subsets?: readonly Subset[] }>('Endpoints', ({ subsets }) => addresses(subsets)),
    age,
  ],
  PersistentVolumeClaim: [
    column<PersistentVolumeClaim>('Status', ({ status }) => status?.phase),
    column<PersistentVolumeClaim>('Volume', ({ spec }) => spec.volumeName),
    column<PersistentVolumeClaim>('Capacity', ({ status }) => status?.capacity?.['storage']),
    column<PersistentVolumeClaim>('Access Modes', ({ spec }) => accessModes(spec.accessModes)),
    column<PersistentVolumeClaim>('StorageClass', ({ spec }) => spec.storageClassName),
    age,
  ],
  HorizontalPodAutoscaler: [
    column<HorizontalPodAutoscaler>(
      'Reference',
      ({ spec: { scaleTargetRef: to } }) => `${to.kind}/${to.name}`,
    ),
    column<HorizontalPodAutoscaler>('MinPods', ({ spec }) => spec.minReplicas),
    column<HorizontalPodAutoscaler>('MaxPods', ({ spec }) => spec.maxReplicas),
    column<HorizontalPodAutoscaler>('Replicas', ({ status }) => status?.currentReplicas ?? 0),
    age,
  ],
  PodDisruptionBudget: [
    column<PodDisruptionBudget>('Min Available', ({ spec }) => spec.minAvailable ?? 'N/A'),
    column<PodDisruptionBudget>('Max Unavailable', ({ spec }) => spec.maxUnavailable ?? 'N/A'),
    column<PodDisruptionBudget>('Allowed Disruptions', ({ status }) => status?.disruptionsAllowed ?? 0),
    age,
  ],
};

function nodeStatus({ spec, status }: Node): string {
  const ready = status.conditions?.find(({ type }) => type === 'Ready')?.status;
  const word = ready === 'True' ? 'Ready' : ready === undefined ? 'Unknown' : 'NotReady';
  return spec.unschedulable === true ? `${word},SchedulingDisabled` : word;
}

interface Subset {
  readonly addresses?: readonly { readonly ip: string }[];
  readonly ports?: readonly { readonly port: number }[];
}

const addresses = (subsets: readonly Subset[] = []) =>
  subsets
    .flatMap(({ addresses: all = [], ports = [] }) =>
      all.flatMap(({ ip }) => ports.map(({ port }) => `${ip}:${port}`)),
    )
    .join(',');

const shortModes: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
};
const accessModes = (modes: readonly string[] = []) =>
  modes.map((mode) => shortModes[mode] ?? mode).join(',');
