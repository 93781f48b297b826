import type { Pod, PodDisruptionBudget } from '../objects.ts';
import { ApiError } from '../registry/api-error.ts';
import type { DeleteOptions } from '../registry/registry.ts';
import { labelsOf, matchesSelector } from '../registry/selectors.ts';
import { resource } from '../resources.ts';
import { type Answer, type ApiServices, created, type ResourceRequest } from './api-context.ts';
import { bodyOf, found } from './objects-api.ts';

type SentOptions = Omit<DeleteOptions, 'dryRun'> & { readonly dryRun?: readonly string[] };

const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

/** `POST …/eviction`: a delete that asks the disruption budgets first. */
export function evict(api: ApiServices, request: ResourceRequest): Answer {
  const pod = found(api, request) as Pod;
  const { metadata } = pod;
  const { deleteOptions = {} } = bodyOf(request) as { deleteOptions?: SentOptions };
  const budgets = resource('poddisruptionbudgets');
  const budget = api.store
    .list<PodDisruptionBudget>(budgets, metadata.namespace)
    .find(({ spec }) => matchesSelector(spec.selector, labelsOf(pod)));
  if (budget !== undefined && (budget.status?.disruptionsAllowed ?? 0) <= 0) {
    const { desiredHealthy = 0, currentHealthy = 0 } = budget.status ?? {};
    throw new ApiError(
      429,
      'TooManyRequests',
      "Cannot evict pod as it would violate the pod's disruption budget.",
      {
        causes: [
          {
            reason: 'DisruptionBudget',
            message: `The disruption budget ${budget.metadata.name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`,
            field: '',
          },
        ],
      },
    );
  }
  const { dryRun = [], ...rest } = deleteOptions;
  const options = { ...rest, dryRun: request.dryRun || dryRun.includes('All') };
  api.registry.remove(request.resource, metadata.namespace, metadata.name, options);
  return created(success);
}

/** `POST …/binding`: puts the pod on a node, as a scheduler does. */
export function bind(api: ApiServices, request: ResourceRequest): Answer {
  const { metadata } = found(api, request);
  const { target } = bodyOf(request) as { target?: { name?: string } };
  bindPod(api, metadata.namespace ?? '', metadata.name, target?.name ?? '');
  return created(success);
}

export function bindPod(
  { store }: Pick<ApiServices, 'store'>,
  namespace: string,
  name: string,
  node: string,
): Pod {
  const pods = resource('pods', '');
  const pod = structuredClone(store.get(pods, namespace, name)) as Pod;
  pod.spec.nodeName = node;
  const at = new Date().toISOString().replace(/\.\d+/, '');
  pod.status.conditions = [
    ...(pod.status.conditions ?? []).filter(({ type }) => type !== 'PodScheduled'),
    { type: 'PodScheduled', status: 'True', lastTransitionTime: at },
  ];
  return store.put(pods, pod);
}
