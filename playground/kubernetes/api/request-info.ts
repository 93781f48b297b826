/** A request as the API server understands it: from its method and path alone. */
export interface RequestInfo {
  readonly verb: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Null: a path that is no resource, `/version`. */
  readonly target: ResourceTarget | null;
}

export interface ResourceTarget {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

const verbs: Readonly<Record<string, string>> = {
  GET: 'get',
  HEAD: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

export function parseRequest(method: string, url: string): RequestInfo {
  const { pathname: path, searchParams: query } = new URL(url, 'http://server');
  const target = targetOf(path);
  const verb = verbs[method] ?? method.toLowerCase();
  if (target === null || target.name !== undefined) return { verb, path, query, target };
  if (verb === 'get') {
    const isWatch = ['true', '1'].includes(query.get('watch') ?? '');
    return { verb: isWatch ? 'watch' : 'list', path, query, target };
  }
  return { verb: verb === 'delete' ? 'deletecollection' : verb, path, query, target };
}

/** `/apis/apps/v1/namespaces/shop/deployments/orders/scale` */
function targetOf(path: string): ResourceTarget | null {
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent);
  const [root] = parts;
  if (root !== 'api' && root !== 'apis') return null;
  const [group, version] = root === 'api' ? ['', parts[1]] : parts.slice(1, 3);
  const rest = parts.slice(root === 'api' ? 2 : 3);
  if (group === undefined || version === undefined || rest.length === 0) return null;
  const isInNamespace =
    rest[0] === 'namespaces' && rest.length > 2 && !['status', 'finalize'].includes(rest[2] ?? '');
  const [plural = '', name, subresource] = isInNamespace ? rest.slice(2) : rest;
  return {
    group,
    version,
    plural,
    ...(isInNamespace && rest[1] !== undefined ? { namespace: rest[1] } : {}),
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

/** What a request asks of RBAC, and whom it names in a refusal. */
export function wishOf({ verb, path, target }: RequestInfo) {
  if (target === null) return { verb, path };
  const { group, plural, namespace, name, subresource } = target;
  return { verb, group, plural, namespace, name, subresource };
}
