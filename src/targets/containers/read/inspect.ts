import { z } from 'zod';
import { measureAt } from '../../../core/measure.ts';
import { sha256 } from '../../../safety/sha256.ts';
import { withoutBreaks } from '../../format.ts';
import { composeOf, containerData, limitsText, stateText } from '../describe.ts';
import type { Container } from '../engine.ts';
import { containerName, containerTool } from '../tool.ts';

/** What tells whether a container is ill; its data is `stateData`. */
export const stateMeasures = [
  measureAt('running', {
    name: 'running',
    label: 'the container runs steadily',
    unwell: { is: 'the container does not run steadily', was: 'the container did not run steadily' },
    unit: '',
    healthy: 'at_least',
    bound: 1,
    // What dies and is started again is up at most looks.
    intermittent: true,
  }),
  measureAt('well', {
    name: 'well',
    label: 'its health check passes',
    unwell: { is: 'its health check fails', was: 'its health check failed' },
    unit: '',
    healthy: 'at_least',
    bound: 1,
    intermittent: true,
  }),
  measureAt('restarts', {
    name: 'restarts',
    label: 'times it has been started again',
    well: 'it is not started again',
    unit: '',
    healthy: 'steady',
    bound: 0,
  }),
  // A start by hand is not counted: another process is a restart.
  measureAt('process', {
    name: 'main_process',
    label: 'the process it runs as',
    well: 'it stays the same process',
    unit: '',
    healthy: 'same',
    bound: 0,
  }),
];

/**
 * One container. Data: that of a container of `list`, and `{ process, memory_bytes_limit, mounts: [{ source, target, writable }],
 * ports: [{ container, host }], networks, environment: [name], command, depends_on,
 * log: { driver, max_size } }`. `running` only after 10 s; `process` is
 * a number that changes with every start.
 */
export const inspectContainer = containerTool.read({
  name: 'container_inspect',
  description:
    'One container: state, health, exit code, whether it ran out of memory, restarts, limits, ports, mounts, networks, command, names of its environment variables. Values of environment variables are never shown.',
  kind: 'read',
  measures: stateMeasures,
  input: z.strictObject({ container: containerName }),
  timeoutMs: 10_000,
  async run(context, { container: name }) {
    const container = await context.system.engine.container(name, context);
    return { text: linesOf(container).map(withoutBreaks).join('\n'), data: dataOf(container) };
  },
});

/** What one look says of a container, for expressions and measures. */
export function stateData(container: Container) {
  const { health, id, startedAt, state } = container;
  return {
    ...containerData(container),
    well: health === 'none' || health === 'starting' ? null : health === 'healthy',
    // 48 bits: a number that JSON keeps as it is.
    process:
      state === 'running' && startedAt
        ? Number.parseInt(sha256(`${id} ${startedAt}`).slice(0, 12), 16)
        : null,
  };
}

function dataOf(container: Container) {
  const { raw } = container;
  return {
    ...stateData(container),
    command: commandOf(container),
    mounts: mountsOf(container),
    ports: portsOf(container),
    networks: Object.keys(raw.NetworkSettings.Networks ?? {}),
    environment: namesOfEnvironment(container),
    depends_on: dependsOn(container),
    log: logOf(container),
  };
}

function linesOf(container: Container): readonly string[] {
  const { name, image, id, imageId, restartPolicy, raw } = container;
  const { project, service } = composeOf(container);
  const ports = portsOf(container).map(({ container: inside, host }) => `${host} → ${inside}`);
  const mounts = mountsOf(container).map(
    ({ source, target, writable }) => `${source} → ${target}${writable ? '' : ' (read only)'}`,
  );
  const checks = raw.State.Health?.Log?.at(-1);
  return [
    `${name}: ${stateText(container)}`,
    `image ${image} (${imageId.replace(/^sha256:/, '').slice(0, 12)}), container ${id.slice(0, 12)}, restart policy ${restartPolicy}`,
    `runs: ${commandOf(container)}`,
    `limits: ${limitsText(container)}`,
    ...(service ? [`compose: service ${service} of ${project}`] : []),
    ...(checks
      ? [
          `last health check: exit code ${checks.ExitCode}: ${checks.Output.trim().slice(0, 300) || 'no output'}`,
        ]
      : []),
    ...(ports.length > 0 ? [`ports: ${ports.join(', ')}`] : []),
    ...(mounts.length > 0 ? [`mounts: ${mounts.join(', ')}`] : []),
    `log: ${logOf(container).driver || 'the engine’s default'}, ${logOf(container).max_size ? `begun anew after ${logOf(container).max_size}` : 'no limit declared'}`,
    `networks: ${Object.keys(raw.NetworkSettings.Networks ?? {}).join(', ') || 'none'}`,
    `environment: ${namesOfEnvironment(container).join(', ') || 'none'} (values are not shown)`,
  ];
}

const commandOf = ({ raw }: Container): string => [raw.Path, ...raw.Args].join(' ');

const mountsOf = ({ raw }: Container) =>
  raw.Mounts.map((mount) => ({
    source: mount.Name ?? mount.Source,
    target: mount.Destination,
    writable: mount.RW,
  }));

interface Binding {
  readonly HostIp?: string;
  readonly HostPort: string;
}

/**
 * Its ports on the host, or those it will want there: `{ container: '80/tcp', host: '0.0.0.0:8080' }`. One on the host's
 * network has those that it declares.
 */
export function portsOf({ raw }: Container) {
  if (raw.HostConfig.NetworkMode === 'host')
    return Object.keys(raw.Config.ExposedPorts ?? {}).map((container) => ({
      container,
      host: `0.0.0.0:${container.split('/', 1)[0]}`,
    }));
  const bindings = raw.State.Running ? raw.NetworkSettings.Ports : raw.HostConfig.PortBindings;
  return Object.entries((bindings ?? {}) as Record<string, readonly Binding[] | null>).flatMap(
    ([container, bound]) =>
      (bound ?? []).map(({ HostIp: ip, HostPort: port }) => ({
        container,
        host: `${ip || '0.0.0.0'}:${port}`,
      })),
  );
}

/** Ports that one on the host's network speaks of in its command: all that Podman tells of such a container. */
export const portsInCommand = (container: Container): readonly string[] =>
  container.raw.HostConfig.NetworkMode === 'host'
    ? [...new Set(commandOf(container).match(/(?<![\w.-])\d{4,5}(?![\w.-])/g))].filter(
        (port) => Number(port) <= 65_535,
      )
    : [];

/** How its log is kept: the driver, and after how much it is begun anew; null: it grows for ever, as far as is declared. */
const logOf = ({ raw }: Container) => {
  const { Type: driver = '', Config: options } = raw.HostConfig.LogConfig ?? {};
  return { driver, max_size: (options as Record<string, string> | undefined)?.['max-size'] ?? null };
};

/** A value may be a secret however harmless its name is. */
const namesOfEnvironment = ({ raw }: Container): readonly string[] =>
  (raw.Config.Env ?? []).map((entry) => entry.split('=', 1)[0] ?? '');

/** The compose services it was declared to need: `db:service_healthy:false,cache:…`. */
export const dependsOn = ({ labels }: Container): readonly string[] =>
  (labels['com.docker.compose.depends_on'] ?? '')
    .split(',')
    .map((entry) => entry.split(':', 1)[0] ?? '')
    .filter((service) => service !== '');
