import { z } from 'zod';
import { OpsError } from '../../../core/errors.ts';
import { age, table } from '../../format.ts';
import { type ResourceKind, resources } from '../cluster.ts';
import type { KubernetesObject } from '../objects.ts';
import { secondsSince } from '../pod-state.ts';
import { summaryOf } from '../summary.ts';
import { inCare, kubernetesTool, namespaceName, namespaceOf, objectName } from '../tool.ts';

/** What may be listed and described: not numbers of use, which `kubernetes_top` has, nor other namespaces. */
export const readableKinds = (Object.keys(resources) as ResourceKind[]).filter(
  (kind) => !['podmetrics', 'nodemetrics', 'namespace', 'event'].includes(kind),
) as [ResourceKind, ...ResourceKind[]];

/** Objects of one kind. Data: `{ items: [{ name, uid, age_seconds, says, labels }], count, next }`. */
export const listObjects = kubernetesTool.read({
  name: 'kubernetes_list',
  description:
    'The objects of one kind in a namespace, or the nodes of the cluster, with a line about each: like kubectl get. Secrets cannot be read. next is the token of the next page, for after.',
  kind: 'read',
  input: z.strictObject({
    kind: z.enum(readableKinds),
    namespace: namespaceName,
    name: objectName.optional().describe('Only the object of this name.'),
    selector: z
      .string()
      .regex(/^[\w./,!=() -]{1,300}$/, 'expected a label selector, like app=web,tier!=cache')
      .optional()
      .describe('A label selector.'),
    limit: z.number().int().min(1).max(200).default(50),
    after: z
      .string()
      .regex(/^[\w+/=.-]{1,4000}$/, 'expected the token that "next" of the page before has')
      .optional(),
  }),
  timeoutMs: 15_000,
  rules: (context, input) => (resources[input.kind].isNamespaced ? inCare(context, input) : undefined),
  async run(context, { kind, namespace, name, selector, limit, after }) {
    const { cluster } = context.system;
    const where = resources[kind].isNamespaced ? { namespace: namespaceOf(context.system, namespace) } : {};
    const wanted = {
      ...where,
      limit,
      ...(selector === undefined ? {} : { labelSelector: selector }),
      ...(name === undefined ? {} : { fieldSelector: `metadata.name=${name}` }),
    };
    let hasExpired = false;
    const page = await cluster
      .page<KubernetesObject>(kind, { ...wanted, after }, context)
      .catch((error: unknown) => {
        if (after === undefined || !(error instanceof OpsError && error.code === 'KUBERNETES_GONE'))
          throw error;
        hasExpired = true;
        return cluster.page<KubernetesObject>(kind, wanted, context);
      });
    const now = Date.now();
    const items = page.items.map((object) => ({
      name: object.metadata.name,
      uid: object.metadata.uid,
      age_seconds: secondsSince(object.metadata.creationTimestamp, now),
      says: summaryOf(kind, object, now),
      labels: { ...object.metadata.labels },
    }));
    return {
      text: [
        `${items.length} ${resources[kind].plural}${hasExpired ? ': the page had expired, so this is the first one again' : ''}.${page.next === null ? '' : ' There are more.'}`,
        ...table(
          ['name', 'age', 'state'],
          items.map(({ name, age_seconds, says }) => [name, age(age_seconds), says]),
        ),
        ...(page.next === null ? [] : [`next: ${page.next}`]),
      ].join('\n'),
      data: { items, count: items.length, next: page.next },
    };
  },
});
