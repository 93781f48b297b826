import { OpsError } from '../../src/core/errors.ts';
import type { Target } from '../../src/core/target.ts';
import { domainOfLabels, domainsOf } from '../../src/targets/domains.ts';
import type { HostConfig } from '../../src/targets/host/config.ts';
import { connectHost, type HostOptions } from '../../src/targets/host/connect/connect-host.ts';
import { machineIdentity } from '../../src/targets/host/connect/host-identity.ts';
import type { Host } from '../../src/targets/host/system.ts';
import type { TargetConfig, TargetIdentity } from '../../src/targets/kind.ts';
import { kinds } from '../../src/targets/kinds.ts';
import type { PostgresConfig } from '../../src/targets/postgres/config.ts';
import { connectPostgres } from '../../src/targets/postgres/connect/connect-postgres.ts';
import type {
  OwnPostgresSession,
  PostgresSession,
  PostgresSystem,
} from '../../src/targets/postgres/system.ts';
import { kindOf } from '../../src/targets/systems.ts';
import type { ToolContext } from '../../src/tools/define.ts';
import type { Docs, SessionOptions, ToolPorts } from '../../src/tools/ports.ts';

export const domains = domainsOf(kinds);
export const domainOf = domainOfLabels(kinds);

/** For tests of tools that have nothing to do with documentation. */
export const noDocs: Docs = {
  hosts: [],
  fetch: () => Promise.reject(new Error('there are no pages in this test')),
};

/** For tests whose tools reach nothing; what is looked at first is what a database has. */
export const noSystems: ToolPorts = {
  system: () => undefined,
  looks: () => kindOf(kinds, { name: '', kind: 'postgres' }).looks,
  docs: noDocs,
};

/** Connections by the names of their targets, as the gate reaches them. */
interface Systems<S> {
  system(name: string): S;
  identity(name: string): Promise<TargetIdentity>;
  describe(name: string): Target;
  /** As a tool is given it. */
  context(name: string, timeoutMs: number): ToolContext<S>;
  readonly ports: ToolPorts;
}

function systems<S>(
  configs: readonly TargetConfig[],
  byName: ReadonlyMap<string, S>,
  identity: (name: string) => Promise<TargetIdentity>,
): Systems<S> {
  const describe = (name: string): Target => {
    const found = configs.find((config) => config.name === name);
    if (!found) throw new Error(`no target ${name}`);
    const { kind, domain, environment, aliases } = found;
    return { name, kind, domain, environment, aliases };
  };
  const system = (name: string): S => {
    const found = byName.get(name);
    if (found === undefined) throw new OpsError('NO_SYSTEM', name, { hint: 'Name another.' });
    return found;
  };
  return {
    system,
    identity,
    describe,
    context: (name, timeoutMs) => ({
      target: describe(name),
      system: system(name),
      docs: noDocs,
      signal: new AbortController().signal,
      timeoutMs,
    }),
    ports: { system, looks: (name) => kindOf(kinds, describe(name)).looks, docs: noDocs },
  };
}

/** The PostgreSQL targets of a test. */
export interface PostgresTargets extends Systems<PostgresSystem> {
  read<T>(name: string, use: (session: PostgresSession) => Promise<T>, options: SessionOptions): Promise<T>;
  readAlone<T>(
    name: string,
    use: (session: OwnPostgresSession) => Promise<T>,
    options: SessionOptions,
  ): Promise<T>;
  act<T>(name: string, use: (session: PostgresSession) => Promise<T>, options: SessionOptions): Promise<T>;
  close(): Promise<void>;
}

export function createPostgresTargets(given: readonly Omit<PostgresConfig, 'domain'>[]): PostgresTargets {
  const configs = given.map((config): PostgresConfig => ({ ...config, domain: 'postgres' }));
  const open = new Map(configs.map((config) => [config.name, connectPostgres(config)]));
  const found = systems(
    configs,
    new Map([...open].map(([name, { system }]) => [name, system])),
    async (name) => {
      const connection = open.get(name);
      if (!connection) throw new Error(`no target ${name}`);
      return connection.identity();
    },
  );
  return {
    ...found,
    read: async (name, use, options) => found.system(name).read(use, options),
    readAlone: async (name, use, options) => found.system(name).readAlone(use, options),
    act: async (name, use, options) => found.system(name).act(use, options),
    close: async () => void (await Promise.all([...open.values()].map((one) => one.close()))),
  };
}

/** The hosts of a test, all of them this machine. */
export interface HostTargets extends Systems<Host> {
  host(name: string): Host;
}

export function createHostTargets(configs: readonly HostConfig[], options: HostOptions): HostTargets {
  const found = systems(
    configs,
    new Map(configs.map((config) => [config.name, connectHost(config, options)])),
    async () => ({ systemIdentifier: machineIdentity(), timelineId: 0 }),
  );
  return { ...found, host: found.system };
}
