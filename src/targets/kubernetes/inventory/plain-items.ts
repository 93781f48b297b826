import { canonicalJson } from '../../../core/canonical-json.ts';
import type { ChangeKind } from '../../../core/change.ts';
import type { InventoryItem } from '../../../core/inventory.ts';
import type { Json } from '../../../core/tool-call.ts';
import { digestOf, namesValue, shortName, shortValue } from '../../inventory-parts.ts';
import type { ResourceKind } from '../cluster.ts';
import type { Autoscaler, ConfigMap, KubernetesObject, Quota } from '../objects.ts';
import { lastWrite } from './managed-fields.ts';
import { objectsOf } from './workload-items.ts';

/** An object that is told as one: what of it counts, and what is shown of that. */
interface Plain {
  readonly called: string;
  readonly kind: ChangeKind;
  /** The field that counts. */
  readonly field: 'data' | 'spec';
  readonly value: (object: never) => string;
}

const digestOfSpec = ({ spec }: { readonly spec?: unknown }): string =>
  digestOf(canonicalJson((spec ?? null) as Json));

const plain = {
  configmap: {
    called: 'config map',
    kind: 'config',
    field: 'data',
    value({ data = {}, binaryData = {} }: ConfigMap) {
      const content = digestOf(canonicalJson({ data, binaryData }));
      return `${namesValue([...Object.keys(data), ...Object.keys(binaryData)])} (${content})`;
    },
  },
  horizontalpodautoscaler: {
    called: 'autoscaler',
    kind: 'config',
    field: 'spec',
    value: ({ spec }: Autoscaler) =>
      `${spec.minReplicas ?? 1} to ${spec.maxReplicas} replicas (${digestOfSpec({ spec })})`,
  },
  resourcequota: {
    called: 'quota',
    kind: 'config',
    field: 'spec',
    value: ({ spec }: Quota) =>
      namesValue(Object.entries(spec?.hard ?? {}).map(([resource, most]) => `${resource} ${most}`)),
  },
  limitrange: { called: 'limit range', kind: 'config', field: 'spec', value: digestOfSpec },
  service: { called: 'service', kind: 'config', field: 'spec', value: digestOfSpec },
  ingress: { called: 'ingress', kind: 'config', field: 'spec', value: digestOfSpec },
  networkpolicy: { called: 'network policy', kind: 'config', field: 'spec', value: digestOfSpec },
} as const satisfies Partial<Record<ResourceKind, Plain>>;

export type PlainKind = keyof typeof plain;
export const plainKinds = Object.keys(plain) as readonly PlainKind[];

/** `users`: names of what it configures. */
export function plainItem(
  kind: PlainKind,
  object: KubernetesObject,
  part: string,
  users: readonly string[],
): InventoryItem {
  const { called, kind: changeKind, field, value }: Plain = plain[kind];
  const { name } = object.metadata;
  const { since, by } = lastWrite(object, field);
  return {
    part,
    key: `${kind} ${name}`,
    name: `${called} ${shortName(name)}`,
    kind: changeKind,
    value: shortValue(value(object as never)),
    objects: [...new Set([...objectsOf(object), ...users])],
    ...(since === undefined ? {} : { since }),
    ...(by === undefined ? {} : { by: shortName(by) }),
    mayComeAndGo: true,
    told: { came: 'was created', went: 'was deleted' },
  };
}
