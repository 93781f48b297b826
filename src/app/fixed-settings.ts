import type { Settings } from '../actions/policy/workspace-settings.ts';
import type { Config } from '../config/config.ts';
import type { LocalWorkspace } from './playground.ts';

/** What the environment says comes before the playground's own people. */
export function fixedSettings(config: Config, workspace: LocalWorkspace | null): Settings {
  const { alertChannels, approvers, admins, oncallGroup, adminChannel } = config;
  const said = <T>(list: readonly T[], local: readonly T[] = []): T[] => [
    ...(list.length > 0 ? list : local),
  ];
  return {
    alertChannels: said(alertChannels, workspace ? ['alerts'] : []),
    approvers: said(approvers, workspace?.approvers),
    admins: said(admins, workspace?.admins),
    oncallGroup: oncallGroup ?? workspace?.oncallGroup ?? null,
    adminChannel: adminChannel ?? (workspace ? 'sentry-admin' : null),
  };
}
