import { count } from '../../core/count.ts';
import type { Json } from '../../core/tool-call.ts';
import { age, bytes, withoutBreaks } from '../format.ts';
import type { Container, ListedContainers } from './engine.ts';

/** A container that dies and is started again is up at most looks: it counts as running after so long. */
export const STEADY_SECONDS = 10;

/** Whether it has been up for long enough to believe it; what is paused does not run. */
export const runsSteadily = ({ state, upSeconds }: Container): boolean =>
  state === 'running' && upSeconds !== null && upSeconds >= STEADY_SECONDS;

/** The names a compose file gave it. */
export const composeOf = ({ labels }: Container) => ({
  project: labels['com.docker.compose.project'] ?? labels['io.podman.compose.project'] ?? null,
  service: labels['com.docker.compose.service'] ?? null,
});

/** For expressions: what one look says of a container. */
export function containerData(container: Container): { readonly [key: string]: Json } {
  return {
    name: container.name,
    id: container.id.slice(0, 12),
    image: container.image,
    image_id: shortId(container.imageId),
    state: container.state,
    running: runsSteadily(container),
    health: container.health,
    exit_code: container.exitCode,
    oom_killed: container.oomKilled,
    error: container.error,
    restarts: container.restarts,
    restart_policy: container.restartPolicy,
    started_at: container.startedAt,
    up_seconds: container.upSeconds,
    down_seconds: container.downSeconds,
    memory_limit: container.memoryLimit,
    cpu_limit: container.cpuLimit,
    ...composeOf(container),
  };
}

export const shortId = (id: string): string => id.replace(/^sha256:/, '').slice(0, 12);

/** `shop-api: running for 3h 2m, unhealthy, started again 4 times (busybox:1.36)`. */
export function containerLine(container: Container): string {
  const { name, image } = container;
  // What the engine says of a fault holds the command of whoever made it.
  return withoutBreaks(`${name}: ${stateText(container)} (${image})`);
}

/** `1 container could not be read: 3f2a…`: a line where a list of containers is not whole, else nothing. */
export function unreadLines({ unread, beyond }: ListedContainers): readonly string[] {
  return [
    ...(unread.length > 0
      ? [
          `${count(unread.length, 'container')} could not be read, the description is too large or none: ${unread.slice(0, 10).join(', ')}`,
        ]
      : []),
    ...(beyond > 0 ? [`${count(beyond, 'older container')} not looked at.`] : []),
  ];
}

/** `running for 3h 2m, unhealthy`; `exited with code 137 2m 5s ago, out of memory`. */
export function stateText(container: Container): string {
  const { state, upSeconds, downSeconds, exitCode, health, oomKilled, error, restarts } = container;
  const ended = exitCode === null ? '' : ` with code ${exitCode}`;
  return [
    upSeconds !== null
      ? `${state} for ${age(upSeconds)}`
      : `${state}${ended}${downSeconds === null ? '' : ` ${age(downSeconds)} ago`}`,
    ...(oomKilled ? ['out of memory'] : []),
    ...(health === 'none' ? [] : [health]),
    ...(restarts > 0 ? [`started again ${restarts} times`] : []),
    ...(error ? [`the engine says: ${error}`] : []),
  ].join(', ');
}

/** `memory 512 MiB, 0.5 CPUs`; `no limits`. */
export function limitsText({ memoryLimit, cpuLimit }: Container): string {
  const said = [
    ...(memoryLimit === null ? [] : [`memory ${bytes(memoryLimit)}`]),
    ...(cpuLimit === null ? [] : [`${cpuLimit} CPUs`]),
  ];
  return said.join(', ') || 'no limits';
}
