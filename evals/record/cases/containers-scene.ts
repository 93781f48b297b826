import { mkdtempSync, rmSync } from 'node:fs';
import type { HostConfig } from 'dockerode';
import {
  type ContainerOptions,
  type EngineName,
  IMAGE,
} from '../../../playground/faults/containers/shop-engine.ts';
import { until } from '../../../playground/faults/until.ts';
import type { FaultCase, Look } from '../fault-case.ts';
import { neighboursOf } from '../neighbours.ts';
import { type ScratchEngine, startScratchEngine } from '../scratch-engine.ts';

export const MIB = 1024 * 1024;
/** Another network than one's own needs a bridge, which not every machine lets an engine make. */
export const HOST_NETWORK: HostConfig = { NetworkMode: 'host' };
export const ALWAYS: HostConfig = { RestartPolicy: { Name: 'always' } };

/** An engine in which a case brings something about. */
export interface EngineScene {
  readonly engine: ScratchEngine;
  /** Runs a container from an image of this name. */
  run(name: string, image: string, sh: string, options?: Omit<ContainerOptions, 'sh'>): Promise<void>;
  ended(name: string): Promise<void>;
  /** Its restart policy has started it at least so often. */
  restarted(name: string, times: number): Promise<void>;
  /** It runs, for as long as it takes to believe that. */
  steady(name: string): Promise<void>;
  health(name: string, status: string): Promise<void>;
  until(what: string, holds: () => Promise<boolean>): Promise<void>;
}

export interface ContainerCase extends Omit<FaultCase, 'cause' | 'alert' | 'looks'> {
  readonly on: EngineName;
  /** The compose project that its containers belong to. */
  readonly project: string;
  readonly alert: readonly [alertname: string, summary: string, container?: string];
  readonly severity?: 'critical' | 'warning';
  /** What is read of the container that the alert names, where it is there: all of it, when left out. */
  readonly looks?: readonly string[];
  cause(scene: EngineScene): Promise<void>;
}

const ABOUT = ['container_inspect', 'container_why_died', 'container_logs'] as const;

/** Cases as they are recorded: each in an engine of its own, with other containers beside. */
export const inEngines = (cases: readonly ContainerCase[]): readonly FaultCase[] =>
  cases.map(
    ({
      on,
      project,
      alert: [alertname, summary, container],
      severity = 'warning',
      looks,
      cause,
      ...rest
    }) => ({
      ...rest,
      looks:
        container === undefined
          ? []
          : (looks ?? ABOUT).map(
              (tool): Look => ({
                tool,
                input: tool === 'container_logs' ? { container, tail: 25 } : { container },
              }),
            ),
      alert: {
        alertname,
        severity,
        summary,
        description: `Seen by the exporter of ${project}.`,
        labels: { container_runtime: on, ...(container === undefined ? {} : { container, name: container }) },
      },
      async cause() {
        // Where engines have their sockets: errors name it.
        const dir = mkdtempSync('/run/shop-engine-');
        const engine = await startScratchEngine(on, dir);
        const scene = sceneOn(engine, project);
        await populate(scene, rest.id);
        await cause(scene);
        return {
          engine: { kind: on, socket: engine.socket },
          async release() {
            await engine.stop();
            await until(`${dir} to be removed`, async () => isRemoved(dir));
          },
        };
      },
    }),
  );

/** Podman still tidies up for a moment. */
function isRemoved(dir: string): boolean {
  try {
    rmSync(dir, { recursive: true, force: true });
    return true;
  } catch (error) {
    if (/^(?:ENOTEMPTY|EBUSY)$/.test((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

async function populate({ run }: EngineScene, id: string): Promise<void> {
  for (const { name, version, size } of neighboursOf(id, 6))
    await run(
      name,
      `${name}:${version}`,
      works(`INFO ${name} ${version} has seen to ${size} of ${size * 3}`, 3),
    );
}

function sceneOn(engine: ScratchEngine, project: string): EngineScene {
  const { api, name: kind } = engine;
  const inspect = async (name: string) => api.getContainer(name).inspect();
  return {
    engine,
    until,
    async run(name, image, sh, { host, ...options } = {}) {
      const [repo = '', tag = 'latest'] = image.split(':');
      // Podman looks for a short name in registries.
      const full = kind === 'podman' ? `localhost/${repo}` : repo;
      await api.getImage(IMAGE).tag({ repo: full, tag });
      const made = await api.createContainer({
        ...options,
        name,
        Image: `${full}:${tag}`,
        Cmd: ['sh', '-c', sh],
        Labels: {
          'com.docker.compose.project': project,
          'com.docker.compose.service': name,
          ...options.Labels,
        },
        HostConfig: {
          NetworkMode: 'host',
          Ulimits: [
            { Name: 'nofile', Soft: 20_000, Hard: 20_000 },
            { Name: 'nproc', Soft: 4_096, Hard: 4_096 },
          ],
          ...host,
        },
      });
      await made.start();
    },
    ended: (name) => until(`${name} to end`, async () => !(await inspect(name)).State.Running),
    restarted: (name, times) =>
      until(`${name} to be started again`, async () => (await inspect(name)).RestartCount >= times),
    steady: (name) =>
      until(`${name} to stay up`, async () => {
        const { State: state } = await inspect(name);
        return state.Running && Date.now() - Date.parse(state.StartedAt) > 11_000;
      }),
    health: (name, status) =>
      until(`${name} to be ${status}`, async () => (await inspect(name)).State.Health?.Status === status),
  };
}

/** A service: says what it does every few seconds, and follows a stop. */
export const works = (line: string, seconds = 1): string =>
  `trap "exit 0" TERM; while true; do echo "${line}"; sleep ${seconds} & wait $!; done`;

/** Says these lines, one after the other, and ends. */
export const ends = (code: number, ...lines: readonly string[]): string =>
  [...lines.map((line) => `echo '${line}'`), `sleep 0.3; exit ${code}`].join('; ');

/** A health check that is asked twice a second. */
export const checkedBy = (command: string) => ({
  Healthcheck: { Test: ['CMD-SHELL', command], Interval: 5e8, Timeout: 5e9, Retries: 2 },
});
