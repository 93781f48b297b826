import { type Answer, type ApiServices, created, type ResourceRequest } from './api-context.ts';
import { bodyOf } from './objects-api.ts';
import { isAllowed, rulesFor } from './rbac.ts';

interface ReviewSpec {
  readonly namespace?: string;
  readonly resourceAttributes?: {
    readonly verb?: string;
    readonly group?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly nonResourceAttributes?: { readonly verb?: string; readonly path?: string };
}

/** "May I?" and "What may I?" of the one who asks. */
export function answerReview({ store }: ApiServices, request: ResourceRequest): Answer {
  const body = bodyOf(request);
  const spec = (body['spec'] ?? {}) as ReviewSpec;
  const base = { kind: request.resource.kind, apiVersion: 'authorization.k8s.io/v1', metadata: {}, spec };
  if (request.resource.plural === 'selfsubjectrulesreviews') {
    const rules = rulesFor(store, request.user, spec.namespace);
    const isMaster = request.user.groups.includes('system:masters');
    const all = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
    const status = {
      resourceRules: [
        ...(isMaster ? [all] : []),
        ...rules.filter(({ nonResourceURLs }) => nonResourceURLs === undefined),
      ],
      nonResourceRules: [
        ...(isMaster ? [{ verbs: ['*'], nonResourceURLs: ['*'] }] : []),
        ...rules.filter(({ nonResourceURLs }) => nonResourceURLs !== undefined),
      ],
      incomplete: false,
    };
    return created({ ...base, status });
  }
  const { resourceAttributes: asked, nonResourceAttributes: path } = spec;
  const filled = (text: string | undefined) => (text === '' ? undefined : text);
  const allowed = isAllowed(
    store,
    request.user,
    path !== undefined
      ? { verb: path.verb ?? '', path: path.path ?? '' }
      : {
          verb: asked?.verb ?? '',
          group: asked?.group ?? '',
          plural: asked?.resource ?? '',
          subresource: filled(asked?.subresource),
          namespace: filled(asked?.namespace),
          name: filled(asked?.name),
        },
  );
  return created({ ...base, status: { allowed } });
}
