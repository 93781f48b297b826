import type { EndpointSlice, Pod, Service, StoredObject } from '../objects.ts';
import type { SentObject } from '../registry/registry.ts';
import { matchesLabels } from '../registry/selectors.ts';
import { type Resource, resource } from '../resources.ts';
import type { Controller, ControlPlane } from './control-plane.ts';
import { isReady } from './pod-state.ts';

const pods = resource('pods', '');
const slices = resource('endpointslices');
const endpoints = resource('endpoints');

/** Says behind each service which pods are ready to answer, in both forms. */
export function createEndpointController(plane: ControlPlane): Controller {
  return () => {
    for (const service of plane.store.list<Service>(resource('services'))) {
      if (service.spec.selector !== undefined) sync(plane, service);
    }
  };
}

function sync(plane: ControlPlane, service: Service): void {
  const { name, namespace = '', uid } = service.metadata;
  const backends = plane.store
    .list<Pod>(pods, namespace)
    .filter(
      ({ metadata, status }) =>
        matchesLabels(service.spec.selector, metadata.labels) &&
        status.podIP !== undefined &&
        status.phase === 'Running',
    );
  const owner = {
    apiVersion: 'v1',
    kind: 'Service',
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
  const ports = (service.spec.ports ?? []).map((each) => ({
    ...(each.name === undefined ? {} : { name: each.name }),
    port: portOf(each.targetPort, backends[0]) ?? each.port,
    protocol: each.protocol ?? 'TCP',
  }));
  put(plane, endpoints, {
    metadata: { name, namespace },
    subsets: subsetsOf(backends, ports),
  });
  put(plane, slices, {
    metadata: {
      name: `${name}-${uid.slice(0, 5)}`,
      namespace,
      labels: {
        'kubernetes.io/service-name': name,
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      },
      ownerReferences: [owner],
    },
    addressType: 'IPv4',
    endpoints: backends.map(endpointOf),
    ports,
  });
}

/** A target port may be the name of a port of the container. */
function portOf(target: number | string | undefined, pod: Pod | undefined): number | undefined {
  if (typeof target === 'number') return target;
  return pod?.spec.containers.flatMap(({ ports = [] }) => ports).find(({ name }) => name === target)
    ?.containerPort;
}

const refOf = ({ metadata }: Pod) => ({
  kind: 'Pod',
  namespace: metadata.namespace,
  name: metadata.name,
  uid: metadata.uid,
});

const isEnding = ({ metadata }: Pod) => metadata.deletionTimestamp !== undefined;

function subsetsOf(backends: readonly Pod[], ports: readonly object[]): readonly object[] {
  const address = (pod: Pod) => ({
    ip: pod.status.podIP,
    nodeName: pod.spec.nodeName,
    targetRef: refOf(pod),
  });
  const those = backends.filter((pod) => !isEnding(pod));
  const ready = those.filter(isReady).map(address);
  const notReady = those.filter((pod) => !isReady(pod)).map(address);
  if (those.length === 0) return [];
  return [
    {
      ...(ready.length === 0 ? {} : { addresses: ready }),
      ...(notReady.length === 0 ? {} : { notReadyAddresses: notReady }),
      ports,
    },
  ];
}

function endpointOf(pod: Pod): NonNullable<EndpointSlice['endpoints']>[number] {
  const isServing = isReady(pod);
  return {
    addresses: [pod.status.podIP ?? ''],
    conditions: { ready: isServing && !isEnding(pod), serving: isServing, terminating: isEnding(pod) },
    ...(pod.spec.nodeName === undefined ? {} : { nodeName: pod.spec.nodeName }),
    targetRef: refOf(pod) as NonNullable<NonNullable<EndpointSlice['endpoints']>[number]['targetRef']>,
  };
}

function put({ registry, store }: ControlPlane, kind: Resource, object: SentObject): void {
  const { name = '', namespace } = object.metadata ?? {};
  if (store.get(kind, namespace, name) === undefined) registry.create(kind, object);
  else {
    registry.update<StoredObject>(kind, namespace, name, (current) => ({
      ...current,
      ...object,
      metadata: { ...current.metadata, ...object.metadata },
    }));
  }
}
