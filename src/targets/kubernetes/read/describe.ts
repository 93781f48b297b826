import { stringify } from 'yaml';
import { z } from 'zod';
import { count } from '../../../core/count.ts';
import type { Json } from '../../../core/tool-call.ts';
import type { SessionOptions } from '../../../tools/ports.ts';
import { more, withoutBreaks } from '../../format.ts';
import { type Cluster, orGone, type ResourceKind, resources } from '../cluster.ts';
import { eventLine } from '../describe.ts';
import type { KubernetesObject } from '../objects.ts';
import { summaryOf } from '../summary.ts';
import { shownValue } from '../template.ts';
import { inCare, kubernetesTool, namespaceName, namespaceOf, objectName } from '../tool.ts';
import { controllerOf } from '../workload.ts';
import { eventData, eventsOf } from './events.ts';
import { readableKinds } from './list.ts';

const MOST_LINES = 160;
const EVENT_LINES = 12;
const MOST_OWNERS = 5;
/** Of one value of a config map. */
const VALUE = 2_000;

/** One object. Data: `{ says, owners: [{ kind, name, says }], object, events: [event] }`; `owners`: from its own controller upwards. */
export const describeObject = kubernetesTool.read({
  name: 'kubernetes_describe',
  description:
    'One object with its owners, its specification and state, and its latest events: like kubectl describe. Values of environment variables and config maps that look like secrets are not shown. Secrets cannot be read.',
  kind: 'read',
  input: z.strictObject({ kind: z.enum(readableKinds), namespace: namespaceName, name: objectName }),
  timeoutMs: 15_000,
  rules: (context, input) => (resources[input.kind].isNamespaced ? inCare(context, input) : undefined),
  async run(context, { kind, namespace: given, name }) {
    const { cluster } = context.system;
    const { isNamespaced } = resources[kind];
    const where = isNamespaced ? { namespace: namespaceOf(context.system, given) } : {};
    const object = await cluster.get<KubernetesObject>({ kind, ...where, name }, context);
    const [owners, events] = await Promise.all([
      ownersOf(cluster, object, context),
      // Events of the whole cluster's objects are in the namespace "default", which need not be under care.
      where.namespace === undefined
        ? []
        : eventsOf(cluster, where.namespace, name, context).then(({ items }) => items),
    ]);
    const now = Date.now();
    const shown = shownObject(object, kind);
    const lines = stringify(shown, { lineWidth: 0, aliasDuplicateObjects: false }).trimEnd().split('\n');
    const latest = events.slice(-EVENT_LINES);
    return {
      text: [
        `${kind} ${name}: ${summaryOf(kind, object, now)}`,
        ...owners.map((owner) => `owned by ${owner.kind} ${owner.name}: ${owner.says}`),
        ...lines.slice(0, MOST_LINES).map(withoutBreaks),
        ...more(lines.length, MOST_LINES),
        ...(latest.length === 0 ? [] : ['Events:', ...latest.map((event) => eventLine(event, now))]),
      ].join('\n'),
      data: {
        says: summaryOf(kind, object, now),
        owners: owners.map((owner) => ({ ...owner })),
        object: shown,
        events: latest.map(eventData),
      },
    };
  },
});

interface Owner {
  readonly kind: string;
  readonly name: string;
  readonly says: string;
}

/** Its controller, the controller of that, and so on. */
async function ownersOf(
  cluster: Cluster,
  object: KubernetesObject,
  options: SessionOptions,
): Promise<readonly Owner[]> {
  const owners: Owner[] = [];
  let below: KubernetesObject = object;
  while (owners.length < MOST_OWNERS) {
    const owner = controllerOf(below);
    if (owner === undefined) break;
    const kind = readableKinds.find((each) => each === owner.kind.toLowerCase());
    const next =
      kind === undefined
        ? undefined
        : await orGone<KubernetesObject>(cluster, { kind, ...namespaceAs(below), name: owner.name }, options);
    owners.push({
      kind: owner.kind.toLowerCase(),
      name: owner.name,
      says: next === undefined || kind === undefined ? 'not read' : summaryOf(kind, next, Date.now()),
    });
    if (next === undefined) break;
    below = next;
  }
  return owners;
}

const namespaceAs = ({ metadata: { namespace } }: KubernetesObject) =>
  namespace === undefined ? {} : { namespace };

/** What only machines read, or says everything once more. */
const NOISE = new Set(['managedFields', 'kubectl.kubernetes.io/last-applied-configuration']);

/** An object as it may be shown: names are, values that may be secrets are not. */
function shownObject(object: KubernetesObject, kind: ResourceKind): Json {
  const given = object as unknown as { readonly [key: string]: Json };
  if (kind !== 'configmap') return shown(given, '');
  const {
    data = {},
    binaryData = {},
    ...rest
  } = given as {
    readonly data?: Readonly<Record<string, string>>;
    readonly binaryData?: Readonly<Record<string, string>>;
  } & { readonly [key: string]: Json };
  const values = Object.entries(data).map(([key, value]) => [key, clipped(shownValue(key, value))]);
  const files = Object.entries(binaryData).map(([key, value]) => [
    key,
    `(${count(value.length, 'character')} of base64)`,
  ]);
  return {
    ...(shown(rest, '') as { readonly [key: string]: Json }),
    data: Object.fromEntries([...values, ...files]) as Json,
  };
}

const clipped = (value: string): string =>
  value.length <= VALUE ? value : `${value.slice(0, VALUE)}… (+${value.length - VALUE} characters)`;

function shown(value: Json, name: string): Json {
  if (Array.isArray(value)) return value.map((each: Json) => shown(each, name));
  if (typeof value === 'string') return shownValue(name, value);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value as { readonly [key: string]: Json }).filter(
    ([key]) => !NOISE.has(key),
  );
  const own = (value as { readonly name?: Json }).name;
  return Object.fromEntries(
    // The value of an environment variable stands beside the name that says what it is.
    entries.map(([key, each]) => [key, shown(each, key === 'value' && typeof own === 'string' ? own : key)]),
  );
}
