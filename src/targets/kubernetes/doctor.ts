import { count } from '../../core/count.ts';
import { OpsError } from '../../core/errors.ts';
import type { SessionOptions } from '../../tools/ports.ts';
import { type Right, resources } from './cluster.ts';
import { rightText } from './connect/fault.ts';
import type { KubernetesSystem } from './tool.ts';

const reads = (namespace: string): readonly Right[] => [
  ...Object.entries(resources).flatMap(([kind, { group, plural, isNamespaced }]) =>
    kind === 'namespace'
      ? []
      : [{ verb: 'list', group, resource: plural, namespace: isNamespaced ? namespace : null } as const],
  ),
  { verb: 'get', group: '', resource: 'pods/log', namespace },
];

const changes = (namespace: string): readonly Right[] => [
  ...['deployments', 'statefulsets', 'daemonsets'].map(
    (resource) => ({ verb: 'patch', group: 'apps', resource, namespace }) as const,
  ),
  { verb: 'delete', group: '', resource: 'pods', namespace },
  { verb: 'patch', group: '', resource: 'nodes', namespace: null },
];

/** Tries a cluster, and says in a line how it is. Throws OpsError with the rights that are missing, or are too many. */
export async function checkKubernetes(
  { cluster, namespaces, acts }: KubernetesSystem,
  options: () => SessionOptions,
): Promise<string> {
  const [version] = await Promise.all([
    cluster.version(options()),
    // What an approval is bound to: without it nothing could be approved.
    cluster.identity(options()),
  ]);
  const wrong = new Set<string>();
  for (const namespace of namespaces) {
    const wanted = [...reads(namespace), ...(acts ? changes(namespace) : [])];
    const secrets = { verb: 'list', group: '', resource: 'secrets', namespace } as const;
    const [tooMany, ...allowed] = await Promise.all(
      [secrets, ...wanted].map((right) => cluster.may(right, options())),
    );
    if (tooMany) wrong.add(`may ${rightText(secrets)}, which Sentry never needs`);
    for (const [at, right] of wanted.entries()) if (!allowed[at]) wrong.add(`may not ${rightText(right)}`);
  }
  if (wrong.size > 0)
    throw new OpsError('KUBERNETES_RIGHTS', [...wrong].join('; '), {
      hint: 'Apply deploy/kubernetes/read-only.yaml, and active.yaml where changes may be proposed, and bind nothing else to this account.',
    });
  return `${version}, ${namespaces.length === 1 ? `namespace ${namespaces[0]}` : `${count(namespaces.length, 'namespace')}`}${acts ? '' : ', read-only'}`;
}
