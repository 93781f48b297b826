import { OpsError } from '../../../core/errors.ts';
import { defaultCommandPolicy } from '../../../safety/commands/policy.ts';
import type { SessionOptions } from '../../../tools/ports.ts';
import { bootClock } from '../../boot-clock.ts';
import type { HostConfig, HostService } from '../config.ts';
import { watchLogs } from '../logs/watch-logs.ts';
import type { Host, HostAccess, ServiceState } from '../system.ts';
import { declaredState, STEADY_SECONDS } from './declared-service.ts';
import { machineIdentity } from './host-identity.ts';
import { localAccess } from './local-access.ts';
import { reachPort } from './reach-port.ts';
import { restartService } from './restart-service.ts';
import { systemctlPath, systemdState } from './systemd-service.ts';

export interface LocalHostOptions {
  /** The guarded ways to this machine; those of `src/safety` when left out. */
  readonly access?: HostAccess;
  /** Ports that `curl` never asks, beside the usual ones: our own, whose answers are not for models. */
  readonly deniedPorts: readonly number[];
  /** How long a process must have run to count as running; 10 s when left out. */
  readonly steadySeconds?: number;
  /** Where systemctl is; found when left out. */
  readonly systemctl?: string;
  /** The same of journalctl. */
  readonly journalctl?: string;
}

/** A host that is this machine. */
export function localHost(
  config: HostConfig,
  {
    access = localAccess,
    deniedPorts,
    systemctl,
    journalctl,
    steadySeconds = STEADY_SECONDS,
  }: LocalHostOptions,
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
      curlDeniedPorts: [...defaultCommandPolicy.curlDeniedPorts, ...deniedPorts],
      logRoots: config.roots.map(({ path }) => ({ root: path, logsOnly: false })),
    },
    access,
    logs: watchLogs(config, journalctl),
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
