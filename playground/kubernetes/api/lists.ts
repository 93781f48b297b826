import type { StoredObject } from '../objects.ts';
import { badRequest, expired } from '../registry/api-error.ts';
import { labelsOf, parseFieldSelector, parseLabelSelector } from '../registry/selectors.ts';
import type { Store } from '../registry/store.ts';
import { groupVersionOf, type Resource } from '../resources.ts';

export interface ObjectList {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly StoredObject[];
}

/** What a list or a watch is narrowed to. */
export function filterOf(resource: Resource, query: URLSearchParams): (object: StoredObject) => boolean {
  const labels = parseLabelSelector(query.get('labelSelector') ?? '');
  const fields = parseFieldSelector(query.get('fieldSelector') ?? '', resource.kind);
  return (object) => labels(labelsOf(object)) && fields(object);
}

/** A page of a list. The next one is of the same moment, as long as the store remembers that. */
export function listObjects(
  store: Store,
  resource: Resource,
  namespace: string | undefined,
  query: URLSearchParams,
  pageSize?: number,
): ObjectList {
  const from = readToken(query.get('continue'));
  if (from !== null && store.isCompacted(from.revision)) {
    throw expired(
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
        'the continue parameter, or use the continue token in this response to retrieve the remainder of the results.',
    );
  }
  const revision = from?.revision ?? store.revision;
  const matches = filterOf(resource, query);
  const all = asOf(store, resource, namespace, revision).filter(matches);
  const rest = from === null ? all : all.filter((object) => keyOf(object) > from.after);
  const limit = Math.min(limitOf(query), pageSize ?? Number.POSITIVE_INFINITY);
  const items = rest.slice(0, limit);
  const left = rest.length - items.length;
  const last = items.at(-1);
  return {
    kind: `${resource.kind}List`,
    apiVersion: groupVersionOf(resource),
    metadata: {
      resourceVersion: String(revision),
      ...(left > 0 && last !== undefined
        ? { continue: writeToken({ revision, after: keyOf(last) }), remainingItemCount: left }
        : {}),
    },
    items,
  };
}

/** The objects as they were: changes made since are taken back. */
function asOf(
  store: Store,
  resource: Resource,
  namespace: string | undefined,
  revision: number,
): StoredObject[] {
  const objects = new Map(store.list(resource, namespace).map((object) => [keyOf(object), object]));
  if (revision < store.revision) {
    for (const { type, object, previous } of store.since(resource, revision).toReversed()) {
      if (namespace !== undefined && object.metadata.namespace !== namespace) continue;
      if (type === 'ADDED' || previous === undefined) objects.delete(keyOf(object));
      else objects.set(keyOf(object), previous);
    }
  }
  return [...objects.values()].toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

const keyOf = ({ metadata }: StoredObject) => `${metadata.namespace ?? ''}/${metadata.name}`;

function limitOf(query: URLSearchParams): number {
  const limit = Number(query.get('limit') ?? 0);
  return limit > 0 ? limit : Number.POSITIVE_INFINITY;
}

interface Token {
  readonly revision: number;
  readonly after: string;
}

const writeToken = (token: Token) => Buffer.from(JSON.stringify(token)).toString('base64url');

function readToken(text: string | null): Token | null {
  if (text === null || text === '') return null;
  try {
    const token = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Token;
    if (typeof token.revision === 'number' && typeof token.after === 'string') return token;
  } catch {
    // Not one of ours: answered below.
  }
  throw badRequest('continue key is not valid');
}
