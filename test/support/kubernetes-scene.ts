import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Cluster, type ClusterOptions, startCluster } from '../../playground/kubernetes/cluster.ts';
import { connectCluster } from '../../src/targets/kubernetes/connect/connect-cluster.ts';
import { scratchDir } from './scratch-dir.ts';
import { startTargetScene, type TargetScene } from './target-scene.ts';
import { waitFor } from './wait-for.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A cluster whose controllers work, the target `prod` with its namespace `shop`, and a core that investigates it. */
export interface KubernetesScene extends TargetScene {
  readonly cluster: Cluster;
  apply(object: Fields): Promise<void>;
  /** Creates a deployment or gives it another template, and waits until its controller has seen it. */
  deploy(name: string, container: Fields, replicas?: number, spec?: Fields): Promise<void>;
  /** Waits until as many pods of it are ready, all of this image. */
  ready(name: string, replicas: number, image: string): Promise<void>;
  /** Those of a deployment, as they are now. */
  pods(name: string): Promise<readonly any[]>;
  /** Waits until the object is as it should be; the object. */
  seen(kind: string, name: string, holds: (object: any) => boolean): Promise<any>;
}

export async function startKubernetesScene(
  options: ClusterOptions = {},
  namespaces: readonly string[] = ['shop'],
  claudeUrl?: string,
): Promise<KubernetesScene> {
  const cluster = await startCluster(options);
  const file = join(scratchDir(), 'kubeconfig');
  const text = cluster.kubeconfig('act');
  writeFileSync(file, text);
  const api = connectCluster({ path: file, text, context: undefined });
  const apply: KubernetesScene['apply'] = (object) => cluster.apply(object as never);
  for (const name of namespaces) await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const entry = { name: 'prod', kind: 'kubernetes', kubeconfig_file: file, namespaces, acts: true };
  const scene = await startTargetScene(entry, claudeUrl);
  const seen: KubernetesScene['seen'] = (kind, name, holds) =>
    waitFor(
      `${kind} ${name}`,
      async () => {
        const found = cluster.object(kind, kind === 'Node' ? null : 'shop', name);
        return found !== undefined && holds(found) ? found : null;
      },
      { timeoutMs: 30_000, seen: () => cluster.object(kind, kind === 'Node' ? null : 'shop', name) },
    );
  return {
    ...scene,
    cluster,
    apply,
    seen,
    async deploy(name, container, replicas = 2, spec = {}) {
      const labels = { app: name };
      await apply({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name, namespace: 'shop' },
        spec: {
          replicas,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { ...spec, containers: [{ name: 'web', ...container }] } },
        },
      });
      await seen(
        'Deployment',
        name,
        ({ status, metadata }) => status?.observedGeneration >= metadata.generation,
      );
    },
    async ready(name, replicas, image) {
      await seen(
        'Deployment',
        name,
        ({ status, spec }) =>
          spec.template.spec.containers[0].image === image &&
          status?.updatedReplicas === replicas &&
          status?.availableReplicas === replicas &&
          status?.replicas === replicas,
      );
    },
    async pods(name) {
      const within = { timeoutMs: 10_000, signal: AbortSignal.timeout(10_000) };
      const wanted = { namespace: 'shop', labelSelector: `app=${name}` };
      return (await api.list<any>('pod', wanted, within)).items;
    },
    async stop() {
      await scene.stop();
      await cluster.stop();
    },
  };
}
