import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import {
  type EngineName,
  importImage,
  removed,
  type ShopEngine,
  shopEngine,
} from '../../playground/faults/containers/shop-engine.ts';
import { until } from '../../playground/faults/until.ts';

/** An engine of its own, with one image, `IMAGE`. */
export interface ScratchEngine extends ShopEngine {
  /** Ends it with all its containers. */
  stop(): Promise<void>;
}

/** Starts it in an empty folder (3 s): flags for a machine without systemd, bridges or a registry. Needs root. */
export async function startScratchEngine(kind: EngineName, dir: string): Promise<ScratchEngine> {
  const socket = join(dir, 'engine.sock');
  const server = kind === 'docker' ? dockerServer(dir, socket) : podmanServer(dir, socket);
  const engine = await shopEngine(kind, socket);
  const { api } = engine;
  await until(`${kind} to answer`, async () => (await api.ping().catch(() => null)) !== null);
  await importImage(engine, dir);
  return {
    ...engine,
    async stop() {
      // A case may have ended it.
      if (server.exitCode !== null) return;
      for (const { Id: id } of await api.listContainers({ all: true })) await removed(api.getContainer(id));
      const ended = new Promise((resolve) => server.once('exit', resolve));
      server.kill('SIGTERM');
      await ended;
      // Docker leaves the namespace of its host's network mounted there.
      spawnSync('umount', [join(dir, 'exec', 'netns', 'default')], { stdio: 'ignore' });
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
