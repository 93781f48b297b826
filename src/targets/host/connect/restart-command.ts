import type { HostService } from '../config.ts';

/** What a restart of a service runs. `systemctl`: its path, or who knows it where it is needed. */
export function restartCommand(service: HostService, systemctl: string | (() => string)): readonly string[] {
  if (service.kind === 'command') return service.restart;
  const program = typeof systemctl === 'string' ? systemctl : systemctl();
  return [program, '--no-ask-password', 'restart', service.unit];
}
