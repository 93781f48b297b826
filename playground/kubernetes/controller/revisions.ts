import {
  type ControllerRevision,
  type DaemonSet,
  isControlledBy,
  type Pod,
  type StatefulSet,
} from '../objects.ts';
import { hashSuffix } from '../registry/safe-encode.ts';
import { resource } from '../resources.ts';
import type { ControlPlane } from './control-plane.ts';

const revisions = resource('controllerrevisions');
/** The label by which a pod tells of which revision it is. */
export const REVISION_LABEL = 'controller-revision-hash';

type Owner = StatefulSet | DaemonSet;

/** The revision of the owner's template: a new one, or an old one that is the newest again. */
export function currentRevision(plane: ControlPlane, owner: Owner): ControllerRevision {
  // A strategic merge patch that puts the template back: what `rollout undo` sends.
  const data = { spec: { template: { ...owner.spec.template, $patch: 'replace' } } };
  const hash = hashSuffix(data);
  const all = revisionsOf(plane, owner);
  const highest = all.at(-1)?.revision ?? 0;
  const known = all.find(({ metadata }) => metadata.labels?.[REVISION_LABEL] === hash);
  if (known?.revision === highest && known !== undefined) return known;
  const { apiVersion, kind, metadata } = owner;
  const { name, namespace = '', uid } = metadata;
  if (known !== undefined) {
    return plane.registry.update<ControllerRevision>(
      revisions,
      namespace,
      known.metadata.name,
      (current) => ({
        ...current,
        revision: highest + 1,
      }),
    );
  }
  return plane.registry.create<ControllerRevision>(revisions, {
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels: { ...owner.spec.template.metadata?.labels, [REVISION_LABEL]: hash },
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }],
    },
    data,
    revision: highest + 1,
  });
}

/** Oldest first. */
const revisionsOf = ({ store }: ControlPlane, owner: Owner) =>
  store
    .list<ControllerRevision>(revisions, owner.metadata.namespace)
    .filter((each) => isControlledBy(each, owner))
    .toSorted((a, b) => a.revision - b.revision);

export const hashOf = ({ metadata }: ControllerRevision | Pod): string =>
  metadata.labels?.[REVISION_LABEL] ?? '';

/** Forgets old revisions of which no pod is left. */
export function forgetRevisions(plane: ControlPlane, owner: Owner, pods: readonly Pod[]): void {
  const used = new Set(pods.map(hashOf));
  const idle = revisionsOf(plane, owner)
    .slice(0, -1)
    .filter((each) => !used.has(hashOf(each)));
  const limit = owner.spec.revisionHistoryLimit ?? 10;
  for (const { metadata } of idle.slice(0, Math.max(0, idle.length - limit))) {
    plane.registry.remove(revisions, metadata.namespace, metadata.name);
  }
}
