import { z } from 'zod';
import { bytes, more, percent, table } from '../../format.ts';
import type { NodeMetrics, Pod, PodMetrics } from '../objects.ts';
import { quantity } from '../quantity.ts';
import { inCare, kubernetesTool, namespaceName, namespaceOf } from '../tool.ts';

/** What pods and nodes use. Data: `{ pods: [{ name, cpu, memory_bytes, memory_limit, memory_percent }], nodes: [{ name, cpu, memory_bytes }] }`; CPUs; the largest first. */
export const topPods = kubernetesTool.read({
  name: 'kubernetes_top',
  description:
    'What the pods of a namespace and the nodes use now: CPUs and memory, of pods against their memory limit. Needs the metrics server. The largest first.',
  kind: 'read',
  input: z.strictObject({ namespace: namespaceName, limit: z.number().int().min(1).max(100).default(20) }),
  timeoutMs: 15_000,
  rules: (context, input) => inCare(context, input),
  async run(context, { namespace: given, limit }) {
    const { cluster } = context.system;
    const namespace = namespaceOf(context.system, given);
    const [used, pods, nodes] = await Promise.all([
      cluster.list<PodMetrics>('podmetrics', { namespace }, context),
      cluster.list<Pod>('pod', { namespace }, context),
      cluster.list<NodeMetrics>('nodemetrics', {}, context),
    ]);
    const limits = new Map(pods.items.map((pod) => [pod.metadata.name, memoryLimit(pod)]));
    const ofPods = used.items
      .map(({ metadata: { name }, containers }) => {
        const memory = sum(containers.map(({ usage }) => quantity(usage['memory'])));
        const limited = limits.get(name) ?? null;
        return {
          name,
          cpu: rounded(sum(containers.map(({ usage }) => quantity(usage['cpu'])))),
          memory_bytes: memory,
          memory_limit: limited,
          memory_percent: limited === null ? null : Math.round((100 * memory) / limited),
        };
      })
      .toSorted((a, b) => b.memory_bytes - a.memory_bytes);
    const ofNodes = nodes.items
      .map(({ metadata: { name }, usage }) => ({
        name,
        cpu: rounded(quantity(usage['cpu']) ?? 0),
        memory_bytes: quantity(usage['memory']) ?? 0,
      }))
      .toSorted((a, b) => b.memory_bytes - a.memory_bytes);
    const shown = ofPods.slice(0, limit);
    return {
      text: [
        ...table(
          ['pod', 'CPUs', 'memory', 'of its limit'],
          shown.map((pod) => [pod.name, pod.cpu, bytes(pod.memory_bytes), percent(pod.memory_percent)]),
        ),
        ...more(ofPods.length, shown.length),
        ...table(
          ['node', 'CPUs', 'memory'],
          ofNodes.slice(0, limit).map((node) => [node.name, node.cpu, bytes(node.memory_bytes)]),
        ),
        ...more(ofNodes.length, limit),
      ].join('\n'),
      data: { pods: shown, nodes: ofNodes.slice(0, limit) },
    };
  },
});

const sum = (numbers: readonly (number | null)[]): number =>
  numbers.reduce<number>((all, each) => all + (each ?? 0), 0);

const rounded = (value: number): number => Math.round(value * 1_000) / 1_000;

/** Bytes; null where one of its containers has none. */
function memoryLimit({ spec }: Pod): number | null {
  const limits = spec.containers.map(({ resources }) => quantity(resources?.limits?.['memory']));
  return limits.some((each) => each === null) ? null : sum(limits);
}
