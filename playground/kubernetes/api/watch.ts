import type { ServerResponse } from 'node:http';
import type { StoredObject } from '../objects.ts';
import { ApiError, badRequest } from '../registry/api-error.ts';
import type { Change, Store } from '../registry/store.ts';
import { groupVersionOf, type Resource } from '../resources.ts';
import { filterOf } from './lists.ts';

export interface WatchRequest {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly query: URLSearchParams;
  /** How an object is shown: as it is, as another version, as a table. */
  readonly show: (object: StoredObject) => object;
}

const noInitialEvents = () => {
  const field = 'sendInitialEvents';
  const message = `Forbidden: ${field} is forbidden for watch unless the WatchList feature gate is enabled`;
  return new ApiError(422, 'Invalid', `ListOptions.meta.k8s.io "" is invalid: ${field}: ${message}`, {
    group: 'meta.k8s.io',
    kind: 'ListOptions',
    causes: [{ reason: 'FieldValueForbidden', message, field }],
  });
};

const BOOKMARK_MS = 5_000;
const LONGEST_MS = 60 * 60_000;

/** Streams changes until the client leaves or its time is over. */
export function watch(store: Store, request: WatchRequest, response: ServerResponse): void {
  const { resource, namespace, query, show } = request;
  const matches = filterOf(resource, query);
  const isOurs = (object: StoredObject) => namespace === undefined || object.metadata.namespace === namespace;
  const write = (type: string, object: object) => response.write(`${JSON.stringify({ type, object })}\n`);
  const tell = ({ type, object, previous }: Change) => {
    if (!isOurs(object)) return;
    const is = type !== 'DELETED' && matches(object);
    const was = previous !== undefined && matches(previous);
    // To somebody who watches by a selector, what stops matching is gone, and what starts to is new.
    if (is) write(was ? 'MODIFIED' : 'ADDED', show(object));
    else if (was) write('DELETED', show(object));
  };
  const from = query.get('resourceVersion') ?? '';
  if (!/^\d*$/.test(from)) throw badRequest(`invalid resource version: "${from}"`);
  // A client that asks for the state as events lists and watches when it is refused.
  if (query.has('sendInitialEvents')) throw noInitialEvents();
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' });
  try {
    if (from === '' || from === '0') {
      for (const object of store.list(resource, namespace)) if (matches(object)) write('ADDED', show(object));
    } else for (const change of store.since(resource, Number(from))) tell(change);
  } catch (error) {
    // What is too old to be watched from is told inside the stream.
    if (!(error instanceof ApiError)) throw error;
    write('ERROR', error.status());
    response.end();
    return;
  }
  response.flushHeaders();
  const bookmark = () =>
    write('BOOKMARK', {
      kind: resource.kind,
      apiVersion: groupVersionOf(resource),
      metadata: { resourceVersion: String(store.revision), creationTimestamp: null },
    });
  const wantsBookmarks = ['true', '1'].includes(query.get('allowWatchBookmarks') ?? '');
  const bookmarks = wantsBookmarks ? setInterval(bookmark, BOOKMARK_MS) : undefined;
  const seconds = Number(query.get('timeoutSeconds') ?? 0);
  const end = setTimeout(
    () => {
      if (wantsBookmarks) bookmark();
      response.end();
    },
    seconds > 0 ? seconds * 1000 : LONGEST_MS,
  );
  const stop = store.onChange(resource, tell);
  response.once('close', () => {
    stop();
    clearInterval(bookmarks);
    clearTimeout(end);
  });
}
