import type { ContainerRuntime } from './container-runtime.ts';
import type { ControlPlane } from './control-plane.ts';

interface ProbeTimes {
  readonly initialDelaySeconds?: number;
  readonly periodSeconds?: number;
  readonly failureThreshold?: number;
}

/** Tries a probe that fails when its time has come; true once it has failed often enough to matter. */
export function failsAgain(
  plane: ControlPlane,
  own: ContainerRuntime,
  probe: ProbeTimes,
  tell: () => void,
): boolean {
  const periodMs = (probe.periodSeconds ?? 10) * 1000;
  if (own.probeAt === 0)
    own.probeAt = Math.max(plane.now(), own.startedAt + (probe.initialDelaySeconds ?? 0) * 1000) + periodMs;
  if (plane.now() >= own.probeAt) {
    own.failures += 1;
    own.probeAt = plane.now() + periodMs;
    tell();
  }
  plane.wake(own.probeAt);
  return own.failures >= (probe.failureThreshold ?? 3);
}
