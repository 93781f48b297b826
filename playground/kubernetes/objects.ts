import type {
  CoreV1Event,
  V1ConfigMap,
  V1Container,
  V1ControllerRevision,
  V1CronJob,
  V1DaemonSet,
  V1Deployment,
  V1EndpointSlice,
  V1Job,
  V1LimitRange,
  V1Node,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodDisruptionBudget,
  V1PodTemplateSpec,
  V1ReplicaSet,
  V1ResourceQuota,
  V1Service,
  V1StatefulSet,
  V2HorizontalPodAutoscaler,
} from '@kubernetes/client-node';

/** A type of the client as it is on the wire: times are text. */
export type Wire<T> = T extends Date
  ? string
  : T extends readonly (infer Each)[]
    ? Wire<Each>[]
    : T extends object
      ? { [Field in keyof T]: Wire<T[Field]> }
      : T;

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface Metadata {
  name: string;
  generateName?: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  creationTimestamp: string;
  generation?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
}

/** An object as the server keeps it. What the store gives out is frozen; `structuredClone` makes it one's own. */
export interface StoredObject {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
}

/** The parts that a kind of objects always has once the server has filled in its defaults. */
type Of<T, Always extends keyof T = never> = Omit<Wire<T>, 'apiVersion' | 'kind' | 'metadata' | Always> &
  StoredObject & { [Field in Always]-?: Wire<Exclude<T[Field], undefined>> };

export type Container = Wire<V1Container>;
export type PodTemplate = Wire<V1PodTemplateSpec> & { metadata?: Partial<Metadata> };
export type Pod = Of<V1Pod, 'spec' | 'status'>;
export type Node = Of<V1Node, 'spec' | 'status'>;
export type ConfigMap = Of<V1ConfigMap>;
export type Service = Of<V1Service, 'spec'>;
export type EndpointSlice = Of<V1EndpointSlice>;
export type ResourceQuota = Of<V1ResourceQuota, 'spec'>;
export type LimitRange = Of<V1LimitRange, 'spec'>;
export type PersistentVolumeClaim = Of<V1PersistentVolumeClaim, 'spec'>;
export type Deployment = Of<V1Deployment, 'spec' | 'status'>;
export type ReplicaSet = Of<V1ReplicaSet, 'spec' | 'status'>;
export type StatefulSet = Of<V1StatefulSet, 'spec' | 'status'>;
export type DaemonSet = Of<V1DaemonSet, 'spec' | 'status'>;
export type ControllerRevision = Of<V1ControllerRevision>;
export type Job = Of<V1Job, 'spec' | 'status'>;
export type CronJob = Of<V1CronJob, 'spec' | 'status'>;
export type HorizontalPodAutoscaler = Of<V2HorizontalPodAutoscaler, 'spec'>;
export type PodDisruptionBudget = Of<V1PodDisruptionBudget, 'spec'>;
export type CoreEvent = Of<CoreV1Event>;

/** Seconds are all that the API tells of a time. */
export const timestamp = (ms: number = Date.now()): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

export const controllerOf = (object: StoredObject): OwnerReference | undefined =>
  object.metadata.ownerReferences?.find(({ controller }) => controller === true);

export const isControlledBy = (object: StoredObject, owner: StoredObject): boolean =>
  controllerOf(object)?.uid === owner.metadata.uid;
