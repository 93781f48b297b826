import type { V1ContainerState, V1ContainerStateTerminated } from '@kubernetes/client-node';
import { type Container, type Pod, timestamp, type Wire } from '../objects.ts';
import { type Behaviour, behaviourOf } from './behaviours.ts';
import { containerId } from './container-status.ts';
import type { ControlPlane } from './control-plane.ts';
import { missingEnvironment } from './pod-config.ts';
import { failsAgain } from './probes.ts';

const START_MS = 1_000;
const RETRY_MS = 5_000;
const FIRST_BACK_OFF_S = 10;
const LONGEST_BACK_OFF_S = 300;
/** A container that has run this long has earned a fresh start. */
const FORGIVEN_MS = 600_000;

/** One container of a pod as its kubelet knows it. */
export interface ContainerRuntime {
  readonly container: Container;
  readonly isInit: boolean;
  state: Wire<V1ContainerState>;
  last: Wire<V1ContainerStateTerminated> | undefined;
  ready: boolean;
  restarts: number;
  startedAt: number;
  /** Nothing is tried before. */
  retryAt: number;
  backOffSeconds: number;
  isPulled: boolean;
  /** When the probe that fails is tried next, and how often it has failed in a row. */
  probeAt: number;
  failures: number;
}

export const newContainer = (container: Container, isInit: boolean, now: number): ContainerRuntime => ({
  container,
  isInit,
  state: { waiting: { reason: isInit ? 'PodInitializing' : 'ContainerCreating' } },
  last: undefined,
  ready: false,
  restarts: 0,
  startedAt: 0,
  retryAt: now + START_MS,
  backOffSeconds: 0,
  isPulled: false,
  probeAt: 0,
  failures: 0,
});

/** What the runtime of a container says to the world, about its pod. */
interface Voice {
  normal(reason: string, message: string): void;
  warning(reason: string, message: string): void;
  log(line: string): void;
}

function voiceOf({ events, logs }: ControlPlane, pod: Pod, { container, isInit }: ContainerRuntime): Voice {
  const source = { component: 'kubelet', host: pod.spec.nodeName ?? '' };
  const path = `spec.${isInit ? 'initContainers' : 'containers'}{${container.name}}`;
  return {
    normal: (reason, message) => events.normal(source, pod, reason, message, path),
    warning: (reason, message) => events.warning(source, pod, reason, message, path),
    log: (line) => logs.append(pod.metadata.uid, container.name, line),
  };
}

/** Takes the container as far as it goes by now. */
export function advanceContainer(plane: ControlPlane, pod: Pod, own: ContainerRuntime): void {
  const behaviour = behaviourOf(own.container, pod.metadata);
  const voice = voiceOf(plane, pod, own);
  if (own.state.running !== undefined) return run(plane, pod, own, behaviour, voice);
  if (own.state.terminated !== undefined && !isRestarted(pod, own)) return;
  if (plane.now() < own.retryAt) return plane.wake(own.retryAt);
  if (!own.isPulled && !pull(plane, own, behaviour, voice)) return;
  const missing = missingEnvironment(plane.store, pod, own.container);
  if (missing !== null) {
    own.state = { waiting: { reason: 'CreateContainerConfigError', message: missing } };
    voice.warning('Failed', `Error: ${missing}`);
    return retry(plane, own, RETRY_MS);
  }
  start(plane, pod, own, behaviour, voice);
}

function retry(plane: ControlPlane, own: ContainerRuntime, afterMs: number): void {
  own.retryAt = plane.now() + afterMs;
  plane.wake(own.retryAt);
}

function isRestarted({ spec }: Pod, { state, isInit }: ContainerRuntime): boolean {
  const hasFailed = state.terminated?.exitCode !== 0;
  if (isInit) return hasFailed && spec.restartPolicy !== 'Never';
  return spec.restartPolicy === 'Always' || (spec.restartPolicy === 'OnFailure' && hasFailed);
}

/** Fetches the image; false: it cannot be had, and is asked for again later. */
function pull(plane: ControlPlane, own: ContainerRuntime, { pullError }: Behaviour, voice: Voice): boolean {
  const image = own.container.image ?? '';
  const waited = own.state.waiting?.reason;
  if (pullError === undefined) {
    voice.normal('Pulled', `Container image "${image}" already present on machine`);
    own.isPulled = true;
    own.backOffSeconds = 0;
    return true;
  }
  if (waited === 'ErrImagePull') {
    own.backOffSeconds = nextBackOff(own.backOffSeconds);
    own.state = { waiting: { reason: 'ImagePullBackOff', message: `Back-off pulling image "${image}"` } };
    voice.normal('BackOff', `Back-off pulling image "${image}"`);
    voice.warning('Failed', 'Error: ImagePullBackOff');
    retry(plane, own, own.backOffSeconds * 1000);
    return false;
  }
  voice.normal('Pulling', `Pulling image "${image}"`);
  voice.warning('Failed', `Failed to pull image "${image}": rpc error: code = NotFound desc = ${pullError}`);
  voice.warning('Failed', 'Error: ErrImagePull');
  own.state = {
    waiting: { reason: 'ErrImagePull', message: `rpc error: code = NotFound desc = ${pullError}` },
  };
  retry(plane, own, START_MS);
  return false;
}

const nextBackOff = (seconds: number) =>
  seconds === 0 ? FIRST_BACK_OFF_S : Math.min(seconds * 2, LONGEST_BACK_OFF_S);

function start(
  plane: ControlPlane,
  pod: Pod,
  own: ContainerRuntime,
  { says }: Behaviour,
  voice: Voice,
): void {
  if (own.state.terminated !== undefined || own.last !== undefined) own.restarts += 1;
  if (own.state.terminated !== undefined) own.last = own.state.terminated;
  own.state = { running: { startedAt: timestamp() } };
  own.startedAt = plane.now();
  own.ready = false;
  own.failures = 0;
  own.probeAt = 0;
  plane.logs.begin(pod.metadata.uid, own.container.name);
  voice.normal('Created', `Created container: ${own.container.name}`);
  voice.normal('Started', `Started container ${own.container.name}`);
  for (const line of says.first) voice.log(line);
  plane.wake(plane.now());
}

function run(plane: ControlPlane, pod: Pod, own: ContainerRuntime, behaviour: Behaviour, voice: Voice): void {
  const { end, readyAfterMs, isLive, says } = behaviour;
  if (end !== undefined) {
    const at = own.startedAt + end.afterMs;
    if (plane.now() < at) return plane.wake(at);
    for (const line of says.last) voice.log(line);
    return stop(plane, pod, own, end.exitCode, end.reason, voice);
  }
  const { readinessProbe, livenessProbe } = own.container;
  if (livenessProbe !== undefined && !isLive) {
    if (!failsAgain(plane, own, livenessProbe, () => voice.warning('Unhealthy', failed('Liveness')))) return;
    voice.normal('Killing', `Container ${own.container.name} failed liveness probe, will be restarted`);
    return stop(plane, pod, own, 137, 'Error', voice);
  }
  // Whoever has no readiness probe is taken to be ready.
  const readyAt = own.startedAt + (readinessProbe === undefined ? 0 : readyAfterMs);
  const isReady = plane.now() >= readyAt;
  if (!isReady && readinessProbe !== undefined) {
    if (Number.isFinite(readyAt)) plane.wake(readyAt);
    const isUnready = failsAgain(plane, own, readinessProbe, () =>
      voice.warning('Unhealthy', failed('Readiness')),
    );
    if (isUnready) own.ready = false;
    return;
  }
  own.ready = true;
}

const failed = (probe: string) => `${probe} probe failed: HTTP probe failed with statuscode: 503`;

/** The container has ended; a kubelet starts it again at once the first time, and ever later after that. */
export function stop(
  plane: ControlPlane,
  pod: Pod,
  own: ContainerRuntime,
  exitCode: number,
  reason: string,
  voice: Voice = voiceOf(plane, pod, own),
): void {
  const startedAt = own.state.running?.startedAt ?? timestamp();
  const hasRunLong = plane.now() - own.startedAt >= FORGIVEN_MS;
  own.state = {
    terminated: { exitCode, reason, startedAt, finishedAt: timestamp(), containerID: containerId(pod, own) },
  };
  own.ready = false;
  plane.logs.end(pod.metadata.uid, own.container.name);
  if (!isRestarted(pod, own)) return plane.wake(plane.now());
  if (hasRunLong) own.backOffSeconds = 0;
  if (own.restarts === 0 || hasRunLong) return retry(plane, own, START_MS);
  own.backOffSeconds = nextBackOff(own.backOffSeconds);
  const about = `${own.container.name} in pod ${pod.metadata.name}_${pod.metadata.namespace}(${pod.metadata.uid})`;
  voice.warning('BackOff', `Back-off restarting failed container ${about}`);
  own.last = own.state.terminated;
  own.state = {
    waiting: {
      reason: 'CrashLoopBackOff',
      message: `back-off ${duration(own.backOffSeconds)} restarting failed container=${about.replace(' in pod ', ' pod=')}`,
    },
  };
  retry(plane, own, own.backOffSeconds * 1000);
}

/** `1m20s`, as Go writes it. */
const duration = (seconds: number) =>
  seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
