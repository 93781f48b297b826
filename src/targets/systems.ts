import { isDeepStrictEqual } from 'node:util';
import { OpsError } from '../core/errors.ts';
import type { Inventory } from '../core/inventory.ts';
import type { Watch } from '../core/sighting.ts';
import type { Target } from '../core/target.ts';
import type { UsualReading } from '../core/usual.ts';
import type { WatchedLog } from '../core/watched-log.ts';
import type { ToolPorts } from '../tools/ports.ts';
import type { ConnectDeps, Connection, TargetConfig, TargetIdentity, TargetKind, UsualRead } from './kind.ts';
import { readUsual } from './read-usual.ts';

/**
 * The configured targets, each with its kind and its connection: the one place that knows them, and the one that everybody asks,
 * since they change while Sentry runs. All but `reader` throw OpsError NO_SYSTEM for a name that is not configured.
 */
export interface Systems extends Required<Pick<ToolPorts, 'system' | 'looks' | 'hold'>> {
  /** As they are now, whenever it is asked. A target that is changed is another object; one that stays is the same. */
  readonly targets: ReadonlyMap<string, Target>;
  identity(target: string): Promise<TargetIdentity>;
  facts(target: string): Promise<Readonly<Record<string, string>>>;
  /** What a target is made of, and which system that is; null where its kind tells nothing of it. See `TargetKind.inventory`. */
  inventory(
    target: string,
    signal: AbortSignal,
  ): Promise<{ readonly system: string; readonly inventory: Inventory } | null>;
  /**
   * The few numbers of a target now, and which system that is; null where its kind keeps none. `only`: the one that is wanted.
   * See `TargetKind.usual`.
   */
  usual(
    target: string,
    signal: AbortSignal,
    only?: string,
  ): Promise<{ readonly system: string; readonly reading: UsualReading } | null>;
  /** What is read for it, none where its kind keeps none; also for a name that is not configured. */
  usualReads(target: string): readonly UsualRead[];
  /** See `TargetKind.reader`; null also for a name that is not configured. */
  reader(target: string): string | null;
  /** Whether its configuration lets anything be changed there at all; false for a name that is not configured. */
  mayAct(target: string): boolean;
  /** Those that tell something by themselves, and are to be heard. */
  watched(): readonly Watched[];
  /** The logs that they want watched. */
  logs(): readonly TargetLogs[];
  /**
   * From now on there are these, all at once; says whether any is another one. What is gone or was changed is closed when the
   * last call on it has ended.
   */
  change(configs: readonly TargetConfig[]): boolean;
  close(): Promise<void>;
}

export interface Watched {
  readonly target: Target;
  readonly watch: Watch;
}

export interface TargetLogs {
  readonly target: Target;
  readonly logs: readonly WatchedLog[];
}

interface Connected {
  readonly config: TargetConfig;
  readonly target: Target;
  readonly kind: TargetKind;
  readonly connection: Connection<unknown>;
  /** Calls under way. */
  calls: number;
}

export function connectSystems(
  kinds: readonly TargetKind[],
  configs: readonly TargetConfig[],
  deps: ConnectDeps,
): Systems {
  const connected = new Map<string, Connected>();
  const targets = new Map<string, Target>();
  const closing = new Set<Promise<void>>();
  const find = (target: string): Connected => {
    const found = connected.get(target);
    if (found) return found;
    throw new OpsError('NO_SYSTEM', `there is no connection to a target called "${target}"`, {
      hint: `Configured: ${[...connected.keys()].join(', ') || 'none'}.`,
    });
  };
  const isCurrent = (one: Connected): boolean => connected.get(one.config.name) === one;
  const closeUnused = (one: Connected): void => {
    if (one.calls > 0 || isCurrent(one)) return;
    const closed = one.connection.close();
    closing.add(closed);
    // A failure is told to whoever closes all; until then nobody waits for it.
    closed.then(
      () => closing.delete(closed),
      () => undefined,
    );
  };
  /** Its connection stays open meanwhile. */
  const use = async <T>(target: string, work: (one: Connected) => Promise<T>): Promise<T> => {
    const one = find(target);
    one.calls += 1;
    try {
      return await work(one);
    } finally {
      one.calls -= 1;
      closeUnused(one);
    }
  };
  const change = (wanted: readonly TargetConfig[]): boolean => {
    const before = [...connected.values()];
    const now = wanted.map((config) => {
      const old = connected.get(config.name);
      return old && isDeepStrictEqual(old.config, config) ? old : connect(kinds, config, deps);
    });
    connected.clear();
    targets.clear();
    for (const one of now) {
      connected.set(one.config.name, one);
      targets.set(one.config.name, one.target);
    }
    before.forEach(closeUnused);
    return !isDeepStrictEqual(before, now);
  };
  change(configs);
  return {
    targets,
    change,
    hold(target) {
      const held = connected.get(target);
      if (held) held.calls += 1;
      return () => {
        if (!held) return;
        held.calls -= 1;
        closeUnused(held);
      };
    },
    system: (target) => find(target).connection.system,
    identity: async (target) => find(target).connection.identity(),
    facts: async (target) => {
      const { kind, connection } = find(target);
      return kind.facts(connection.system);
    },
    async inventory(name, signal) {
      const { kind } = find(name);
      const { inventory } = kind;
      if (!inventory) return null;
      return use(name, async ({ connection }) => {
        const { systemIdentifier: system } = await connection.identity();
        return { system, inventory: await inventory(connection.system, signal) };
      });
    },
    async usual(name, signal, only) {
      const { usual } = find(name).kind;
      if (usual === null) return null;
      return use(name, async ({ connection, target }) => {
        const { systemIdentifier: system } = await connection.identity();
        return { system, reading: await readUsual(target, usual, connection.system, signal, only) };
      });
    },
    usualReads: (target) => connected.get(target)?.kind.usual ?? [],
    looks: (target) => find(target).kind.looks,
    reader: (target) => {
      const found = connected.get(target);
      return found ? found.kind.reader(found.config) : null;
    },
    mayAct: (target) => {
      const found = connected.get(target);
      return found !== undefined && found.kind.settings(found.config)['acts'] !== false;
    },
    watched: () =>
      [...connected.values()].flatMap(({ config, target, kind, connection }) => {
        const watch = kind.watch(config, connection.system);
        return watch ? [{ target, watch }] : [];
      }),
    logs: () =>
      [...connected.values()].flatMap(({ config, target, kind, connection }) => {
        const logs = kind.logs(config, connection.system);
        return logs.length > 0 ? [{ target, logs }] : [];
      }),
    close: async () => {
      await Promise.all(
        [...connected.values()].map(({ connection }) => connection.close()).concat(...closing),
      );
    },
  };
}

function connect(kinds: readonly TargetKind[], config: TargetConfig, deps: ConnectDeps): Connected {
  const kind = kindOf(kinds, config);
  const refuses = kind.refuses?.(config) ?? {};
  const target = { ...toTarget(config), ...(Object.keys(refuses).length > 0 ? { refuses } : {}) };
  return { config, target, kind, connection: kind.connect(config, deps), calls: 0 };
}

/** Without its addresses and credentials. */
export function toTarget(config: TargetConfig): Target {
  const { name, kind, domain, environment, aliases, alerts, neighbours, changesFrom } = config;
  return {
    name,
    kind,
    domain,
    environment,
    aliases,
    ...(alerts ? { alerts } : {}),
    ...(neighbours ? { neighbours } : {}),
    ...(changesFrom ? { changesFrom } : {}),
  };
}

/** Throws OpsError UNKNOWN_KIND: configuration that was read knows no others. */
export function kindOf(
  kinds: readonly TargetKind[],
  { name, kind }: Pick<TargetConfig, 'name' | 'kind'>,
): TargetKind {
  const found = kinds.find((each) => each.name === kind);
  if (found) return found;
  throw new OpsError('UNKNOWN_KIND', `target "${name}" is of kind "${kind}", which Sentry does not know`, {
    hint: `Known: ${kinds.map((each) => each.name).join(', ')}.`,
  });
}
