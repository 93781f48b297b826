import type { PersistentVolumeClaim, StoredObject } from '../objects.ts';
import { resource } from '../resources.ts';
import type { Controller, ControlPlane } from './control-plane.ts';

const claims = resource('persistentvolumeclaims');
const volumes = resource('persistentvolumes');
const source = { component: 'persistentvolume-controller' };

/** Gives a claim a volume of its storage class, or says why there is none. */
export function createVolumeController(plane: ControlPlane): Controller {
  // Each refusal is told once, not with every pass.
  const told = new Set<string>();
  return () => {
    for (const claim of plane.store.list<PersistentVolumeClaim>(claims)) {
      if (claim.status?.phase === 'Bound' || bind(plane, claim) || told.has(claim.metadata.uid)) continue;
      told.add(claim.metadata.uid);
      refuse(plane, claim);
    }
  };
}

/** False: there is no such storage class. */
function bind(plane: ControlPlane, claim: PersistentVolumeClaim): boolean {
  const className = claim.spec.storageClassName ?? '';
  if (plane.store.get(resource('storageclasses'), null, className) === undefined) return false;
  const { name, namespace = '', uid } = claim.metadata;
  const capacity = { storage: claim.spec.resources?.requests?.['storage'] ?? '1Gi' };
  const volume = `pvc-${uid}`;
  const { accessModes = ['ReadWriteOnce'] } = claim.spec;
  if (plane.store.get(volumes, null, volume) === undefined) {
    plane.registry.create<StoredObject>(volumes, {
      metadata: { name: volume },
      spec: {
        capacity,
        accessModes,
        persistentVolumeReclaimPolicy: 'Delete',
        storageClassName: className,
        claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid },
      },
      status: { phase: 'Bound' },
    });
    plane.events.normal(source, claim, 'ProvisioningSucceeded', `Successfully provisioned volume ${volume}`);
  }
  const bound = plane.registry.update<PersistentVolumeClaim>(claims, namespace, name, (current) => ({
    ...current,
    spec: { ...current.spec, volumeName: volume },
  }));
  plane.registry.setStatus<PersistentVolumeClaim>(claims, bound, (current) => {
    current.status = { phase: 'Bound', accessModes, capacity };
  });
  return true;
}

function refuse(plane: ControlPlane, claim: PersistentVolumeClaim): void {
  const className = claim.spec.storageClassName ?? '';
  if (className === '') {
    const message = 'no persistent volumes available for this claim and no storage class is set';
    plane.events.normal(source, claim, 'FailedBinding', message);
  } else {
    const message = `storageclass.storage.k8s.io "${className}" not found`;
    plane.events.warning(source, claim, 'ProvisioningFailed', message);
  }
}
