import { existsSync } from 'node:fs';
import { OpsError } from '../../../core/errors.ts';
import type { SessionOptions } from '../../../tools/ports.ts';
import type { HostService } from '../config.ts';
import type { Machine } from '../machine.ts';
import type { ServiceState } from '../system.ts';

type SystemdService = Extract<HostService, { kind: 'systemd' }>;

const properties = ['Id', 'LoadState', 'ActiveState', 'SubState', 'MainPID', 'NRestarts', 'Result'] as const;

/** Never by PATH, which somebody else may have set. */
export function systemctlPath(): string {
  const path = ['/usr/bin/systemctl', '/bin/systemctl'].find((each) => existsSync(each));
  if (path !== undefined) return path;
  throw new OpsError('HOST_NO_SYSTEMD', 'systemctl is not installed on this host.', {
    hint: 'Declare the service by "restart" and "pid_file" instead of "unit".',
  });
}

/** How a unit is, by `systemctl show`. `systemctl`: its absolute path. */
export async function systemdState(
  { name, unit }: SystemdService,
  machine: Machine,
  { systemctl, steadySeconds }: { readonly systemctl: string; readonly steadySeconds: number },
  options: SessionOptions,
): Promise<ServiceState> {
  const argv = [systemctl, 'show', unit, '--no-pager', `--property=${properties.join(',')}`];
  const { exitCode, output } = await machine.run(argv, { ...options, capture: true });
  if (exitCode !== 0)
    throw new OpsError(
      'HOST_SYSTEMD',
      `systemctl show ${unit}: ${output.trim().slice(0, 300) || 'no answer'}`,
      {
        hint: 'Look whether systemd runs on this host and answers the account of Sentry.',
        retryable: true,
      },
    );
  const read = new Map(
    output.split('\n').map((line) => [line.split('=')[0], line.slice(line.indexOf('=') + 1)]),
  );
  if (read.get('LoadState') === 'not-found')
    throw new OpsError('GONE', `There is no unit ${unit} on this host.`, {
      hint: 'Correct "unit" of the service in sentry.yaml.',
    });
  const pid = Number(read.get('MainPID') ?? 0);
  const process = pid > 0 ? await machine.process(pid, options) : null;
  const ageSeconds = process?.ageSeconds ?? null;
  const masked = read.get('LoadState') === 'masked' ? ', masked' : '';
  const active = read.get('ActiveState') ?? 'unknown';
  const sub = read.get('SubState') ?? 'unknown';
  return {
    name,
    state: stateOf(active, sub, ageSeconds !== null && ageSeconds < steadySeconds),
    mainPid: process ? pid : null,
    startedAt: process?.startedAt ?? null,
    ageSeconds,
    restarts: Number(read.get('NRestarts') ?? 0),
    says: `${active} (${sub}), result ${read.get('Result') ?? 'unknown'}${masked}`,
    declared: unit,
    // By its own name: a unit may have aliases.
    keys: [`unit ${read.get('Id') || unit}`],
  };
}

function stateOf(active: string, sub: string, young: boolean): ServiceState['state'] {
  if (
    sub === 'auto-restart' ||
    active === 'activating' ||
    active === 'reloading' ||
    active === 'deactivating'
  )
    return 'restarting';
  if (active === 'failed') return 'failed';
  if (active !== 'active') return 'stopped';
  return young ? 'restarting' : 'running';
}
