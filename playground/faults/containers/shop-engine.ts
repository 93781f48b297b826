import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, createReadStream, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { until } from '../until.ts';

export const engineNames = ['docker', 'podman'] as const;
export type EngineName = (typeof engineNames)[number];

/** What the playground's own containers carry: it touches no others, and neither may Sentry there. */
export const LABELS = { 'sentry.playground': 'shop' } as const;
/** One program, so that nothing has to be pulled. */
export const IMAGE = 'sentry-shop:latest';

export interface ContainerOptions extends Omit<Docker.ContainerCreateOptions, 'name' | 'Cmd' | 'HostConfig'> {
  /** What its shell runs. */
  readonly sh: string;
  readonly host?: Docker.HostConfig;
}

/** A container engine in which things go wrong: its containers are the system under care. */
export interface ShopEngine {
  readonly name: EngineName;
  readonly socket: string;
  readonly api: Docker;
  /** Makes a container of `IMAGE` without a network, with `LABELS`, and starts it. Its id. */
  run(name: string, options: ContainerOptions): Promise<string>;
  /** With its volumes, whether it runs or not; also one that is not there. Throws when it is somebody else's. */
  remove(name: string): Promise<void>;
}

/** Whether the playground has made it. */
export const isOwn = (labels: Readonly<Record<string, string>> | null | undefined): boolean =>
  Object.entries(LABELS).every(([label, value]) => labels?.[label] === value);
/** The same, for the filters of an engine. */
export const OWN = { label: Object.entries(LABELS).map((each) => each.join('=')) };

/** The client library is large: it is loaded where an engine is. */
export async function shopEngine(name: EngineName, socket: string): Promise<ShopEngine> {
  const { default: Client } = await import('dockerode');
  const api = new Client({ socketPath: socket });
  return {
    name,
    socket,
    api,
    async run(container, { sh, host = {}, Labels: labels, ...rest }) {
      const made = await api.createContainer({
        ...rest,
        Labels: { ...labels, ...LABELS },
        name: container,
        Image: IMAGE,
        Cmd: ['sh', '-c', sh],
        HostConfig: {
          NetworkMode: 'none',
          // Podman would ask for more than a machine may allow.
          Ulimits: [
            { Name: 'nofile', Soft: 20_000, Hard: 20_000 },
            { Name: 'nproc', Soft: 4_096, Hard: 4_096 },
          ],
          ...host,
        },
      });
      await made.start();
      return made.id;
    },
    async remove(container) {
      try {
        const { Id: id, Config: config } = await api.getContainer(container).inspect();
        if (!isOwn(config.Labels)) throw new Error(`${container} is not a container of the playground`);
        await removed(api.getContainer(id));
      } catch (error) {
        if ((error as { readonly statusCode?: number }).statusCode !== 404) throw error;
      }
    },
  };
}

/** Removes it with its volumes, however it is. Podman cannot in the moment in which one is being started again. */
export const removed = (container: Docker.Container): Promise<void> =>
  until('the container is removed', () =>
    container.remove({ force: true, v: true }).then(
      () => true,
      (error: { readonly statusCode?: number }) => {
        if (error.statusCode === 404) return true;
        if (error.statusCode === 500) return false;
        throw error;
      },
    ),
  );

const programs = [
  'sh',
  'cat',
  'sleep',
  'echo',
  'yes',
  'head',
  'tail',
  'dd',
  'nc',
  'rm',
  'true',
  'false',
  'test',
  'date',
];

/** Puts `IMAGE` into it: a root folder with the busybox of this machine, which must be a static one. */
export async function importImage({ api }: ShopEngine, dir: string): Promise<void> {
  const root = join(dir, 'image');
  mkdirSync(join(root, 'bin'), { recursive: true });
  const busybox = execFileSync('sh', ['-c', 'command -v busybox'], { encoding: 'utf8' }).trim();
  copyFileSync(busybox, join(root, 'bin', 'busybox'));
  chmodSync(join(root, 'bin', 'busybox'), 0o755);
  for (const name of programs) symlinkSync('busybox', join(root, 'bin', name));
  const tar = join(dir, 'image.tar');
  execFileSync('tar', ['--create', '--file', tar, '--directory', root, '.']);
  const progress = await api.importImage(createReadStream(tar) as never, {
    repo: 'sentry-shop',
    tag: 'latest',
  });
  progress.resume();
  await new Promise((resolve, reject) => progress.once('end', resolve).once('error', reject));
}
