import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import {
  type EngineName,
  importImage,
  removed,
  type ShopEngine,
  shopEngine,
} from '../../playground/faults/containers/shop-engine.ts';
import { missingPackages, type Needed } from './missing-packages.ts';
import { scratchDir } from './scratch-dir.ts';
import { waitFor } from './wait-for.ts';

/** What an engine and its only image need, by Debian's names. */
const needed: Readonly<Record<EngineName, Needed>> = {
  docker: [
    ['dockerd', 'docker.io'],
    ['busybox', 'busybox-static'],
  ],
  podman: [
    ['podman', 'podman'],
    ['runc', 'runc'],
    ['busybox', 'busybox-static'],
  ],
};

/** Why an engine cannot be started, as a command where that helps; null: it can. CI must have them. */
export function missingFor(kind: EngineName): string | null {
  // An engine of its own needs root: rootless ones need more of the machine than tests may ask for.
  if (process.getuid?.() === 0) return missingPackages(kind, needed[kind]);
  // oxlint-disable-next-line node/no-process-env -- only a test's own switch
  if (process.env['CI'] === 'true') throw new Error(`CI has no ${kind}: it needs root`);
  return 'needs root';
}

/** An engine of the tests' own, with one image, `IMAGE`. */
export interface ScratchEngine extends ShopEngine {
  stop(): Promise<void>;
}

/** Starts it in a folder of its own (3 s): flags for a machine without systemd, bridges or a registry. */
export async function startEngine(kind: EngineName): Promise<ScratchEngine> {
  const dir = scratchDir();
  const socket = join(dir, 'engine.sock');
  const server = kind === 'docker' ? dockerServer(dir, socket) : podmanServer(dir, socket);
  const engine = shopEngine(kind, socket);
  const { api } = engine;
  await waitFor(`${kind} answers`, async () => (await api.ping().catch(() => null)) !== null);
  await importImage(engine, dir);
  return {
    ...engine,
    async stop() {
      for (const { Id: id } of await api.listContainers({ all: true })) await removed(api.getContainer(id));
      const ended = new Promise((resolve) => server.once('exit', resolve));
      server.kill('SIGTERM');
      await ended;
    },
  };
}

function dockerServer(dir: string, socket: string): ChildProcess {
  return spawn(
    'dockerd',
    [
      '--storage-driver=vfs',
      '--iptables=false',
      '--ip6tables=false',
      '--bridge=none',
      '--default-ulimit=nofile=20000:20000',
      `--data-root=${join(dir, 'data')}`,
      `--exec-root=${join(dir, 'exec')}`,
      `--pidfile=${join(dir, 'pid')}`,
      `--host=unix://${socket}`,
    ],
    { stdio: 'ignore' },
  );
}

function podmanServer(dir: string, socket: string): ChildProcess {
  return spawn(
    'podman',
    [
      '--cgroup-manager=cgroupfs',
      '--runtime=runc',
      '--storage-driver=vfs',
      `--root=${join(dir, 'data')}`,
      `--runroot=${join(dir, 'run')}`,
      // Its own: an engine's events are read from there.
      `--tmpdir=${join(dir, 'tmp')}`,
      'system',
      'service',
      '--time=0',
      `unix://${socket}`,
    ],
    // What watches its containers notes there that one ran out of memory.
    { stdio: 'ignore', cwd: dir },
  );
}
