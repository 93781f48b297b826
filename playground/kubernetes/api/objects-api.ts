import type { StoredObject } from '../objects.ts';
import { badRequest, methodNotAllowed, notFound } from '../registry/api-error.ts';
import type { DeleteOptions, SentObject } from '../registry/registry.ts';
import { type Answer, type ApiServices, created, ok, type ResourceRequest } from './api-context.ts';
import { asVersion } from './events-view.ts';
import { filterOf, listObjects } from './lists.ts';
import { applyPatchOf } from './patch.ts';
import { isMap } from './strategic-merge.ts';

/** Get, list, create, update, patch and delete of objects, and of their status. */
export function answerObjects(api: ApiServices, request: ResourceRequest): Answer {
  const { info, resource, target } = request;
  if (!resource.verbs.includes(info.verb)) throw methodNotAllowed();
  switch (info.verb) {
    case 'list':
      return list(api, request);
    case 'get':
      return ok(asVersion(resource, found(api, request)));
    case 'create':
      return create(api, request);
    case 'update':
      return ok(update(api, request, (current) => replaced(current, bodyOf(request))));
    case 'patch':
      return ok(
        update(
          api,
          request,
          (current) => applyPatchOf(request.contentType, current, request.body) as unknown as StoredObject,
        ),
      );
    case 'delete':
      return remove(api, request, target.name ?? '');
    case 'deletecollection':
      return removeAll(api, request);
    default:
      throw methodNotAllowed();
  }
}

export function found({ store }: ApiServices, { resource, target }: ResourceRequest): StoredObject {
  const name = target.name ?? '';
  const object = store.get(resource, target.namespace, name);
  if (object === undefined) throw notFound(resource, name);
  return object;
}

export function bodyOf({ body }: ResourceRequest): SentObject {
  if (!isMap(body)) throw badRequest('the object provided is unrecognized: it must be a JSON object');
  return body as SentObject;
}

function list({ store }: ApiServices, { resource, target, info, pageSize }: ResourceRequest): Answer {
  const page = listObjects(store, resource, target.namespace, info.query, pageSize);
  return ok({ ...page, items: page.items.map((object) => asVersion(resource, object)) });
}

function create({ registry }: ApiServices, request: ResourceRequest): Answer {
  const { resource, target, dryRun } = request;
  const sent = bodyOf(request);
  if (sent.kind !== undefined && sent.kind !== resource.kind) {
    throw badRequest(`${sent.kind} in version "${resource.version}" cannot be handled as a ${resource.kind}`);
  }
  const { namespace } = sent.metadata ?? {};
  if (namespace !== undefined && target.namespace !== undefined && namespace !== target.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  const metadata = {
    ...sent.metadata,
    ...(target.namespace === undefined ? {} : { namespace: target.namespace }),
  };
  // A status is the server's to write: a client's is dropped.
  const { status: _, ...rest } = sent;
  const isDropped = resource.subresources.includes('status');
  return created(registry.create(resource, { ...(isDropped ? rest : sent), metadata }, dryRun));
}

function replaced(current: StoredObject, sent: SentObject): StoredObject {
  return { ...sent, metadata: { ...sent.metadata, name: current.metadata.name } } as StoredObject;
}

function update(
  { registry }: ApiServices,
  { resource, target, dryRun }: ResourceRequest,
  change: (current: StoredObject) => StoredObject,
): StoredObject {
  return registry.update(resource, target.namespace, target.name ?? '', change, {
    dryRun,
    subresource: target.subresource === 'status' ? 'status' : undefined,
  });
}

function deleteOptions({ body, info, dryRun }: ResourceRequest): DeleteOptions {
  // Those in the address count only where there is no body.
  if (isMap(body)) return { ...(body as DeleteOptions & { dryRun?: unknown }), dryRun };
  const grace = info.query.get('gracePeriodSeconds');
  const policy = info.query.get('propagationPolicy');
  return {
    ...(grace === null ? {} : { gracePeriodSeconds: Number(grace) }),
    ...(policy === null ? {} : { propagationPolicy: policy as 'Background' }),
    dryRun,
  };
}

function remove({ registry, store }: ApiServices, request: ResourceRequest, name: string): Answer {
  const { resource, target } = request;
  const before = store.get(resource, target.namespace, name);
  const left = registry.remove(resource, target.namespace, name, deleteOptions(request));
  // A pod is given back also when it is gone; of anything else only that it is.
  if (left !== null) return ok(left);
  if (resource.kind === 'Pod' && before !== undefined) return ok(before);
  const details = {
    name,
    ...(resource.group === '' ? {} : { group: resource.group }),
    kind: resource.plural,
    uid: before?.metadata.uid,
  };
  return ok({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details });
}

function removeAll(api: ApiServices, request: ResourceRequest): Answer {
  const { resource, target, info } = request;
  const matches = filterOf(resource, info.query);
  const all = api.store.list(resource, target.namespace).filter(matches);
  for (const { metadata } of all) {
    api.registry.remove(resource, metadata.namespace, metadata.name, deleteOptions(request));
  }
  return list(api, request);
}
