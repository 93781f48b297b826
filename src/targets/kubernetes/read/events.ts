import { z } from 'zod';
import { count } from '../../../core/count.ts';
import type { SessionOptions } from '../../../tools/ports.ts';
import { more } from '../../format.ts';
import type { Cluster } from '../cluster.ts';
import { eventLine, inOrder, lastSeen } from '../describe.ts';
import type { Event } from '../objects.ts';
import { inCare, kubernetesTool, namespaceName, namespaceOf, objectName } from '../tool.ts';

/** Events of a namespace. Data: `{ events: [{ at, type, reason, about, count, message }], total, complete, text }`, oldest first. */
export const listEvents = kubernetesTool.read({
  name: 'kubernetes_events',
  description:
    'What the cluster has told of a namespace, or of one object in it, in about the last hour: scheduling, image pulls, probes, restarts, evictions, scaling. Oldest first.',
  kind: 'read',
  input: z.strictObject({
    namespace: namespaceName,
    name: objectName.optional().describe('Only of the object of this name.'),
    warnings: z.boolean().default(false).describe('Only warnings.'),
    limit: z.number().int().min(1).max(200).default(40),
  }),
  timeoutMs: 15_000,
  rules: (context, input) => inCare(context, input),
  async run(context, { namespace, name, warnings, limit }) {
    const where = namespaceOf(context.system, namespace);
    const { items, isComplete } = await eventsOf(context.system.cluster, where, name, context);
    const found = items.filter(({ type }) => !warnings || type === 'Warning');
    const shown = found.slice(-limit);
    const now = Date.now();
    const lines = shown.map((event) => eventLine(event, now));
    return {
      text: [
        `${count(found.length, 'event')} of ${name ?? where}.${isComplete ? '' : ' There are more than were read.'}`,
        ...more(found.length, shown.length),
        ...lines,
      ].join('\n'),
      data: {
        events: shown.map(eventData),
        total: found.length,
        complete: isComplete,
        text: lines.join('\n'),
      },
    };
  },
});

export const eventData = (event: Event) => ({
  at: lastSeen(event),
  type: event.type ?? 'Normal',
  reason: event.reason ?? '',
  about: `${(event.involvedObject.kind ?? '').toLowerCase()}/${event.involvedObject.name ?? ''}`,
  count: event.series?.count ?? event.count ?? 1,
  message: (event.message ?? '').trim(),
});

/** Oldest first; of one object where a name is given. */
export async function eventsOf(
  cluster: Cluster,
  namespace: string,
  name: string | undefined,
  options: SessionOptions,
) {
  const fieldSelector = name === undefined ? {} : { fieldSelector: `involvedObject.name=${name}` };
  const { items, isComplete } = await cluster.list<Event>('event', { namespace, ...fieldSelector }, options);
  return { items: inOrder(items), isComplete };
}
