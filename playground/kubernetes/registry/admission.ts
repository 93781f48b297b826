import type { Container, LimitRange, Pod, ResourceQuota, StoredObject } from '../objects.ts';
import { type Resource, resource } from '../resources.ts';
import { forbidden, notFound, qualified } from './api-error.ts';
import { formatQuantity, quantity } from './quantity.ts';
import type { Store } from './store.ts';

export function checkNamespace(store: Store, kind: Resource, { metadata }: StoredObject): void {
  if (!kind.namespaced) return;
  const namespaces = resource('namespaces');
  const found = store.get(namespaces, null, metadata.namespace ?? '');
  if (found === undefined) throw notFound(namespaces, metadata.namespace ?? '');
  if (found.metadata.deletionTimestamp === undefined) return;
  throw forbidden(
    kind,
    metadata.name,
    `unable to create new content in namespace ${metadata.namespace} because it is being terminated`,
  );
}

/** Fills in what a limit range says of containers, and refuses what it does not allow. */
export function checkLimitRanges(store: Store, kind: Resource, object: StoredObject): void {
  if (kind.kind !== 'Pod') return;
  const pod = object as Pod;
  const limits = store
    .list<LimitRange>(resource('limitranges'), pod.metadata.namespace)
    .flatMap(({ spec }) => spec.limits as unknown as ContainerLimit[])
    .filter(({ type }) => type === 'Container');
  for (const limit of limits)
    for (const container of pod.spec.containers) checkLimit(kind, pod, container, limit);
}

interface ContainerLimit {
  readonly type: string;
  readonly default?: Record<string, string>;
  readonly defaultRequest?: Record<string, string>;
  readonly max?: Record<string, string>;
  readonly min?: Record<string, string>;
}

function checkLimit(kind: Resource, pod: Pod, container: Container, limit: ContainerLimit): void {
  const given = container.resources ?? {};
  const limits = { ...limit.default, ...given.limits };
  const requests = { ...limit.default, ...limit.defaultRequest, ...given.limits, ...given.requests };
  container.resources = {
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    ...(Object.keys(requests).length === 0 ? {} : { requests }),
  };
  for (const [name, most] of Object.entries(limit.max ?? {})) {
    const asked = limits[name];
    if (asked === undefined || quantity(asked) > quantity(most)) {
      const why = asked === undefined ? 'no limit is specified' : `limit is ${asked}`;
      throw forbidden(kind, pod.metadata.name, `maximum ${name} usage per Container is ${most}, but ${why}`);
    }
  }
  for (const [name, least] of Object.entries(limit.min ?? {})) {
    const asked = requests[name];
    if (asked === undefined || quantity(asked) < quantity(least)) {
      const why = asked === undefined ? 'no request is specified' : `request is ${asked}`;
      throw forbidden(kind, pod.metadata.name, `minimum ${name} usage per Container is ${least}, but ${why}`);
    }
  }
}

/** Refuses what would go beyond a quota of its namespace. */
export function checkQuotas(store: Store, kind: Resource, object: StoredObject): void {
  if (!kind.namespaced) return;
  for (const quota of store.list<ResourceQuota>(resource('resourcequotas'), object.metadata.namespace)) {
    checkQuota(store, kind, object, quota);
  }
}

function checkQuota(store: Store, kind: Resource, object: StoredObject, quota: ResourceQuota): void {
  const hard = quota.spec.hard ?? {};
  const { name, namespace = '' } = object.metadata;
  const used = quotaUse(store, namespace, Object.keys(hard));
  const asked = Object.keys(hard).flatMap((each) => {
    const amount = useOf(kind, object, each);
    return amount === undefined ? [] : [{ each, amount }];
  });
  if (kind.kind === 'Pod')
    checkSpecified(
      kind,
      object as Pod,
      quota,
      asked.map(({ each }) => each),
    );
  const over = asked.filter(
    ({ each, amount }) => amount > 0 && amount + (used[each] ?? 0) > quantity(hard[each]),
  );
  if (over.length === 0) return;
  const tell = (amount: (each: string) => string) =>
    over
      .map(({ each }) => `${each}=${amount(each)}`)
      .toSorted()
      .join(',');
  const requested = Object.fromEntries(over.map(({ each, amount }) => [each, amount]));
  throw forbidden(
    kind,
    name,
    `exceeded quota: ${quota.metadata.name}, ` +
      `requested: ${tell((each) => formatQuantity(each, requested[each] ?? 0))}, ` +
      `used: ${tell((each) => formatQuantity(each, used[each] ?? 0))}, ` +
      `limited: ${tell((each) => hard[each] ?? '')}`,
  );
}

/** A quota on compute resources demands that every container says what it needs. */
function checkSpecified(kind: Resource, pod: Pod, quota: ResourceQuota, names: readonly string[]): void {
  const missing = names
    .filter((each) => /^(requests\.|limits\.)?(cpu|memory)$/.test(each))
    .flatMap((each) => {
      const without = pod.spec.containers.filter((container) => amountOf(container, each) === undefined);
      return without.length === 0 ? [] : [`${each} for: ${without.map((one) => one.name).join(',')}`];
    });
  if (missing.length > 0) {
    throw forbidden(
      kind,
      pod.metadata.name,
      `failed quota: ${quota.metadata.name}: must specify ${missing.join('; ')}`,
    );
  }
}

/** What a namespace uses of the resources that a quota names. */
export function quotaUse(store: Store, namespace: string, names: readonly string[]): Record<string, number> {
  const used: Record<string, number> = Object.fromEntries(names.map((each) => [each, 0]));
  for (const name of names) {
    for (const kind of countedBy(name)) {
      for (const object of store.list(kind, namespace))
        used[name] = (used[name] ?? 0) + (useOf(kind, object, name) ?? 0);
    }
  }
  return used;
}

const countables = [
  'services',
  'configmaps',
  'secrets',
  'persistentvolumeclaims',
  'resourcequotas',
  'replicationcontrollers',
];

function countedBy(name: string): readonly Resource[] {
  if (name.startsWith('count/')) {
    const [plural = '', group = ''] = name.slice('count/'.length).split(/\.(.*)/);
    return [resource(plural, group)];
  }
  if (countables.includes(name)) return [resource(name, '')];
  return name === 'requests.storage' ? [resource('persistentvolumeclaims')] : [resource('pods', '')];
}

/** How much of a quota's resource an object takes; undefined: the resource is not about such objects. */
function useOf(kind: Resource, object: StoredObject, name: string): number | undefined {
  if (!countedBy(name).some((each) => qualified(each) === qualified(kind))) return undefined;
  if (name === 'requests.storage') {
    const claim = object as StoredObject & { spec: { resources?: { requests?: Record<string, string> } } };
    return quantity(claim.spec.resources?.requests?.['storage']);
  }
  if (name.startsWith('count/') || name === kind.plural)
    return kind.kind === 'Pod' && hasEnded(object as Pod) ? 0 : 1;
  const pod = object as Pod;
  if (hasEnded(pod)) return 0;
  return pod.spec.containers.reduce((sum, container) => sum + quantity(amountOf(container, name)), 0);
}

const hasEnded = ({ status }: Pod) => status.phase === 'Succeeded' || status.phase === 'Failed';

function amountOf({ resources }: Container, name: string): string | undefined {
  if (name.startsWith('limits.')) return resources?.limits?.[name.slice('limits.'.length)];
  return resources?.requests?.[name.replace('requests.', '')];
}
