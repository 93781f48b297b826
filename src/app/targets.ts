import type { Config } from '../config/config.ts';
import type { HostTargetConfig } from '../core/host-target.ts';
import type { Target } from '../core/target.ts';
import type { PostgresTargetConfig } from '../targets/postgres/config.ts';

/** Names an alert may use for the playground's system under care. */
export const playgroundTarget: Target = {
  name: 'shop-db',
  kind: 'postgres',
  domain: 'postgres',
  environment: 'playground',
  aliases: ['shop'],
};

/** The playground's machine under care: a folder with a service that may be broken, too. */
export const playgroundHost: Target = {
  name: 'shop-host',
  kind: 'host',
  domain: 'docker',
  environment: 'playground',
  aliases: ['shop-worker'],
};

/** The configured targets without their credentials; the playground's when none is configured. */
export function configuredTargets(config: Config): readonly Target[] {
  return config.playgroundTarget
    ? [playgroundTarget, playgroundHost]
    : [...config.targets.map(toTarget), ...config.hosts.map(hostTarget)];
}

function hostTarget({ name, kind, domain, environment, aliases }: HostTargetConfig): Target {
  return { name, kind, domain, environment, aliases };
}

function toTarget({ name, kind, environment, aliases }: PostgresTargetConfig): Target {
  return { name, kind, domain: 'postgres', environment, aliases };
}

/** The database role that a target is read with, by its URL's user; null where there is none, and for hosts. */
export function readerOf(targets: readonly PostgresTargetConfig[], name: string): string | null {
  const url = targets.find((target) => target.name === name)?.readUrl;
  if (url === undefined || !URL.canParse(url)) return null;
  return decodeURIComponent(new URL(url).username) || null;
}
