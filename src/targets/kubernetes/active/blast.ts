import { count } from '../../../core/count.ts';
import { messageOf, OpsError } from '../../../core/errors.ts';
import type { SessionOptions } from '../../../tools/ports.ts';
import type { Cluster, ResourceKind } from '../cluster.ts';
import type { DisruptionBudget, KubernetesObject, Service } from '../objects.ts';
import { budgetText } from '../summary.ts';
import { selects } from '../workload.ts';

/** Who feels it when pods of these labels are taken away. */
export interface Felt {
  /** A line each, for the card. */
  readonly lines: readonly string[];
  /** A sentence, empty when nobody is known to. */
  readonly says: string;
  /** The budgets that allow none of them to be taken away now. */
  readonly blocking: readonly string[];
}

export async function feltBy(
  cluster: Cluster,
  namespace: string,
  labels: Readonly<Record<string, string>>,
  options: SessionOptions,
): Promise<Felt> {
  const [services, budgets] = await Promise.all([
    orRefused<Service>(cluster, 'service', namespace, options),
    orRefused<DisruptionBudget>(cluster, 'poddisruptionbudget', namespace, options),
  ]);
  const senders = services.items
    .filter(
      ({ spec: { selector = {} } }) =>
        Object.keys(selector).length > 0 && selects({ matchLabels: selector }, labels),
    )
    .map(({ metadata }) => metadata.name);
  const own = budgets.items.filter(({ spec }) => selects(spec.selector ?? {}, labels));
  return {
    lines: [
      ...(senders.length === 0
        ? []
        : [`${count(senders.length, 'service')} send to it: ${senders.join(', ')}`]),
      ...own.map((budget) => `disruption budget ${budget.metadata.name} ${budgetText(budget)}`),
      ...[services, budgets].flatMap(({ refused }) => (refused === null ? [] : [`not known: ${refused}`])),
    ],
    says: senders.length === 0 ? '' : `Whoever uses ${senders.join(', ')} may feel it.`,
    blocking: own
      .filter(({ status }) => (status?.disruptionsAllowed ?? 0) === 0)
      .map(({ metadata }) => metadata.name),
  };
}

/** The card says when Sentry may not know who feels it; the change may still be proposed. */
async function orRefused<T extends KubernetesObject>(
  cluster: Cluster,
  kind: ResourceKind,
  namespace: string,
  options: SessionOptions,
) {
  try {
    return { ...(await cluster.list<T>(kind, { namespace }, options)), refused: null };
  } catch (error) {
    if (error instanceof OpsError && error.code === 'KUBERNETES_FORBIDDEN')
      return { items: [], refused: messageOf(error) };
    throw error;
  }
}
