import { alertmanager } from './alertmanager/kind.ts';
import { docker } from './docker/kind.ts';
import { host } from './host/kind.ts';
import type { TargetKind } from './kind.ts';
import { kubernetes } from './kubernetes/kind.ts';
import { loki } from './loki/kind.ts';
import { podman } from './podman/kind.ts';
import { postgres } from './postgres/kind.ts';
import { prometheus } from './prometheus/kind.ts';

/** Every kind of system Sentry knows. A new kind is a folder beside these and one entry here. */
export const kinds: readonly TargetKind[] = [
  postgres,
  docker,
  podman,
  kubernetes,
  host,
  prometheus,
  loki,
  alertmanager,
];
