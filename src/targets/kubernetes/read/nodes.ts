import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { measureAt } from '../../../core/measure.ts';
import { more, withoutBreaks } from '../../format.ts';
import { nodeData } from '../describe.ts';
import type { Node, Pod } from '../objects.ts';
import { kubernetesTool, objectName } from '../tool.ts';

const MOST = 100;

/**
 * Nodes. Data: `{ nodes: [{ name, ready, ready_status, ready_reason, memory_pressure, disk_pressure, pid_pressure, network_unavailable,
 * unschedulable, troubles: [line], taints: [text], version, cpu, memory, pods }], total, not_ready, under_pressure, cordoned }`, those
 * in trouble first; `pods`: of the namespaces under care only.
 */
export const listNodes = kubernetesTool.read({
  name: 'kubernetes_nodes',
  description:
    'Nodes with their conditions (ready, memory, disk and process pressure), taints, whether they are cordoned, what they can hold, and how many pods under care run there. Those in trouble first.',
  kind: 'read',
  measures: [
    measureAt('not_ready', {
      name: 'nodes_not_ready',
      label: 'nodes that are not ready',
      well: '{bound} are not ready',
      unit: 'nodes',
      healthy: 'at_most',
      bound: 0,
      intermittent: true,
    }),
    measureAt('under_pressure', {
      name: 'nodes_under_pressure',
      label: 'nodes under pressure',
      well: '{bound} are under pressure',
      unit: 'nodes',
      healthy: 'at_most',
      bound: 0,
    }),
    measureAt('cordoned', {
      name: 'cordoned_nodes',
      label: 'nodes that take no new pods',
      well: '{bound} take no new pods',
      unit: 'nodes',
      healthy: 'at_most',
      bound: 0,
    }),
  ],
  input: z.strictObject({ node: objectName.optional().describe('Only this one.') }),
  timeoutMs: 15_000,
  async run(context, { node: name }) {
    const { cluster, namespaces } = context.system;
    const found =
      name === undefined
        ? await cluster.list<Node>('node', {}, context)
        : { items: [await cluster.get<Node>({ kind: 'node', name }, context)], isComplete: true };
    const pods = await Promise.all(
      namespaces.map((namespace) => cluster.list<Pod>('pod', { namespace }, context)),
    );
    const held = new Map<string, number>();
    for (const { spec } of pods.flatMap(({ items }) => items))
      if (spec.nodeName !== undefined) held.set(spec.nodeName, (held.get(spec.nodeName) ?? 0) + 1);
    const nodes = found.items
      .map((node) => ({
        ...nodeData(node),
        taints: (node.spec?.taints ?? []).map(
          ({ key, value, effect }) => `${key}${value ? `=${value}` : ''}:${effect}`,
        ),
        version: node.status?.nodeInfo?.kubeletVersion ?? '',
        cpu: node.status?.allocatable?.['cpu'] ?? '',
        memory: node.status?.allocatable?.['memory'] ?? '',
        pods: held.get(node.metadata.name) ?? 0,
      }))
      .toSorted((a, b) => b.troubles.length - a.troubles.length || (a.name < b.name ? -1 : 1));
    const number = (holds: (node: (typeof nodes)[number]) => boolean) => nodes.filter(holds).length;
    const notReady = number(({ ready }) => !ready);
    const pressed = number(
      ({ memory_pressure, disk_pressure, pid_pressure }) => memory_pressure || disk_pressure || pid_pressure,
    );
    const shown = nodes.slice(0, MOST);
    return {
      text: [
        `${count(nodes.length, 'node')}, ${notReady} not ready, ${pressed} under pressure.`,
        ...shown.map(({ name: which, troubles, taints, cpu, memory, pods: here }) =>
          withoutBreaks(
            `${which}: ${troubles.join('; ') || 'ready'}; ${count(here, 'pod')} under care; can hold ${cpu} CPUs, ${memory}${taints.length === 0 ? '' : `; taints ${taints.join(', ')}`}`,
          ),
        ),
        ...more(nodes.length, shown.length),
      ].join('\n'),
      data: {
        nodes: shown,
        total: nodes.length,
        not_ready: notReady,
        under_pressure: pressed,
        cordoned: number(({ unschedulable }) => unschedulable),
      },
    };
  },
});
