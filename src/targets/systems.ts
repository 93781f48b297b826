import { OpsError } from '../core/errors.ts';
import type { Watch } from '../core/sighting.ts';
import type { ToolPorts } from '../tools/ports.ts';
import type { ConnectDeps, Connection, TargetConfig, TargetIdentity, TargetKind } from './kind.ts';

/** The configured targets, each with its kind and its connection. All but `reader` throw OpsError NO_SYSTEM for a name that is not configured. */
export interface Systems extends Pick<ToolPorts, 'system' | 'looks'> {
  identity(target: string): Promise<TargetIdentity>;
  facts(target: string): Promise<Readonly<Record<string, string>>>;
  /** See `TargetKind.reader`; null also for a name that is not configured. */
  reader(target: string): string | null;
  /** Those that tell something by themselves, and are to be heard. */
  watched(): readonly { readonly target: string; readonly watch: Watch }[];
  close(): Promise<void>;
}

interface Connected {
  readonly config: TargetConfig;
  readonly kind: TargetKind;
  readonly connection: Connection<unknown>;
}

export function connectSystems(
  kinds: readonly TargetKind[],
  configs: readonly TargetConfig[],
  deps: ConnectDeps,
): Systems {
  const connected = new Map<string, Connected>();
  for (const config of configs) {
    const kind = kindOf(kinds, config);
    connected.set(config.name, { config, kind, connection: kind.connect(config, deps) });
  }
  const find = (target: string): Connected => {
    const found = connected.get(target);
    if (found) return found;
    throw new OpsError('NO_SYSTEM', `there is no connection to a target called "${target}"`, {
      hint: `Configured: ${[...connected.keys()].join(', ') || 'none'}.`,
    });
  };
  return {
    system: (target) => find(target).connection.system,
    identity: async (target) => find(target).connection.identity(),
    facts: async (target) => {
      const { kind, connection } = find(target);
      return kind.facts(connection.system);
    },
    looks: (target) => find(target).kind.looks,
    reader: (target) => {
      const found = connected.get(target);
      return found ? found.kind.reader(found.config) : null;
    },
    watched: () =>
      [...connected.values()].flatMap(({ config, kind, connection }) => {
        const watch = kind.watch(config, connection.system);
        return watch ? [{ target: config.name, watch }] : [];
      }),
    close: async () => {
      await Promise.all([...connected.values()].map(({ connection }) => connection.close()));
    },
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
