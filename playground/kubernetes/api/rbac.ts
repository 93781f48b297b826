import type { RbacV1Subject, V1PolicyRule, V1RoleRef } from '@kubernetes/client-node';
import type { StoredObject, Wire } from '../objects.ts';
import type { Store } from '../registry/store.ts';
import { type Resource, resource } from '../resources.ts';

export interface User {
  readonly name: string;
  readonly groups: readonly string[];
}

/** What somebody wants to do: with a resource, or with a path that is none. */
export interface Wish {
  readonly verb: string;
  readonly group?: string;
  readonly plural?: string;
  readonly subresource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly path?: string;
}

type Rule = Wire<V1PolicyRule>;
type Role = StoredObject & { rules?: Rule[] };
type Binding = StoredObject & { subjects?: Wire<RbacV1Subject>[]; roleRef: Wire<V1RoleRef> };

/** Whether the roles that the server knows allow it. */
export function isAllowed(store: Store, user: User, wish: Wish): boolean {
  // The one group that no rule binds.
  if (user.groups.includes('system:masters')) return true;
  return rulesFor(store, user, wish.namespace).some((rule) => allows(rule, wish));
}

/** Every rule that holds for somebody, in a namespace or in the whole cluster. */
export function rulesFor(store: Store, user: User, namespace: string | undefined): readonly Rule[] {
  const bindings = [
    ...store.list<Binding>(resource('clusterrolebindings')),
    ...(namespace === undefined ? [] : store.list<Binding>(resource('rolebindings'), namespace)),
  ];
  return bindings
    .filter(({ subjects = [], metadata }) =>
      subjects.some((each) => isSubject(each, user, metadata.namespace)),
    )
    .flatMap(({ roleRef, metadata }) => {
      const kind: Resource = resource(roleRef.kind === 'Role' ? 'roles' : 'clusterroles');
      const role = store.get(kind, kind.namespaced ? metadata.namespace : null, roleRef.name);
      return (role as Role | undefined)?.rules ?? [];
    });
}

function isSubject(subject: Wire<RbacV1Subject>, user: User, namespace: string | undefined): boolean {
  if (subject.kind === 'Group') return user.groups.includes(subject.name);
  if (subject.kind === 'User') return user.name === subject.name;
  return user.name === `system:serviceaccount:${subject.namespace ?? namespace}:${subject.name}`;
}

function allows(rule: Rule, { verb, group, plural, subresource, name, path }: Wish): boolean {
  if (!includes(rule.verbs, verb)) return false;
  if (path !== undefined) {
    return (rule.nonResourceURLs ?? []).some(
      (each) => each === path || (each.endsWith('*') && path.startsWith(each.slice(0, -1))),
    );
  }
  const full = subresource === undefined ? plural : `${plural}/${subresource}`;
  const { resourceNames = [] } = rule;
  return (
    includes(rule.apiGroups, group) &&
    (includes(rule.resources, full) || rule.resources?.includes(`*/${subresource}`) === true) &&
    (resourceNames.length === 0 || (name !== undefined && resourceNames.includes(name)))
  );
}

const includes = (list: readonly string[] | undefined, item: string | undefined) =>
  list?.some((each) => each === '*' || each === item) === true;

/** The refusal in the server's words. */
export function refusal(user: User, wish: Wish): string {
  const who = `User ${JSON.stringify(user.name)} cannot ${wish.verb}`;
  if (wish.path !== undefined) return `forbidden: ${who} path ${JSON.stringify(wish.path)}`;
  const group = wish.group ?? '';
  const subject = group === '' ? wish.plural : `${wish.plural}.${group}`;
  const named = wish.name === undefined ? '' : ` ${JSON.stringify(wish.name)}`;
  const what = wish.subresource === undefined ? wish.plural : `${wish.plural}/${wish.subresource}`;
  const where =
    wish.namespace === undefined
      ? 'at the cluster scope'
      : `in the namespace ${JSON.stringify(wish.namespace)}`;
  return `${subject}${named} is forbidden: ${who} resource ${JSON.stringify(what)} in API group ${JSON.stringify(group)} ${where}`;
}

const systemRole = (name: string, rules: Rule[], groups: readonly string[]): StoredObject[] => {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const metadata = { name: `system:${name}` } as StoredObject['metadata'];
  const role: Role = { apiVersion, kind: 'ClusterRole', metadata, rules };
  const binding: Binding = {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name },
    subjects: groups.map((group) => ({
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'Group',
      name: `system:${group}`,
    })),
  };
  return [role, binding];
};

/** The roles that every cluster is born with, as far as they matter to a client. */
export const systemRoles: readonly StoredObject[] = [
  ...systemRole(
    'discovery',
    [
      {
        nonResourceURLs: ['/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*', '/version'],
        verbs: ['get'],
      },
    ],
    ['authenticated'],
  ),
  ...systemRole(
    'public-info-viewer',
    [{ nonResourceURLs: ['/healthz', '/livez', '/readyz', '/version', '/version/'], verbs: ['get'] }],
    ['authenticated', 'unauthenticated'],
  ),
  ...systemRole(
    'basic-user',
    [
      {
        apiGroups: ['authorization.k8s.io'],
        resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
        verbs: ['create'],
      },
    ],
    ['authenticated'],
  ),
];
