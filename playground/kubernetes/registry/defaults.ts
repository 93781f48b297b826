import { createHash } from 'node:crypto';
import type { V1Probe } from '@kubernetes/client-node';
import type {
  Container,
  Deployment,
  Job,
  Pod,
  PodTemplate,
  Service,
  StoredObject,
  Wire,
} from '../objects.ts';
import type { Resource } from '../resources.ts';

type Spec = Record<string, unknown>;
type Loose = StoredObject & { spec?: Spec; status?: unknown };

/** The object with what the server adds to what was left out. Changes and returns it. */
export function withDefaults(resource: Resource, object: StoredObject): StoredObject {
  const loose = object as Loose;
  // A patch may have taken away the last of a map.
  for (const field of ['labels', 'annotations'] as const) {
    const map = object.metadata[field];
    if (map !== undefined && Object.keys(map).length === 0) delete object.metadata[field];
  }
  fill[resource.kind]?.(loose);
  return loose;
}

const fill: Readonly<Record<string, (object: Loose) => void>> = {
  Namespace: (object) => {
    defaulted(object, { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } });
    object.metadata.labels = {
      'kubernetes.io/metadata.name': object.metadata.name,
      ...object.metadata.labels,
    };
  },
  Node: (object) => defaulted(object, { spec: {}, status: {} }),
  Pod: (object) => {
    const pod = object as unknown as Pod;
    podSpec(pod.spec);
    defaulted(pod.spec, {
      tolerations: [toleration('not-ready'), toleration('unreachable')],
      priority: 0,
      enableServiceLinks: true,
      preemptionPolicy: 'PreemptLowerPriority',
    });
    defaulted(object, { status: { phase: 'Pending', qosClass: qosClass(pod.spec.containers) } });
  },
  Deployment: (object) => {
    const { spec } = withStatus(object) as unknown as Deployment;
    defaulted(spec, {
      replicas: 1,
      strategy: { type: 'RollingUpdate' },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    });
    if (spec.strategy?.type === 'RollingUpdate') {
      spec.strategy.rollingUpdate ??= {};
      defaulted(spec.strategy.rollingUpdate, { maxUnavailable: '25%', maxSurge: '25%' });
    }
    template(spec.template);
  },
  ReplicaSet: workload({ replicas: 1 }),
  ReplicationController: workload({ replicas: 1 }),
  StatefulSet: workload({
    replicas: 1,
    podManagementPolicy: 'OrderedReady',
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    revisionHistoryLimit: 10,
  }),
  DaemonSet: workload({
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
    revisionHistoryLimit: 10,
  }),
  Job: (object) => {
    const job = withStatus(object) as unknown as Job;
    const { spec, metadata } = job;
    defaulted(spec, {
      parallelism: 1,
      completions: 1,
      backoffLimit: 6,
      completionMode: 'NonIndexed',
      suspend: false,
    });
    // Its pods are told apart by its uid.
    const own = { 'batch.kubernetes.io/controller-uid': metadata.uid };
    spec.selector ??= { matchLabels: own };
    spec.template.metadata ??= {};
    spec.template.metadata.labels = {
      ...own,
      'batch.kubernetes.io/job-name': metadata.name,
      ...spec.template.metadata.labels,
    };
    template(spec.template);
  },
  CronJob: (object) =>
    defaulted(withStatus(object).spec ?? {}, {
      concurrencyPolicy: 'Allow',
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    }),
  Service: (object) => {
    const { spec, metadata } = withStatus(object, { loadBalancer: {} }) as unknown as Service;
    defaulted(spec, {
      type: 'ClusterIP',
      sessionAffinity: 'None',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      internalTrafficPolicy: 'Cluster',
    });
    spec.clusterIP ??= addressIn('10.96', `${metadata.namespace}/${metadata.name}`);
    spec.clusterIPs ??= [spec.clusterIP];
    for (const port of spec.ports ?? []) defaulted(port, { protocol: 'TCP', targetPort: port.port });
  },
  PersistentVolumeClaim: (object) => {
    defaulted(withStatus(object, { phase: 'Pending' }).spec ?? {}, { volumeMode: 'Filesystem' });
  },
  PersistentVolume: (object) => {
    defaulted(object, { status: { phase: 'Available' } });
  },
  HorizontalPodAutoscaler: (object) => defaulted(withStatus(object).spec ?? {}, { minReplicas: 1 }),
  ResourceQuota: (object) => void withStatus(object),
  PodDisruptionBudget: (object) => void withStatus(object),
  Ingress: (object) => void withStatus(object, { loadBalancer: {} }),
  Secret: (object) => defaulted(object, { type: 'Opaque' }),
};

function workload(defaults: Spec): (object: Loose) => void {
  return (object) => {
    const spec = withStatus(object).spec ?? {};
    defaulted(spec, defaults);
    template(spec['template'] as PodTemplate);
  };
}

function withStatus(object: Loose, status: object = {}): Loose {
  defaulted(object, { spec: {}, status });
  return object;
}

function template({ spec }: PodTemplate = {}): void {
  if (spec !== undefined) podSpec(spec);
}

function podSpec(spec: Pod['spec']): void {
  defaulted(spec, {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    schedulerName: 'default-scheduler',
    securityContext: {},
  });
  for (const each of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) container(each);
}

function container(each: Container): void {
  const isLatest = !/:[^/]+$/.test(each.image ?? '') || each.image?.endsWith(':latest') === true;
  defaulted(each, {
    imagePullPolicy: isLatest ? 'Always' : 'IfNotPresent',
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    resources: {},
  });
  // A limit is also what is asked for, where nothing else is.
  const { resources = {} } = each;
  if (resources.limits !== undefined) resources.requests = { ...resources.limits, ...resources.requests };
  for (const port of each.ports ?? []) defaulted(port, { protocol: 'TCP' });
  for (const probe of [each.livenessProbe, each.readinessProbe, each.startupProbe]) probeDefaults(probe);
}

function probeDefaults(probe: Wire<V1Probe> | undefined): void {
  if (probe === undefined) return;
  defaulted(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 });
  if (probe.httpGet !== undefined) defaulted(probe.httpGet, { scheme: 'HTTP', path: '/' });
}

const toleration = (what: string) => ({
  key: `node.kubernetes.io/${what}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
});

function qosClass(containers: readonly Container[]): string {
  const all = containers.map(({ resources }) => resources ?? {});
  const isEmpty = all.every(
    ({ requests = {}, limits = {} }) => Object.keys({ ...requests, ...limits }).length === 0,
  );
  if (isEmpty) return 'BestEffort';
  const isGuaranteed = all.every(({ requests, limits }) =>
    ['cpu', 'memory'].every((each) => limits?.[each] !== undefined && requests?.[each] === limits[each]),
  );
  return isGuaranteed ? 'Guaranteed' : 'Burstable';
}

/** The same for the same name, so that a service keeps its address. */
export function addressIn(network: string, name: string): string {
  const [a = 0, b = 0] = createHash('sha256').update(name).digest();
  return `${network}.${a}.${(b % 254) + 1}`;
}

function defaulted(target: object, defaults: object): void {
  const fields = target as Spec;
  for (const [key, value] of Object.entries(defaults)) fields[key] ??= value;
}
