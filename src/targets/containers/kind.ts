import { count } from '../../core/count.ts';
import type { Tool } from '../../tools/define.ts';
import { defineKind, type TargetKind } from '../kind.ts';
import { killContainer } from './active/kill.ts';
import { lifecycleTools } from './active/lifecycle.ts';
import { pruneImages } from './active/prune.ts';
import { adviseContainers } from './advise.ts';
import { type ContainersConfig, containersFields, readContainers } from './config.ts';
import { connectEngine, type EngineWays } from './connect/connect-engine.ts';
import { containersInventory } from './inventory.ts';
import { containerDiff } from './read/diff.ts';
import { engineDisk } from './read/disk.ts';
import { engineEvents } from './read/events.ts';
import { imageHistory } from './read/history.ts';
import { inspectContainer } from './read/inspect.ts';
import { listContainers } from './read/list.ts';
import { containerLogs } from './read/logs.ts';
import { containerNetworks } from './read/networks.ts';
import { containerStats } from './read/stats.ts';
import { containerTop } from './read/top.ts';
import { engineVolumes } from './read/volumes.ts';
import { whyDied } from './read/why-died.ts';
import type { ContainerSystem } from './tool.ts';
import { containersUsual } from './usual.ts';
import { watchEngine } from './watch.ts';

const WITHIN_MS = 10_000;
const within = () => ({ timeoutMs: WITHIN_MS, signal: AbortSignal.timeout(WITHIN_MS) });

/** What Docker and Podman differ in. */
interface EngineKind extends Pick<TargetKind, 'name' | 'plural' | 'domains'>, EngineWays {
  /** Where its socket is when nothing else is said. */
  readonly socket: string;
  /** Tools that only this engine has. */
  readonly own: readonly Tool[];
}

/** A kind of container engine, by the API of Docker. */
export function containerKind({
  socket,
  own,
  identify,
  tailsWell,
  tellsOom,
  ...kind
}: EngineKind): TargetKind {
  const { name } = kind;
  return defineKind<ContainersConfig, ContainerSystem>({
    ...kind,
    fields: containersFields,
    read: (entry: never) => readContainers(entry, socket),
    settings: ({ acts, only, watch }) => ({ acts, only, watch }),
    // An engine knows no accounts: whoever reaches it may do everything.
    reader: () => null,
    connect({ address, acts, only }) {
      const engine = connectEngine(address, { identify, tailsWell, tellsOom, only });
      return {
        system: { engine, acts, isPartial: Object.keys(only).length > 0 },
        identity: async () => ({ systemIdentifier: await engine.identity(within()), timelineId: 0 }),
        close: async () => undefined,
      };
    },
    async doctor({ acts }, { system: { engine } }) {
      const [version, { found: containers }] = await Promise.all([
        engine.version(within()),
        engine.containers(within()),
      ]);
      const up = containers.filter(({ upSeconds }) => upSeconds !== null).length;
      return `${version}, ${up} of ${count(containers.length, 'container')} run${acts ? '' : ', read-only'}`;
    },
    facts: async ({ engine }) => ({ [name]: await engine.version(within()) }),
    inventory: containersInventory,
    usual: containersUsual,
    watch: ({ watch, name: target }, { engine }) =>
      watch ? watchEngine(engine, { target, runtime: name }) : null,
    logs: () => [],
    advise: adviseContainers,
    looks: [
      { tool: 'container_list', why: 'How the containers are' },
      { tool: 'container_disk', why: 'Where its disk goes' },
    ],
    tools: [
      listContainers,
      inspectContainer,
      whyDied,
      containerLogs,
      containerStats,
      containerTop,
      engineEvents,
      containerDiff,
      imageHistory,
      containerNetworks,
      engineVolumes,
      engineDisk,
      ...own,
      ...lifecycleTools,
      killContainer,
      pruneImages,
    ],
  });
}
