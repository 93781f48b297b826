import { OpsError } from '../../../core/errors.ts';
import type { HostService, HostTargetConfig } from '../../../core/host-target.ts';
import type { Host, HostAccess, HostTargets, ServiceState, SessionOptions } from '../../../tools/ports.ts';
import { bootClock } from './boot-clock.ts';
import { declaredState, STEADY_SECONDS } from './declared-service.ts';
import { machineIdentity } from './host-identity.ts';
import { reachPort } from './reach-port.ts';
import { restartService } from './restart-service.ts';
import { systemctlPath, systemdState } from './systemd-service.ts';

export interface OpenHostTargets extends HostTargets {
  has(name: string): boolean;
  /** The machine, as far as a rebuilt one is another; a host has no timelines. */
  identity(name: string): { readonly systemIdentifier: string; readonly timelineId: number };
}

export interface LocalHostOptions {
  /** The guarded ways to this machine. */
  readonly access: HostAccess;
  /** Ports that `curl` never asks: our own, whose answers are not for models. */
  readonly deniedPorts: readonly number[];
  /** How long a process must have run to count as running; 10 s when left out. */
  readonly steadySeconds?: number;
  /** Where systemctl is; found when left out. */
  readonly systemctl?: string;
}

/** The hosts of the configuration, all of them this machine. */
export function createHostTargets(
  configs: readonly HostTargetConfig[],
  options: LocalHostOptions,
): OpenHostTargets {
  const hosts = new Map(configs.map((config) => [config.name, localHost(config, options)]));
  return {
    has: (name) => hosts.has(name),
    identity: () => ({ systemIdentifier: machineIdentity(), timelineId: 0 }),
    host(name) {
      const found = hosts.get(name);
      if (found) return found;
      throw new OpsError('HOST_NO_TARGET', `there is no host "${name}"`, {
        hint: `Configured: ${[...hosts.keys()].join(', ') || 'none'}.`,
      });
    },
  };
}

function localHost(
  config: HostTargetConfig,
  { access, deniedPorts, systemctl, steadySeconds = STEADY_SECONDS }: LocalHostOptions,
): Host {
  const find = (name: string): HostService => {
    const found = config.services.find((each) => each.name === name);
    if (found) return found;
    throw new OpsError('HOST_NO_SERVICE', `"${name}" is not declared as a service of ${config.name}.`, {
      hint: `Declared: ${config.services.map((each) => each.name).join(', ') || 'none'}.`,
    });
  };
  const stateOf = async (service: HostService, options: SessionOptions): Promise<ServiceState> =>
    service.kind === 'command'
      ? declaredState(service, steadySeconds)
      : systemdState(service, { systemctl: systemctl ?? systemctlPath(), steadySeconds }, options);
  return {
    machine: machineIdentity(),
    roots: config.roots,
    services: config.services.map(({ name }) => name),
    commands: {
      curlHosts: config.curlHosts,
      curlDeniedPorts: deniedPorts,
      logRoots: config.roots.map(({ path }) => ({ root: path, logsOnly: false })),
    },
    access,
    clock: bootClock,
    service: async (name, options) => stateOf(find(name), options),
    async reach(name, options) {
      const { port } = find(name);
      if (port !== undefined) return reachPort(port, options);
      throw new OpsError('HOST_NO_PORT', `no port is declared for ${name}`, {
        hint: `Set "port" of the service ${name} of ${config.name} in sentry.yaml.`,
      });
    },
    async restart(guard, deadline, options) {
      const service = find(guard.service);
      const argv =
        service.kind === 'command'
          ? service.restart
          : [systemctl ?? systemctlPath(), '--no-ask-password', 'restart', service.unit];
      return restartService(
        {
          argv,
          guard,
          deadline,
          capture: service.kind === 'systemd',
          state: () => stateOf(service, options),
        },
        options,
      );
    },
  };
}
