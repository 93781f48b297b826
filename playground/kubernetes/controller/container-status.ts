import { createHash } from 'node:crypto';
import type { V1ContainerStatus } from '@kubernetes/client-node';
import type { Pod, Wire } from '../objects.ts';
import type { ContainerRuntime } from './container-runtime.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');

/** The runtime's id of a container: another one after each restart. */
export const containerId = ({ metadata }: Pod, { container, restarts }: ContainerRuntime) =>
  `containerd://${digest(`${metadata.uid}/${container.name}/${restarts}`)}`;

/** How the pod's status tells of it. */
export function containerStatus(pod: Pod, own: ContainerRuntime): Wire<V1ContainerStatus> {
  const { container, state, last, ready, restarts, isInit } = own;
  const image = container.image ?? '';
  const hasRun = state.waiting === undefined || last !== undefined;
  return {
    name: container.name,
    state: structuredClone(state),
    lastState:
      last === undefined || state.terminated !== undefined ? {} : { terminated: structuredClone(last) },
    ready: isInit ? state.terminated?.exitCode === 0 : ready,
    restartCount: restarts,
    image: hasRun ? `docker.io/${image}` : image,
    imageID: hasRun ? `docker.io/${image.replace(/:[^:]*$/, '')}@sha256:${digest(image)}` : '',
    ...(hasRun ? { containerID: containerId(pod, own) } : {}),
    started: state.running !== undefined,
  };
}
