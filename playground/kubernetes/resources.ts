/** A kind of objects that the server keeps, under the names by which clients ask for it. */
export interface Resource {
  /** `''` is the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly string[];
  readonly verbs: readonly string[];
}

type Row = readonly [
  plural: string,
  kind: string,
  scope: 'cluster' | 'namespaced',
  shortNames?: string,
  subresources?: string,
  categories?: string,
];

const everyVerb = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
] as const;
const reviewVerbs = ['create'];
const metricVerbs = ['get', 'list'];
const viewVerbs = ['get', 'list', 'watch'];

const rows: Readonly<Record<string, readonly Row[]>> = {
  v1: [
    ['namespaces', 'Namespace', 'cluster', 'ns', 'status'],
    ['nodes', 'Node', 'cluster', 'no', 'status'],
    ['persistentvolumes', 'PersistentVolume', 'cluster', 'pv', 'status'],
    ['pods', 'Pod', 'namespaced', 'po', 'status log eviction binding', 'all'],
    ['events', 'Event', 'namespaced', 'ev'],
    ['services', 'Service', 'namespaced', 'svc', 'status', 'all'],
    ['endpoints', 'Endpoints', 'namespaced', 'ep'],
    ['configmaps', 'ConfigMap', 'namespaced', 'cm'],
    ['secrets', 'Secret', 'namespaced'],
    ['persistentvolumeclaims', 'PersistentVolumeClaim', 'namespaced', 'pvc', 'status'],
    ['resourcequotas', 'ResourceQuota', 'namespaced', 'quota', 'status'],
    ['limitranges', 'LimitRange', 'namespaced', 'limits'],
    ['serviceaccounts', 'ServiceAccount', 'namespaced', 'sa'],
    ['replicationcontrollers', 'ReplicationController', 'namespaced', 'rc', 'status scale', 'all'],
  ],
  'apps/v1': [
    ['deployments', 'Deployment', 'namespaced', 'deploy', 'status scale', 'all'],
    ['replicasets', 'ReplicaSet', 'namespaced', 'rs', 'status scale', 'all'],
    ['statefulsets', 'StatefulSet', 'namespaced', 'sts', 'status scale', 'all'],
    ['daemonsets', 'DaemonSet', 'namespaced', 'ds', 'status', 'all'],
    ['controllerrevisions', 'ControllerRevision', 'namespaced'],
  ],
  'batch/v1': [
    ['jobs', 'Job', 'namespaced', '', 'status', 'all'],
    ['cronjobs', 'CronJob', 'namespaced', 'cj', 'status', 'all'],
  ],
  'autoscaling/v2': [
    ['horizontalpodautoscalers', 'HorizontalPodAutoscaler', 'namespaced', 'hpa', 'status', 'all'],
  ],
  'policy/v1': [['poddisruptionbudgets', 'PodDisruptionBudget', 'namespaced', 'pdb', 'status']],
  'networking.k8s.io/v1': [
    ['networkpolicies', 'NetworkPolicy', 'namespaced', 'netpol'],
    ['ingresses', 'Ingress', 'namespaced', 'ing', 'status'],
  ],
  'storage.k8s.io/v1': [['storageclasses', 'StorageClass', 'cluster', 'sc']],
  'coordination.k8s.io/v1': [['leases', 'Lease', 'namespaced']],
  'discovery.k8s.io/v1': [['endpointslices', 'EndpointSlice', 'namespaced']],
  'events.k8s.io/v1': [['events', 'Event', 'namespaced', 'ev']],
  'rbac.authorization.k8s.io/v1': [
    ['clusterroles', 'ClusterRole', 'cluster'],
    ['clusterrolebindings', 'ClusterRoleBinding', 'cluster'],
    ['roles', 'Role', 'namespaced'],
    ['rolebindings', 'RoleBinding', 'namespaced'],
  ],
  'authorization.k8s.io/v1': [
    ['selfsubjectaccessreviews', 'SelfSubjectAccessReview', 'cluster'],
    ['selfsubjectrulesreviews', 'SelfSubjectRulesReview', 'cluster'],
  ],
  'metrics.k8s.io/v1beta1': [
    ['pods', 'PodMetrics', 'namespaced'],
    ['nodes', 'NodeMetrics', 'cluster'],
  ],
};

function verbsOf(group: string): readonly string[] {
  if (group === 'authorization.k8s.io') return reviewVerbs;
  if (group === 'metrics.k8s.io') return metricVerbs;
  if (group === 'events.k8s.io') return viewVerbs;
  return everyVerb;
}

export const resources: readonly Resource[] = Object.entries(rows).flatMap(([groupVersion, each]) => {
  const [group, version] = groupVersion.includes('/') ? groupVersion.split('/') : ['', groupVersion];
  return each.map(([plural, kind, scope, shortNames, subresources, categories]) => ({
    group: group ?? '',
    version: version ?? '',
    plural,
    singular: kind.toLowerCase(),
    kind,
    namespaced: scope === 'namespaced',
    shortNames: list(shortNames),
    categories: list(categories),
    subresources: list(subresources),
    verbs: verbsOf(group ?? ''),
  }));
});

function list(text: string | undefined): readonly string[] {
  return text === undefined || text === '' ? [] : text.split(' ');
}

export const groupVersionOf = ({ group, version }: Pick<Resource, 'group' | 'version'>): string =>
  group === '' ? version : `${group}/${version}`;

export const findResource = (group: string, version: string, plural: string): Resource | undefined =>
  resources.find((each) => each.group === group && each.version === version && each.plural === plural);

/** A resource that is known to be there; `group` where two groups share the name. */
export function resource(plural: string, group?: string): Resource {
  const found = resources.find(
    (each) => each.plural === plural && (group === undefined || each.group === group),
  );
  if (found === undefined) throw new Error(`no resource ${plural}`);
  return found;
}

export const resourceOfKind = (kind: string, apiVersion?: string): Resource | undefined =>
  resources.find(
    (each) =>
      each.kind === kind &&
      each.verbs.includes('create') &&
      (apiVersion === undefined || groupVersionOf(each) === apiVersion),
  );

/** Where objects are kept: events of both groups are the same objects. */
export const storageOf = (each: Resource): Resource =>
  each.plural === 'events' ? resource('events', '') : each;
