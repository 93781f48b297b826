import type { ConfigMap, Container, Pod } from '../objects.ts';
import type { Store } from '../registry/store.ts';
import { resource } from '../resources.ts';

type Source = 'configmap' | 'secret';

const kinds = { configmap: resource('configmaps'), secret: resource('secrets') };
const titles = { configmap: 'ConfigMap', secret: 'Secret' };

/** What the environment of a container needs and the namespace does not have; null: all is there. */
export function missingEnvironment(
  store: Store,
  pod: Pod,
  { envFrom = [], env = [] }: Container,
): string | null {
  const namespace = pod.metadata.namespace ?? '';
  for (const { configMapRef, secretRef } of envFrom) {
    const missing =
      missingObject(store, namespace, 'configmap', configMapRef) ??
      missingObject(store, namespace, 'secret', secretRef);
    if (missing !== null) return missing;
  }
  for (const { valueFrom } of env) {
    const missing =
      missingKey(store, namespace, 'configmap', valueFrom?.configMapKeyRef) ??
      missingKey(store, namespace, 'secret', valueFrom?.secretKeyRef);
    if (missing !== null) return missing;
  }
  return null;
}

/** The same of its volumes; the kubelet says it per volume. */
export function missingVolume(store: Store, pod: Pod): string | null {
  for (const { name, configMap, secret } of pod.spec.volumes ?? []) {
    const namespace = pod.metadata.namespace ?? '';
    const missing =
      missingObject(store, namespace, 'configmap', configMap) ??
      missingObject(store, namespace, 'secret', secret && { ...secret, name: secret.secretName });
    if (missing !== null) return `MountVolume.SetUp failed for volume "${name}" : ${missing}`;
  }
  return null;
}

interface Reference {
  readonly name?: string | undefined;
  readonly optional?: boolean | undefined;
}

function missingObject(
  store: Store,
  namespace: string,
  source: Source,
  ref: Reference | undefined,
): string | null {
  if (ref?.name === undefined || ref.optional === true) return null;
  return store.get(kinds[source], namespace, ref.name) === undefined
    ? `${source} "${ref.name}" not found`
    : null;
}

function missingKey(
  store: Store,
  namespace: string,
  source: Source,
  ref: (Reference & { readonly key: string }) | undefined,
): string | null {
  if (ref?.name === undefined || ref.optional === true) return null;
  const missing = missingObject(store, namespace, source, ref);
  if (missing !== null) return missing;
  const { data = {} } = store.get(kinds[source], namespace, ref.name) as ConfigMap;
  return ref.key in data
    ? null
    : `couldn't find key ${ref.key} in ${titles[source]} ${namespace}/${ref.name}`;
}
