import type { Pod, PodDisruptionBudget, ReplicaSet, ResourceQuota, StoredObject } from '../objects.ts';
import { quotaUse } from '../registry/admission.ts';
import { formatQuantity } from '../registry/quantity.ts';
import { labelsOf, matchesSelector } from '../registry/selectors.ts';
import { resource } from '../resources.ts';
import type { Controller, ControlPlane } from './control-plane.ts';
import { isReady, withCondition } from './pod-state.ts';

const quotas = resource('resourcequotas');
const budgets = resource('poddisruptionbudgets');

/** Says how much of each quota is used, and how many pods each disruption budget can spare. */
export function createBudgetController(plane: ControlPlane): Controller {
  return () => {
    for (const quota of plane.store.list<ResourceQuota>(quotas)) countQuota(plane, quota);
    for (const budget of plane.store.list<PodDisruptionBudget>(budgets)) countBudget(plane, budget);
  };
}

function countQuota({ store, registry }: ControlPlane, quota: ResourceQuota): void {
  const hard = quota.spec.hard ?? {};
  const used = quotaUse(store, quota.metadata.namespace ?? '', Object.keys(hard));
  const status = {
    hard,
    used: Object.fromEntries(
      Object.entries(used).map(([name, amount]) => [name, formatQuantity(name, amount)]),
    ),
  };
  registry.setStatus<ResourceQuota>(quotas, quota, (current) => {
    current.status = status;
  });
}

function countBudget({ store, registry }: ControlPlane, budget: PodDisruptionBudget): void {
  const { namespace } = budget.metadata;
  const pods = store
    .list<Pod>(resource('pods', ''), namespace)
    .filter((pod) => matchesSelector(budget.spec.selector, labelsOf(pod)));
  const expected = expectedPods(store.list<ReplicaSet>(resource('replicasets'), namespace), pods);
  const healthy = pods.filter((pod) => isReady(pod) && pod.metadata.deletionTimestamp === undefined).length;
  const { minAvailable, maxUnavailable } = budget.spec;
  const amount = (value: number | string) =>
    typeof value === 'number' ? value : Math.ceil((expected * Number.parseInt(value, 10)) / 100);
  const desired = minAvailable === undefined ? expected - amount(maxUnavailable ?? 0) : amount(minAvailable);
  const allowed = expected === 0 ? 0 : Math.max(0, healthy - Math.max(0, desired));
  const condition = {
    type: 'DisruptionAllowed',
    status: allowed > 0 ? 'True' : 'False',
    reason: allowed > 0 ? 'SufficientPods' : 'InsufficientPods',
    message: '',
    observedGeneration: budget.metadata.generation ?? 1,
    lastTransitionTime: '',
  };
  registry.setStatus<PodDisruptionBudget>(budgets, budget, (current) => {
    current.status = {
      disruptionsAllowed: allowed,
      currentHealthy: healthy,
      desiredHealthy: Math.max(0, desired),
      expectedPods: expected,
      observedGeneration: current.metadata.generation ?? 1,
      conditions: withCondition(current.status?.conditions, condition),
    };
  });
}

/** What the owners want, so that a pod that is missing counts. */
function expectedPods(sets: readonly ReplicaSet[], pods: readonly StoredObject[]): number {
  const owners = new Set(
    pods.flatMap(({ metadata }) => metadata.ownerReferences ?? []).map(({ uid }) => uid),
  );
  const owned = sets.filter(({ metadata }) => owners.has(metadata.uid));
  if (owned.length === 0) return pods.length;
  return owned.reduce((sum, { spec }) => sum + (spec.replicas ?? 0), 0);
}
