import { count } from '../../core/count.ts';
import { messageOf, OpsError } from '../../core/errors.ts';
import type { HostConfig } from './config.ts';
import type { Host } from './system.ts';

/** For `sentry doctor`: whether a host's folders, services and programs are there. Throws OpsError HOST naming what is not. */
export async function checkHost(config: HostConfig, host: Host): Promise<string> {
  const wrong = [...(await host.machine.lacks(config.services))];
  for (const root of config.roots) {
    const checked = await host.access.check(root.path, '.');
    if (!checked.ok) wrong.push(`${root.path}: ${checked.reason}`);
    else if (checked.kind !== 'directory') wrong.push(`${root.path}: is no folder`);
    else if (!(await host.machine.mayUse(root.path, root.patch ? 'write' : 'read')))
      wrong.push(`${root.path}: may not be ${root.patch ? 'written' : 'read'} by Sentry's account`);
  }
  const states: string[] = [];
  for (const name of host.services)
    try {
      const options = { timeoutMs: 10_000, signal: AbortSignal.timeout(10_000) };
      states.push(`${name} ${(await host.service(name, options)).state}`);
    } catch (error) {
      wrong.push(`service ${name}: ${messageOf(error).replace(/\s+/g, ' ')}`);
    }
  if (wrong.length > 0)
    throw new OpsError('HOST', wrong.join('; '), {
      hint: 'Correct the target in sentry.yaml, or the rights of the account that Sentry uses there.',
    });
  const over = config.ssh ? `${config.ssh.user}@${config.ssh.host} over ssh; ` : '';
  return `${over}${count(config.roots.length, 'folder')}; ${states.join(', ') || 'no services'}`;
}
