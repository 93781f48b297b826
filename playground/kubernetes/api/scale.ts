import type { ReplicaSet, StoredObject } from '../objects.ts';
import { methodNotAllowed } from '../registry/api-error.ts';
import { type Answer, type ApiServices, ok, type ResourceRequest } from './api-context.ts';
import { bodyOf, found } from './objects-api.ts';
import { applyPatchOf } from './patch.ts';

interface Scale extends StoredObject {
  spec: { replicas?: number };
  status: { replicas: number; selector: string };
}

/** `…/scale`: the number of replicas alone, the same for every kind that has one. */
export function answerScale(api: ApiServices, request: ResourceRequest): Answer {
  const { info, resource, target, dryRun } = request;
  if (info.verb === 'get') return ok(scaleOf(found(api, request) as ReplicaSet));
  if (info.verb !== 'update' && info.verb !== 'patch') throw methodNotAllowed();
  const changed = api.registry.update<ReplicaSet>(
    resource,
    target.namespace,
    target.name ?? '',
    (current) => {
      const wanted =
        info.verb === 'update'
          ? (bodyOf(request) as unknown as Scale)
          : (applyPatchOf(request.contentType, scaleOf(current), request.body) as unknown as Scale);
      const version = wanted.metadata?.resourceVersion;
      current.spec.replicas = wanted.spec?.replicas ?? 0;
      if (version !== undefined) current.metadata.resourceVersion = version;
      return current;
    },
    { dryRun },
  );
  return ok(scaleOf(changed));
}

function scaleOf({ metadata, spec, status }: ReplicaSet): Scale {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  const { matchLabels = {} } = spec.selector ?? {};
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      uid,
      resourceVersion,
      creationTimestamp,
    },
    spec: { replicas: spec.replicas ?? 0 },
    status: {
      replicas: status.replicas ?? 0,
      selector: Object.entries(matchLabels)
        .map(([key, value]) => `${key}=${value}`)
        .join(','),
    },
  };
}
