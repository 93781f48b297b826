import { groupVersionOf, type Resource, resources } from '../resources.ts';

const version = {
  major: '1',
  minor: '32',
  gitVersion: 'v1.32.4',
  gitTreeState: 'clean',
  platform: 'linux/amd64',
};

/** What the server tells of itself at a path: its version, its health, its groups and their resources. */
export function discover(path: string): object | string | null {
  const parts = path.split('/').filter((part) => part !== '');
  const [root, group, groupVersion] = parts;
  if (root === 'version') return version;
  if (root === 'healthz' || root === 'livez' || root === 'readyz') return 'ok';
  if (root === 'api') return parts.length === 1 ? coreVersions : resourceList('', group ?? '');
  if (root !== 'apis') return null;
  if (group === undefined) return { kind: 'APIGroupList', apiVersion: 'v1', groups };
  if (groupVersion !== undefined) return resourceList(group, groupVersion);
  const found = groups.find(({ name }) => name === group);
  return found === undefined ? null : { kind: 'APIGroup', apiVersion: 'v1', ...found };
}

const coreVersions = {
  kind: 'APIVersions',
  versions: ['v1'],
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1' }],
};

const groups = [...new Set(resources.filter(({ group }) => group !== '').map(groupVersionOf))].map(
  (groupVersion) => {
    const [name = '', own = ''] = groupVersion.split('/');
    const preferred = { groupVersion, version: own };
    return { name, versions: [preferred], preferredVersion: preferred };
  },
);

function resourceList(group: string, own: string): object | null {
  const those = resources.filter((each) => each.group === group && each.version === own);
  if (those.length === 0) return null;
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: group === '' ? own : `${group}/${own}`,
    resources: those.flatMap((each) => [
      entry(each),
      ...each.subresources.map((name) => subresourceEntry(each, name)),
    ]),
  };
}

const entry = ({ plural, singular, namespaced, kind, verbs, shortNames, categories }: Resource) => ({
  name: plural,
  singularName: singular,
  namespaced,
  kind,
  verbs,
  ...(shortNames.length === 0 ? {} : { shortNames }),
  ...(categories.length === 0 ? {} : { categories }),
});

/** Subresources that are written as a kind of their own. */
const kinds: Readonly<
  Record<string, { group: string; version: string; kind: string; verbs: readonly string[] }>
> = {
  scale: { group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get', 'patch', 'update'] },
  eviction: { group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] },
  binding: { group: '', version: 'v1', kind: 'Binding', verbs: ['create'] },
};

function subresourceEntry({ plural, namespaced, kind }: Resource, name: string) {
  const base = { name: `${plural}/${name}`, singularName: '', namespaced };
  if (name === 'log') return { ...base, kind, verbs: ['get'] };
  const own = kinds[name];
  return own === undefined ? { ...base, kind, verbs: ['get', 'patch', 'update'] } : { ...base, ...own };
}
