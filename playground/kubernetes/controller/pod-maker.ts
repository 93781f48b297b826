import type { Metadata, Pod, PodTemplate, StoredObject } from '../objects.ts';
import { ApiError } from '../registry/api-error.ts';
import { resource } from '../resources.ts';
import type { ControlPlane } from './control-plane.ts';

const pods = resource('pods', '');
/** After a refused create, each next one waits twice as long. */
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;

export interface PodOwner extends StoredObject {
  spec: { template?: PodTemplate | undefined };
}

export interface PodWish {
  readonly name?: string;
  readonly labels?: Record<string, string>;
  readonly spec?: Partial<Pod['spec']>;
}

/** What a controller says on its owner about a pod that it has created, and about one that was refused. */
interface Sayings {
  readonly created: (pod: string, owner: Metadata) => string;
  readonly refused: (pod: string, owner: Metadata, why: string) => string;
}

const sayings: Sayings = {
  created: (pod) => `Created pod: ${pod}`,
  refused: (_pod, _owner, why) => `Error creating: ${why}`,
};

interface Refusal {
  readonly message: string;
  readonly waitMs: number;
  readonly retryAt: number;
}

/** Creates pods of an owner's template. When one is refused, by a quota for example, it waits before it tries again. */
export interface PodMaker {
  /** False: refused, or it is too early to try again. */
  make(owner: PodOwner, wish?: PodWish): boolean;
  /** Why the last pod was refused. */
  refusal(owner: StoredObject): string | undefined;
  /** The owner needs no more pods: what was refused does not matter any longer. */
  forget(owner: StoredObject): void;
}

export function createPodMaker(plane: ControlPlane, component: string, says: Sayings = sayings): PodMaker {
  const refusals = new Map<string, Refusal>();
  return {
    make(owner, wish = {}) {
      const { uid } = owner.metadata;
      const last = refusals.get(uid);
      if (last !== undefined && plane.now() < last.retryAt) return false;
      try {
        const { name } = createPod(plane, owner, wish).metadata;
        plane.events.normal({ component }, owner, 'SuccessfulCreate', says.created(name, owner.metadata));
        refusals.delete(uid);
        return true;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        const why = says.refused(wish.name ?? '', owner.metadata, error.message);
        plane.events.warning({ component }, owner, 'FailedCreate', why);
        const waitMs = Math.min((last?.waitMs ?? FIRST_RETRY_MS / 2) * 2, LAST_RETRY_MS);
        const retryAt = plane.now() + waitMs;
        refusals.set(uid, { message: error.message, waitMs, retryAt });
        plane.wake(retryAt);
        return false;
      }
    },
    refusal: ({ metadata }) => refusals.get(metadata.uid)?.message,
    forget: ({ metadata }) => void refusals.delete(metadata.uid),
  };
}

function createPod({ registry }: ControlPlane, owner: PodOwner, wish: PodWish): Pod {
  const { metadata = {}, spec = { containers: [] } } = structuredClone(owner.spec.template) ?? {};
  const { apiVersion, kind } = owner;
  const { name, uid, namespace = '' } = owner.metadata;
  return registry.create<Pod>(pods, {
    metadata: {
      ...(wish.name === undefined ? { generateName: `${name}-` } : { name: wish.name }),
      namespace,
      labels: { ...metadata.labels, ...wish.labels },
      ...(metadata.annotations === undefined ? {} : { annotations: metadata.annotations }),
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }],
    },
    spec: { ...spec, ...wish.spec },
  });
}
