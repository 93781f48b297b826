import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { resources } from '../../src/targets/kubernetes/cluster.ts';

interface Role {
  readonly kind: string;
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

const documentsOf = (file: string) =>
  parseAllDocuments(readFileSync(new URL(`../../deploy/kubernetes/${file}`, import.meta.url), 'utf8')).map(
    (document) => document.toJS(),
  );

/** What a manifest lets its account do, as `get apps/deployments`. */
function rightsOf(file: string): ReadonlySet<string> {
  const roles = (documentsOf(file) as readonly Role[]).filter(({ kind }) => kind === 'ClusterRole');
  return new Set(
    roles
      .flatMap(({ rules }) => rules)
      .flatMap(({ apiGroups, resources: names, verbs }) =>
        apiGroups.flatMap((group) =>
          names.flatMap((name) => verbs.map((verb) => `${verb} ${group}/${name}`)),
        ),
      ),
  );
}

test('the role that reads has every right that the tools need, and no other', () => {
  const needed = Object.values(resources).flatMap(({ group, plural }) =>
    ['get', 'list'].map((verb) => `${verb} ${group}/${plural}`),
  );
  expect(rightsOf('read-only.yaml')).toEqual(new Set([...needed, 'get /pods/log']));
});

test('the role that changes may patch workloads and nodes and delete pods, and nothing else', () => {
  expect(rightsOf('active.yaml')).toEqual(
    new Set([
      'patch apps/deployments',
      'patch apps/statefulsets',
      'patch apps/daemonsets',
      'delete /pods',
      'patch /nodes',
    ]),
  );
});

test('of what is in a namespace, nothing may be changed beyond those it is bound in', () => {
  const bound = documentsOf('active.yaml')
    .filter(({ kind }) => kind === 'ClusterRoleBinding')
    .map(({ roleRef }) => roleRef.name);
  expect(bound).toEqual(['sentry-active-nodes', 'sentry-read-only']);
});
