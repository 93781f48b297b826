import type { Config } from '../config/config.ts';
import type { Target } from '../core/target.ts';
import type { TargetConfig } from '../targets/kind.ts';

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

/** The playground's containers, where the machine has an engine; what else runs in it is not theirs. */
export const playgroundEngines: readonly Target[] = ['docker', 'podman'].map((kind) => ({
  name: `shop-${kind}`,
  kind,
  domain: kind,
  environment: 'playground',
  aliases: [],
}));

/** The configured targets without their credentials; the playground's when none is configured. */
export function configuredTargets(config: Config): readonly Target[] {
  return config.playgroundTarget
    ? [playgroundTarget, playgroundHost, ...playgroundEngines]
    : config.targets.map(toTarget);
}

/** Without its addresses and credentials. */
export function toTarget({ name, kind, domain, environment, aliases, neighbours }: TargetConfig): Target {
  return { name, kind, domain, environment, aliases, ...(neighbours === undefined ? {} : { neighbours }) };
}
