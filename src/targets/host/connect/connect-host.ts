import { OpsError } from '../../../core/errors.ts';
import { defaultCommandPolicy } from '../../../safety/commands/policy.ts';
import type { SessionOptions } from '../../../tools/ports.ts';
import type { HostConfig, HostService } from '../config.ts';
import { watchLogs } from '../logs/watch-logs.ts';
import type { Machine } from '../machine.ts';
import type { Host, HostAccess, ServiceState } from '../system.ts';
import { declaredState, STEADY_SECONDS } from './declared-service.ts';
import { localMachine } from './local-machine.ts';
import { restartCommand } from './restart-command.ts';
import { restartService } from './restart-service.ts';
import { systemdState } from './systemd-service.ts';

export interface HostOptions {
  /** This one when left out. */
  readonly machine?: Machine;
  /** The guarded ways to the machine; its own when left out. */
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

/** The services of a host and the ways to it, on this machine or another one. */
export function connectHost(
  config: HostConfig,
  {
    machine = localMachine,
    access = machine.access,
    deniedPorts,
    systemctl,
    journalctl,
    steadySeconds = STEADY_SECONDS,
  }: HostOptions,
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
      ? declaredState(service, machine, steadySeconds, options)
      : systemdState(
          service,
          machine,
          { systemctl: systemctl ?? machine.systemctl(), steadySeconds },
          options,
        );
  return {
    machine,
    roots: config.roots,
    services: config.services.map(({ name }) => name),
    commands: {
      curlHosts: config.curlHosts,
      curlDeniedPorts: [...defaultCommandPolicy.curlDeniedPorts, ...deniedPorts],
      logRoots: config.roots.map(({ path }) => ({ root: path, logsOnly: false })),
    },
    access,
    logs: machine === localMachine ? watchLogs(config, journalctl) : [],
    service: async (name, options) => stateOf(find(name), options),
    async reach(name, options) {
      const { port } = find(name);
      if (port !== undefined) return machine.reach(port, options);
      throw new OpsError('HOST_NO_PORT', `no port is declared for ${name}`, {
        hint: `Set "port" of the service ${name} of ${config.name} in sentry.yaml.`,
      });
    },
    async restart(guard, deadline, options) {
      const service = find(guard.service);
      const argv = restartCommand(service, systemctl ?? machine.systemctl);
      return restartService(
        {
          machine,
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
