import { createHash } from 'node:crypto';
import { type Node, type Pod, timestamp } from '../objects.ts';
import { resource } from '../resources.ts';
import { advanceContainer, type ContainerRuntime, newContainer } from './container-runtime.ts';
import { containerStatus } from './container-status.ts';
import type { Controller, ControlPlane } from './control-plane.ts';
import { isUp } from './nodes.ts';
import { missingVolume } from './pod-config.ts';
import { setPodCondition } from './pod-state.ts';

const pods = resource('pods', '');
const END_MS = 1_000;
const MOUNT_RETRY_MS = 10_000;

interface PodRuntime {
  readonly init: readonly ContainerRuntime[];
  readonly containers: readonly ContainerRuntime[];
  /** When it will have ended, once it is to. */
  endsAt?: number;
  mountAt: number;
}

/** What the kubelets of all nodes do: they start, probe, restart and end the containers of their pods. */
export function createKubelet(plane: ControlPlane): Controller {
  const runtimes = new Map<string, PodRuntime>();
  return () => {
    const all = plane.store.list<Pod>(pods);
    for (const pod of all) {
      const node = plane.store.get(resource('nodes', ''), null, pod.spec.nodeName ?? '');
      // Of a node that is down, nobody hears.
      if (node === undefined || !isUp(node as Node)) continue;
      const runtime = runtimes.get(pod.metadata.uid) ?? newRuntime(pod, plane.now());
      runtimes.set(pod.metadata.uid, runtime);
      if (pod.metadata.deletionTimestamp !== undefined) finish(plane, pod, runtime);
      else if (pod.status.phase !== 'Succeeded' && pod.status.phase !== 'Failed')
        sync(plane, pod, runtime, node as Node);
    }
    const alive = new Set(all.map(({ metadata }) => metadata.uid));
    for (const uid of runtimes.keys()) {
      if (alive.has(uid)) continue;
      runtimes.delete(uid);
      plane.logs.forget(uid);
    }
  };
}

const newRuntime = (pod: Pod, now: number): PodRuntime => ({
  init: (pod.spec.initContainers ?? []).map((each) => newContainer(each, true, now)),
  containers: pod.spec.containers.map((each) => newContainer(each, false, now)),
  mountAt: now,
});

/** A pod that is to be deleted is told to end, and is gone when it has. */
function finish(plane: ControlPlane, pod: Pod, runtime: PodRuntime): void {
  const source = { component: 'kubelet', host: pod.spec.nodeName ?? '' };
  if (runtime.endsAt === undefined) {
    const grace = (pod.metadata.deletionGracePeriodSeconds ?? 0) * 1000;
    runtime.endsAt = plane.now() + Math.min(END_MS, grace);
    for (const { container, state } of runtime.containers) {
      if (state.running === undefined) continue;
      const path = `spec.containers{${container.name}}`;
      plane.events.normal(source, pod, 'Killing', `Stopping container ${container.name}`, path);
    }
  }
  if (plane.now() < runtime.endsAt) return plane.wake(runtime.endsAt);
  for (const { container } of runtime.containers) plane.logs.end(pod.metadata.uid, container.name);
  plane.store.remove(pods, pod);
}

function sync(plane: ControlPlane, pod: Pod, runtime: PodRuntime, node: Node): void {
  if (canMount(plane, pod, runtime)) advance(plane, pod, runtime);
  plane.registry.setStatus<Pod>(pods, pod, (current) => writeStatus(current, runtime, node));
}

function canMount(plane: ControlPlane, pod: Pod, runtime: PodRuntime): boolean {
  // What is mounted stays so.
  if (runtime.containers.some(({ startedAt }) => startedAt > 0)) return true;
  const missing = missingVolume(plane.store, pod);
  if (missing === null) return true;
  if (plane.now() >= runtime.mountAt) {
    runtime.mountAt = plane.now() + MOUNT_RETRY_MS;
    const source = { component: 'kubelet', host: pod.spec.nodeName ?? '' };
    plane.events.warning(source, pod, 'FailedMount', missing);
  }
  plane.wake(runtime.mountAt);
  return false;
}

/** Init containers one after the other, then all others. */
function advance(plane: ControlPlane, pod: Pod, { init, containers }: PodRuntime): void {
  for (const each of init) {
    // What an init container does is over sooner or later: without a word of its own, it is done at once.
    advanceContainer(plane, pod, each);
    if (!isDone(each)) return;
  }
  for (const each of containers) advanceContainer(plane, pod, each);
}

const isDone = ({ state }: ContainerRuntime) => state.terminated?.exitCode === 0;

function writeStatus(pod: Pod, runtime: PodRuntime, node: Node): void {
  const { init, containers } = runtime;
  const { status } = pod;
  const address = addressOf(pod.metadata.uid);
  const host = node.status.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '';
  Object.assign(status, {
    phase: phaseOf(pod, runtime),
    hostIP: host,
    hostIPs: [{ ip: host }],
    podIP: address,
    podIPs: [{ ip: address }],
  });
  status.startTime ??= timestamp();
  if (init.length > 0) status.initContainerStatuses = init.map((each) => containerStatus(pod, each));
  status.containerStatuses = containers.map((each) => containerStatus(pod, each));
  const waitingInit = init.filter((each) => !isDone(each)).map(({ container }) => container.name);
  const unready = containers.filter(({ ready }) => !ready).map(({ container }) => container.name);
  const why =
    status.phase === 'Succeeded'
      ? { reason: 'PodCompleted' }
      : { reason: 'ContainersNotReady', message: `containers with unready status: [${unready.join(' ')}]` };
  setPodCondition(pod, 'PodReadyToStartContainers', true);
  setPodCondition(pod, 'Initialized', waitingInit.length === 0, {
    reason: 'ContainersNotInitialized',
    message: `containers with incomplete status: [${waitingInit.join(' ')}]`,
  });
  setPodCondition(pod, 'Ready', unready.length === 0, why);
  setPodCondition(pod, 'ContainersReady', unready.length === 0, why);
}

function phaseOf(pod: Pod, { containers }: PodRuntime): string {
  const ended = containers.filter(({ state }) => state.terminated !== undefined);
  if (ended.length === containers.length && pod.spec.restartPolicy !== 'Always') {
    const hasFailed = ended.some(({ state }) => state.terminated?.exitCode !== 0);
    if (!hasFailed) return 'Succeeded';
    if (pod.spec.restartPolicy === 'Never') return 'Failed';
  }
  return containers.every(({ startedAt }) => startedAt > 0) ? 'Running' : 'Pending';
}

function addressOf(uid: string): string {
  const [a = 0, b = 0] = createHash('sha256').update(uid).digest();
  return `10.244.${a}.${(b % 254) + 1}`;
}
