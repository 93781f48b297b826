import { memoryOf } from '../controller/behaviours.ts';
import { type Container, type Node, type Pod, timestamp } from '../objects.ts';
import { notFound } from '../registry/api-error.ts';
import { quantity } from '../registry/quantity.ts';
import type { Store } from '../registry/store.ts';
import { groupVersionOf, resource } from '../resources.ts';
import type { ResourceRequest } from './api-context.ts';
import { filterOf } from './lists.ts';

/** What the metrics server tells: use of processor and memory, of what runs. */
export function answerMetrics(store: Store, { resource: kind, target, info }: ResourceRequest): object {
  const matches = filterOf(kind, info.query);
  const all =
    kind.kind === 'PodMetrics'
      ? store
          .list<Pod>(resource('pods', ''), target.namespace)
          .filter(isRunning)
          .filter(matches)
          .map(podMetrics)
      : store
          .list<Node>(resource('nodes', ''))
          .filter(matches)
          .map((node) => nodeMetrics(store, node));
  const apiVersion = groupVersionOf(kind);
  if (target.name === undefined) return { kind: `${kind.kind}List`, apiVersion, metadata: {}, items: all };
  const one = all.find(({ metadata }) => metadata.name === target.name);
  if (one === undefined) throw notFound(kind, target.name);
  return one;
}

const isRunning = ({ status }: Pod) => status.phase === 'Running';

function podMetrics({ metadata, spec }: Pod) {
  const { name, namespace, labels, creationTimestamp } = metadata;
  return {
    kind: 'PodMetrics',
    apiVersion: 'metrics.k8s.io/v1beta1',
    metadata: { name, namespace, labels, creationTimestamp },
    timestamp: timestamp(),
    window: '15s',
    containers: spec.containers.map((container) => ({ name: container.name, usage: usageOf(container) })),
  };
}

/** A container that works uses a fifth of the processor it asked for. */
const millicores = ({ resources }: Container) =>
  Math.round((quantity(resources?.requests?.['cpu']) || 0.01) * 200);

const usageOf = (container: Container) => ({
  cpu: `${millicores(container)}m`,
  memory: `${Math.round(memoryOf(container) / 1024)}Ki`,
});

const SYSTEM_MILLICORES = 80;
const SYSTEM_BYTES = 512 * 1024 ** 2;

function nodeMetrics(store: Store, { metadata }: Node) {
  const { name, labels, creationTimestamp } = metadata;
  const containers = store
    .list<Pod>(resource('pods', ''))
    .filter((pod) => isRunning(pod) && pod.spec.nodeName === name)
    .flatMap(({ spec }) => spec.containers);
  const cpu = containers.reduce((sum, each) => sum + millicores(each), SYSTEM_MILLICORES);
  const memory = containers.reduce((sum, each) => sum + memoryOf(each), SYSTEM_BYTES);
  return {
    kind: 'NodeMetrics',
    apiVersion: 'metrics.k8s.io/v1beta1',
    metadata: { name, labels, creationTimestamp },
    timestamp: timestamp(),
    window: '20s',
    usage: { cpu: `${cpu}m`, memory: `${Math.round(memory / 1024)}Ki` },
  };
}
