import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cluster, startCluster } from '../../../playground/kubernetes/cluster.ts';
import { type Kubectl, kubectlFor, missingKubectl } from '../../support/kubectl.ts';

const missing = missingKubectl();

describe.skipIf(missing !== null)(`kubectl works against the playground's cluster ${missing ?? ''}`, () => {
  let cluster: Cluster;
  let kubectl: Kubectl;

  beforeAll(async () => {
    cluster = await startCluster();
    kubectl = kubectlFor(cluster);
  });
  afterAll(() => cluster.stop());

  it('finds its namespaces', async () => {
    expect(await kubectl('get', 'namespaces', '-o', 'name')).toContain('namespace/default');
  });

  it('is told in the words of the real server what it may not read', async () => {
    const { error, code } = await kubectlFor(cluster, 'read').tries('get', 'secrets', '-n', 'default');
    expect(code).toBe(1);
    expect(error).toBe(
      'Error from server (Forbidden): secrets is forbidden: User "system:serviceaccount:sentry:sentry-read" ' +
        'cannot list resource "secrets" in API group "" in the namespace "default"\n',
    );
  });
});
