import { z } from 'zod';
import { numberAt } from '../../core/measure.ts';
import type { UsualRead } from '../kind.ts';
import type { Pod } from './objects.ts';
import { isIll, podState } from './pod-state.ts';
import { kubernetesTool } from './tool.ts';

/** Data: `{ pods, ill_pods, pending, complete }` of the namespaces under care; `pending` are those that wait to be run. */
const podTotals = kubernetesTool.read({
  name: 'kubernetes_pod_totals',
  description: 'How many pods there are, are ill and wait to run.',
  kind: 'read',
  input: z.strictObject({}),
  timeoutMs: 20_000,
  async run(context) {
    const { cluster, namespaces } = context.system;
    const lists = await Promise.all(
      namespaces.map((namespace) => cluster.list<Pod>('pod', { namespace }, context)),
    );
    const now = Date.now();
    const pods = lists.flatMap(({ items }) => items).map((pod) => podState(pod, now));
    const data = {
      pods: pods.length,
      ill_pods: pods.filter(isIll).length,
      pending: pods.filter(({ trouble }) => PENDING.has(trouble)).length,
      complete: lists.every(({ isComplete }) => isComplete),
    };
    return { text: `${data.pods} pods, ${data.ill_pods} of them ill`, data };
  },
});

const PENDING: ReadonlySet<string> = new Set(['waiting', 'unschedulable', 'stuck_starting']);

const counted =
  (key: string): UsualRead['numbers'][number]['value'] =>
  (data) =>
    numberAt(data, 'complete') === 1 ? numberAt(data, key) : null;

/** What a cluster is like on an ordinary day. */
export const kubernetesUsual: readonly UsualRead[] = [
  {
    tool: podTotals,
    input: {},
    numbers: [
      { name: 'pods', label: 'pods', unit: 'pods', least: 3, value: counted('pods') },
      {
        name: 'ill_pods',
        label: 'pods in trouble',
        unit: 'pods',
        least: 0,
        onlyHigher: true,
        value: counted('ill_pods'),
      },
      {
        name: 'pending',
        label: 'pods waiting to run',
        unit: 'pods',
        least: 2,
        onlyHigher: true,
        value: counted('pending'),
      },
    ],
  },
];
