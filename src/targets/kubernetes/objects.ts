/** What Sentry uses of the objects of the API (https://kubernetes.io/docs/reference/kubernetes-api/), as JSON has them. */

export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  /** RFC 3339. */
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFields[];
}

/** Who wrote which fields last, and when: https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management */
export interface ManagedFields {
  /** The program: `kubectl-edit`, `argocd-controller`. */
  readonly manager?: string;
  /** RFC 3339. */
  readonly time?: string;
  readonly subresource?: string;
  /** `{ "f:spec": { "f:template": { … } } }`. */
  readonly fieldsV1?: Readonly<Record<string, unknown>>;
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
}

export interface KubernetesObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Metadata;
}

/** A condition of a pod, a node, a workload or an autoscaler. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly lastUpdateTime?: string;
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

export type Quantities = Readonly<Record<string, string>>;

export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly configMapKeyRef?: KeyRef;
    readonly secretKeyRef?: KeyRef;
    readonly fieldRef?: { readonly fieldPath: string };
  };
}

interface KeyRef {
  readonly name: string;
  readonly key: string;
  readonly optional?: boolean;
}

export interface ContainerSpec {
  readonly name: string;
  readonly image?: string;
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly { readonly configMapRef?: { readonly name?: string } }[];
  readonly resources?: { readonly limits?: Quantities; readonly requests?: Quantities };
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
}

export interface PodSpec {
  readonly containers: readonly ContainerSpec[];
  readonly initContainers?: readonly ContainerSpec[];
  readonly volumes?: readonly {
    readonly configMap?: { readonly name?: string };
    readonly projected?: {
      readonly sources?: readonly { readonly configMap?: { readonly name?: string } }[];
    };
  }[];
  readonly nodeName?: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
}

export interface PodTemplate {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: PodSpec;
}

interface Terminated {
  readonly exitCode: number;
  readonly reason?: string;
  readonly message?: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
}

interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: string };
  readonly terminated?: Terminated;
}

export interface ContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
}

export interface Pod extends KubernetesObject {
  readonly spec: PodSpec;
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly podIP?: string;
    readonly startTime?: string;
    readonly conditions?: readonly Condition[];
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
  };
}

/** A Deployment, a StatefulSet, a DaemonSet or a ReplicaSet. */
export interface Workload extends KubernetesObject {
  readonly spec: {
    readonly replicas?: number;
    readonly paused?: boolean;
    readonly selector?: LabelSelector;
    readonly template: PodTemplate;
    readonly strategy?: { readonly type?: string };
    /** Of a StatefulSet or a DaemonSet. */
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly partition?: number };
    };
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
    readonly updateRevision?: string;
    readonly currentRevision?: string;
    /** Of a DaemonSet. */
    readonly desiredNumberScheduled?: number;
    readonly numberReady?: number;
    readonly updatedNumberScheduled?: number;
    readonly numberAvailable?: number;
    readonly conditions?: readonly Condition[];
  };
}

export interface CronJob extends KubernetesObject {
  readonly spec: {
    readonly schedule?: string;
    readonly suspend?: boolean;
    readonly jobTemplate?: { readonly spec?: { readonly template?: PodTemplate } };
  };
}

/** What a StatefulSet or a DaemonSet keeps of each revision. */
export interface ControllerRevision extends KubernetesObject {
  readonly revision: number;
  readonly data?: { readonly spec?: { readonly template?: PodTemplate } };
}

export interface Node extends KubernetesObject {
  readonly spec?: {
    readonly unschedulable?: boolean;
    readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly allocatable?: Quantities;
    readonly capacity?: Quantities;
    readonly nodeInfo?: { readonly kubeletVersion?: string };
  };
}

export interface Event extends KubernetesObject {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string };
  readonly involvedObject: { readonly kind?: string; readonly name?: string; readonly namespace?: string };
}

export interface Autoscaler extends KubernetesObject {
  readonly spec: {
    readonly scaleTargetRef: { readonly kind: string; readonly name: string };
    readonly minReplicas?: number;
    readonly maxReplicas: number;
  };
  readonly status?: {
    readonly currentReplicas?: number;
    readonly desiredReplicas?: number;
    readonly conditions?: readonly Condition[];
    readonly currentMetrics?: readonly Metric[];
  };
}

interface Metric {
  readonly type: string;
  readonly resource?: {
    readonly name: string;
    readonly current?: { readonly averageUtilization?: number; readonly averageValue?: string };
  };
}

export interface DisruptionBudget extends KubernetesObject {
  readonly spec: {
    readonly minAvailable?: number | string;
    readonly maxUnavailable?: number | string;
    readonly selector?: LabelSelector;
  };
  readonly status?: {
    readonly disruptionsAllowed?: number;
    readonly currentHealthy?: number;
    readonly desiredHealthy?: number;
    readonly expectedPods?: number;
  };
}

export interface Quota extends KubernetesObject {
  readonly spec?: { readonly hard?: Quantities };
  readonly status?: { readonly hard?: Quantities; readonly used?: Quantities };
}

export interface Service extends KubernetesObject {
  readonly spec: {
    readonly type?: string;
    readonly selector?: Readonly<Record<string, string>>;
    readonly ports?: readonly {
      readonly name?: string;
      readonly port: number;
      readonly targetPort?: number | string;
      readonly protocol?: string;
    }[];
  };
}

export interface Endpoints extends KubernetesObject {
  readonly subsets?: readonly {
    readonly addresses?: readonly { readonly ip: string; readonly targetRef?: { readonly name?: string } }[];
    readonly notReadyAddresses?: readonly {
      readonly ip: string;
      readonly targetRef?: { readonly name?: string };
    }[];
  }[];
}

export interface NetworkPolicy extends KubernetesObject {
  readonly spec: { readonly podSelector?: LabelSelector; readonly policyTypes?: readonly string[] };
}

export interface ConfigMap extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

export interface PodMetrics extends KubernetesObject {
  readonly window?: string;
  readonly containers: readonly { readonly name: string; readonly usage: Quantities }[];
}

export interface NodeMetrics extends KubernetesObject {
  readonly window?: string;
  readonly usage: Quantities;
}
