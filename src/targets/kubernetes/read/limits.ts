import { z } from 'zod';
import { measureAt } from '../../../core/measure.ts';
import { percent, withoutBreaks } from '../../format.ts';
import type { Autoscaler, DisruptionBudget, Quota } from '../objects.ts';
import { autoscalerText, budgetText, isAtMaximum, quotaUse } from '../summary.ts';
import { inCare, kubernetesTool, namespaceName, namespaceOf, objectName } from '../tool.ts';
import { selectorText } from '../workload.ts';

/** From here on a quota counts as full: what is left is too little for one more pod of most. */
const FULL = 0.95;

/**
 * What limits the workloads of a namespace. Data: `{ autoscalers: [{ name, workload, kind, current, min, max, at_max, says }], budgets:
 * [{ name, selects, allowed, healthy, needed, pods, says }], quotas: [{ name, resource, used, hard, percent, full }], at_max, full,
 * blocking }`. `blocking`: budgets that allow no disruption at all.
 */
export const readLimits = kubernetesTool.read({
  name: 'kubernetes_limits',
  description:
    'What limits a namespace: autoscalers (replicas now, allowed, whether they are at their maximum), disruption budgets (how many pods may be taken away), quotas (used of allowed).',
  kind: 'read',
  measures: [
    measureAt('full', {
      name: 'full_quotas',
      label: 'quotas that are used up',
      well: '{bound} are used up',
      unit: 'quotas',
      healthy: 'at_most',
      bound: 0,
    }),
    measureAt('at_max', {
      name: 'autoscalers_at_maximum',
      label: 'autoscalers at their maximum',
      well: '{bound} are at their maximum',
      unit: 'autoscalers',
      healthy: 'at_most',
      bound: 0,
      intermittent: true,
    }),
    measureAt('blocking', {
      name: 'blocking_budgets',
      label: 'disruption budgets that allow no disruption',
      well: '{bound} allow no disruption',
      unit: 'budgets',
      healthy: 'at_most',
      bound: 0,
    }),
  ],
  input: z.strictObject({
    namespace: namespaceName,
    name: objectName.optional().describe('Only the autoscaler, budget or quota of this name.'),
  }),
  timeoutMs: 15_000,
  rules: (context, input) => inCare(context, input),
  async run(context, { namespace: given, name }) {
    const { cluster } = context.system;
    const namespace = namespaceOf(context.system, given);
    const [scalers, disruptions, limits] = await Promise.all([
      cluster.list<Autoscaler>('horizontalpodautoscaler', { namespace }, context),
      cluster.list<DisruptionBudget>('poddisruptionbudget', { namespace }, context),
      cluster.list<Quota>('resourcequota', { namespace }, context),
    ]);
    const wanted = ({ metadata }: { readonly metadata: { readonly name: string } }) =>
      name === undefined || metadata.name === name;
    const autoscalers = scalers.items.filter(wanted).map(autoscalerData);
    const budgets = disruptions.items.filter(wanted).map(budgetData);
    const quotas = limits.items.filter(wanted).flatMap(quotaData);
    const lines = [
      ...autoscalers.map(({ name: which, says }) => `autoscaler ${which}: ${says}`),
      ...budgets.map(({ name: which, says }) => `disruption budget ${which}: ${says}`),
      ...quotas.map(
        (quota) =>
          `quota ${quota.name}: ${quota.resource} ${quota.used} of ${quota.hard} (${percent(quota.percent)})${quota.full ? ', used up' : ''}`,
      ),
    ];
    return {
      text:
        lines.map(withoutBreaks).join('\n') || `Nothing limits ${namespace}: no autoscaler, budget or quota.`,
      data: {
        autoscalers,
        budgets,
        quotas,
        at_max: autoscalers.filter(({ at_max }) => at_max).length,
        full: quotas.filter(({ full }) => full).length,
        blocking: budgets.filter(({ allowed, pods }) => allowed === 0 && pods > 0).length,
      },
    };
  },
});

const autoscalerData = (autoscaler: Autoscaler) => ({
  name: autoscaler.metadata.name,
  kind: autoscaler.spec.scaleTargetRef.kind.toLowerCase(),
  workload: autoscaler.spec.scaleTargetRef.name,
  current: autoscaler.status?.currentReplicas ?? 0,
  min: autoscaler.spec.minReplicas ?? 1,
  max: autoscaler.spec.maxReplicas,
  at_max: isAtMaximum(autoscaler),
  says: autoscalerText(autoscaler),
});

const budgetData = (budget: DisruptionBudget) => ({
  name: budget.metadata.name,
  selects: selectorText(budget.spec.selector),
  allowed: budget.status?.disruptionsAllowed ?? 0,
  healthy: budget.status?.currentHealthy ?? 0,
  needed: budget.status?.desiredHealthy ?? 0,
  pods: budget.status?.expectedPods ?? 0,
  says: budgetText(budget),
});

const quotaData = (quota: Quota) =>
  quotaUse(quota).map(({ share, ...use }) => ({
    name: quota.metadata.name,
    ...use,
    percent: share === null ? null : Math.round(100 * share),
    full: share !== null && share >= FULL,
  }));
