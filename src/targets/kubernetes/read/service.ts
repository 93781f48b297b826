import { z } from 'zod';
import { count } from '../../../core/count.ts';
import { OpsError } from '../../../core/errors.ts';
import { measureAt } from '../../../core/measure.ts';
import { more, withoutBreaks } from '../../format.ts';
import { podLine } from '../describe.ts';
import type { Endpoints, NetworkPolicy, Pod, Service } from '../objects.ts';
import { podState } from '../pod-state.ts';
import { addressesOf } from '../summary.ts';
import { inCare, kubernetesTool, namespaceName, namespaceOf, objectName } from '../tool.ts';
import { selectorText, selects } from '../workload.ts';

const MOST_PODS = 20;

/**
 * A service and what stands behind it. Data: `{ name, selector, ports: [{ port, target }], ready, not_ready, pods: [pod], selected,
 * similar: [{ name, missing: [label] }], unknown_ports: [text], policies: [name], says }`. `similar`: pods that have some of the labels it
 * selects by, or its name, and not all; `unknown_ports`: target ports that no container of the selected pods names; `policies`: those that apply
 * to the selected pods.
 */
export const readService = kubernetesTool.read({
  name: 'kubernetes_service',
  description:
    'A service and what stands behind it: its selector and ports, the pods it selects, how many of them are ready to be sent to, pods it narrowly misses, and the network policies that apply to them. For a service that does not answer.',
  kind: 'read',
  measures: [
    measureAt('ready', {
      name: 'ready_backends',
      label: 'pods that the service can send to',
      well: 'the service can send to {bound}',
      unit: 'pods',
      healthy: 'at_least',
      bound: 1,
      intermittent: true,
    }),
  ],
  input: z.strictObject({ namespace: namespaceName, service: objectName }),
  timeoutMs: 15_000,
  rules: (context, input) => inCare(context, input),
  async run(context, { namespace: given, service: name }) {
    const { cluster } = context.system;
    const namespace = namespaceOf(context.system, given);
    const [service, endpoints, all, policies] = await Promise.all([
      cluster.get<Service>({ kind: 'service', namespace, name }, context),
      cluster.get<Endpoints>({ kind: 'endpoints', namespace, name }, context).catch(noneYet),
      cluster.list<Pod>('pod', { namespace }, context),
      cluster.list<NetworkPolicy>('networkpolicy', { namespace }, context),
    ]);
    const now = Date.now();
    const selector = service.spec.selector ?? {};
    const hasSelector = Object.keys(selector).length > 0;
    const selected = all.items.filter(
      ({ metadata }) => hasSelector && selects({ matchLabels: selector }, metadata.labels),
    );
    const { ready, notReady } = addressesOf(endpoints);
    const similar = hasSelector && selected.length === 0 ? similarTo(name, selector, all.items) : [];
    const unknownPorts = selected.length === 0 ? [] : portsWithoutContainer(service, selected);
    const applying = policies.items
      .filter(({ spec }) => selected.some(({ metadata }) => selects(spec.podSelector ?? {}, metadata.labels)))
      .map(({ metadata }) => metadata.name);
    const pods = selected.map((pod) => podState(pod, now));
    const says = `service ${name}: ${count(ready.length, 'ready backend')}, ${notReady.length} not ready; it selects ${hasSelector ? `${selectorText({ matchLabels: selector })}, which ${count(selected.length, 'pod')} ${selected.length === 1 ? 'has' : 'have'}` : 'no pods: its endpoints are made by somebody else'}`;
    return {
      text: [
        says,
        ...unknownPorts.map((port) => `No container of its pods has a port called ${port}.`),
        ...similar.map((pod) => `${pod.name} has some of these labels, and not ${pod.missing.join(', ')}`),
        ...pods.slice(0, MOST_PODS).map(podLine),
        ...more(pods.length, MOST_PODS),
        ...(applying.length === 0 ? [] : [`network policies that apply: ${applying.join(', ')}`]),
      ]
        .map(withoutBreaks)
        .join('\n'),
      data: {
        name,
        selector,
        ports: (service.spec.ports ?? []).map(({ port, targetPort }) => ({
          port,
          target: targetPort ?? port,
        })),
        ready: ready.length,
        not_ready: notReady.length,
        pods,
        selected: selected.length,
        similar,
        unknown_ports: unknownPorts,
        policies: applying,
        says,
      },
    };
  },
});

/** A service that was just made has no endpoints yet. */
function noneYet(error: unknown): Endpoints {
  if (!(error instanceof OpsError && error.code === 'KUBERNETES_NOT_FOUND')) throw error;
  return { metadata: { name: '', uid: '', resourceVersion: '', creationTimestamp: '' } };
}

/** Pods that narrowly miss it: with some of its labels, or called like it. The nearest first. */
function similarTo(service: string, selector: Readonly<Record<string, string>>, pods: readonly Pod[]) {
  const wanted = Object.entries(selector);
  return pods
    .map(({ metadata: { name, labels = {} } }) => ({
      name,
      missing: wanted
        .filter(([key, value]) => labels[key] !== value)
        .map(
          ([key, value]) => `${key}=${value}${labels[key] === undefined ? '' : ` (it has ${labels[key]})`}`,
        ),
    }))
    .filter(({ name, missing }) => missing.length < wanted.length || name.startsWith(`${service}-`))
    .toSorted((a, b) => a.missing.length - b.missing.length)
    .slice(0, 5);
}

/** Target ports by name that no container declares: nothing is sent there. */
function portsWithoutContainer({ spec }: Service, pods: readonly Pod[]): readonly string[] {
  const names = new Set(
    pods.flatMap((pod) => pod.spec.containers.flatMap(({ ports = [] }) => ports.map(({ name }) => name))),
  );
  return (spec.ports ?? []).flatMap(({ targetPort }) =>
    typeof targetPort === 'string' && !names.has(targetPort) ? [targetPort] : [],
  );
}
