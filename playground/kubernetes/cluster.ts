import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KubernetesObject } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { keptAccess, newAccess } from './api/access.ts';
import { type ApiFault, FaultSwitch } from './api/api-fault.ts';
import { type ApiServerParts, type AskedRequest, answerRequest } from './api/api-server.ts';
import { createIdentities, type UserName } from './api/identities.ts';
import { kubeconfigOf } from './api/kubeconfig.ts';
import { type Listening, listen } from './api/listen.ts';
import { LogBook } from './api/logs.ts';
import { systemRoles } from './api/rbac.ts';
import { startControllers } from './controller/start-controllers.ts';
import { newNode } from './new-node.ts';
import type { Pod, StoredObject } from './objects.ts';
import { Registry, type SentObject } from './registry/registry.ts';
import { Store } from './registry/store.ts';
import { type Resource, resource, resourceOfKind } from './resources.ts';

export interface ClusterOptions {
  /** Whether deployments, nodes and pods come to life; without it, everything stays as it was written. */
  readonly controller?: boolean;
  /** How many seconds pass in the cluster during one of ours: its back-offs and deadlines are as long as real ones. */
  readonly speed?: number;
  /** How many nodes it has from the beginning; 3, or none without the controllers. */
  readonly nodes?: number;
  readonly tls?: boolean;
  /** A file that keeps port, tokens and certificate for the next start; without it, all are new. */
  readonly accessFile?: string;
}

/** A Kubernetes cluster of one process: a real API over HTTP, and containers that are only pretended. */
export interface Cluster {
  readonly url: string;
  /** The text of a kubeconfig. `read` and `act` are the service accounts of deploy/kubernetes. */
  kubeconfig(user: UserName): string;
  /** Creates or replaces, with its status where one is given. */
  apply(...objects: KubernetesObject[]): Promise<void>;
  object(kind: string, namespace: string | null, name: string): KubernetesObject | undefined;
  /** All of a kind, in a namespace or everywhere. */
  list(kind: string, namespace?: string): readonly KubernetesObject[];
  /** Appends a line to a container's log; its first container's, where none is named. */
  say(pod: { namespace: string; name: string; container?: string }, line: string): void;
  /** From now on the API does this wrong; null: nothing. */
  interfere(fault: ApiFault | null): void;
  /** Forgets the past, so that watches and pages that go on from it end with 410 Gone. */
  compact(): void;
  requests(): readonly AskedRequest[];
  stop(): Promise<void>;
}

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const isAlive = options.controller !== false;
  const access =
    options.accessFile === undefined
      ? await newAccess(options.tls !== false)
      : await keptAccess(options.accessFile);
  const store = new Store();
  const registry = new Registry(store, isAlive);
  const parts: ApiServerParts = {
    store,
    registry,
    logs: new LogBook(),
    identities: createIdentities(access.tokens),
    faults: new FaultSwitch(),
    asked: [],
  };
  for (const name of ['default', 'kube-system', 'kube-node-lease']) applyObject(parts, namespace(name));
  for (const object of [...systemRoles, ...manifests().filter((each) => !isInNamespace(each))])
    applyObject(parts, object);
  const nodes = options.nodes ?? (isAlive ? 3 : 0);
  for (let number = 1; number <= nodes; number += 1) {
    for (const object of newNode(number)) applyObject(parts, object);
  }
  const server = await listen(
    (request, response) => void answerRequest(parts, request, response),
    access.certificate,
    access.port,
  );
  const stopControllers = isAlive ? startControllers(registry, parts.logs, options.speed ?? 10) : () => {};
  return createCluster(parts, server, stopControllers);
}

function createCluster(parts: ApiServerParts, server: Listening, stopControllers: () => void): Cluster {
  const { store, logs, identities, faults, asked } = parts;
  return {
    url: server.url,
    kubeconfig: (user) => kubeconfigOf(server.url, server.ca, user, identities.token(user)),
    async apply(...objects) {
      for (const object of objects) {
        applyObject(parts, object);
        if (object.kind === 'Namespace') takeIntoCare(parts, object.metadata?.name ?? '');
      }
    },
    object: (kind, own, name) => store.get(knownKind(kind), own, name) as KubernetesObject | undefined,
    list: (kind, own) => store.list(knownKind(kind), own) as object[] as KubernetesObject[],
    say({ namespace: own, name, container }, line) {
      const pod = store.get(resource('pods', ''), own, name) as Pod | undefined;
      if (pod === undefined) throw new Error(`no pod ${own}/${name}`);
      logs.append(pod.metadata.uid, container ?? pod.spec.containers[0]?.name ?? '', line);
    },
    interfere(fault) {
      faults.set(fault);
      if (fault?.kind === 'cut') server.cutConnections();
    },
    compact: () => store.compact(),
    requests: () => asked,
    async stop() {
      stopControllers();
      await server.close();
    },
  };
}

function knownKind(kind: string, apiVersion?: string): Resource {
  const found = resourceOfKind(kind, apiVersion);
  if (found === undefined)
    throw new Error(`the cluster has no kind ${kind}${apiVersion === undefined ? '' : ` of ${apiVersion}`}`);
  return found;
}

/** Creates or replaces, past all roles. A status that is given is kept, as a controller would write it. */
function applyObject({ store, registry }: ApiServerParts, object: KubernetesObject | StoredObject): void {
  const kind = knownKind(object.kind ?? '', object.apiVersion);
  // Times are text from here on, as on the wire.
  const sent = JSON.parse(JSON.stringify(object)) as SentObject;
  const own = kind.namespaced ? (sent.metadata?.namespace ?? 'default') : null;
  const name = sent.metadata?.name ?? '';
  if (store.get(kind, own, name) === undefined) {
    registry.create(kind, sent);
    return;
  }
  registry.update<StoredObject>(kind, own, name, () => sent as unknown as StoredObject);
  const { status } = sent;
  if (status === undefined) return;
  registry.update(kind, own, name, (current) => ({ ...current, status }), { subresource: 'status' });
}

const namespace = (name: string): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
});

/** The roles that deploy/kubernetes gives Sentry: what the tests try is what an operator applies. */
function manifests(): readonly KubernetesObject[] {
  const folder = deployFolder();
  return ['read-only.yaml', 'active.yaml'].flatMap((file) =>
    parseAllDocuments(readFileSync(join(folder, file), 'utf8')).map(
      (document) => document.toJS() as KubernetesObject,
    ),
  );
}

const isInNamespace = ({ kind }: KubernetesObject) => kind === 'RoleBinding';

/** As an operator does for each namespace that Sentry may change. */
function takeIntoCare(parts: ApiServerParts, name: string): void {
  for (const binding of manifests().filter(isInNamespace))
    applyObject(parts, { ...binding, metadata: { name: binding.metadata?.name ?? '', namespace: name } });
}

function deployFolder(): string {
  // The compiled program is one folder deeper than its source.
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'deploy', 'kubernetes'))) {
    const above = dirname(folder);
    if (above === folder) throw new Error('deploy/kubernetes is missing');
    folder = above;
  }
  return join(folder, 'deploy', 'kubernetes');
}
