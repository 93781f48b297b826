import { isDeepStrictEqual } from 'node:util';
import type { StoredObject } from '../objects.ts';
import type { Resource } from '../resources.ts';
import { withDefaults } from './defaults.ts';

export type Loose = StoredObject & Record<string, unknown>;

/** Kinds whose `metadata.generation` counts the changes of their spec. */
const counted = new Set([
  'Deployment',
  'ReplicaSet',
  'StatefulSet',
  'DaemonSet',
  'ReplicationController',
  'Job',
  'CronJob',
  'PodDisruptionBudget',
  'NetworkPolicy',
  'Ingress',
]);

/** Where its generations are counted, the first one. */
export const firstGeneration = ({ kind }: Resource): { generation?: number } =>
  counted.has(kind) ? { generation: 1 } : {};

/** Only the half of the object that this write is about; what the server alone writes stays. */
export function merged(
  resource: Resource,
  current: Loose,
  sent: Loose,
  subresource: 'status' | undefined,
): Loose {
  const { uid, creationTimestamp, resourceVersion, deletionTimestamp, deletionGracePeriodSeconds } =
    current.metadata;
  const metadata = {
    ...sent.metadata,
    ...(current.metadata.generation === undefined ? {} : { generation: current.metadata.generation }),
    name: current.metadata.name,
    ...(current.metadata.namespace === undefined ? {} : { namespace: current.metadata.namespace }),
    uid,
    creationTimestamp,
    resourceVersion,
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    ...(deletionGracePeriodSeconds === undefined ? {} : { deletionGracePeriodSeconds }),
  };
  if (subresource === 'status') return { ...current, metadata, status: sent['status'] };
  const next = withDefaults(resource, {
    ...sent,
    apiVersion: current.apiVersion,
    kind: current.kind,
    metadata,
  }) as Loose;
  if (resource.subresources.includes('status')) {
    if (current['status'] === undefined) delete next['status'];
    else next['status'] = current['status'];
  }
  if (counted.has(resource.kind) && !isDeepStrictEqual(next['spec'], current['spec'])) {
    next.metadata.generation = (current.metadata.generation ?? 0) + 1;
  }
  return next;
}

/** A copy. To the server, `null` is the same as nothing: clients in Go write it for times that are not set. */
export function withoutNulls<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutNulls) as T;
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([, each]) => each !== null && each !== undefined);
  return Object.fromEntries(fields.map(([key, each]) => [key, withoutNulls(each)])) as T;
}
