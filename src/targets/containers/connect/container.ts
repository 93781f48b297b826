import type Docker from 'dockerode';
import type { Container, Health } from '../engine.ts';

/** What an engine writes for “never”. */
const NEVER = /^0001-/;

/** A container out of `GET /containers/{id}/json`; `now` is the engine's clock in ms. */
export function toContainer(raw: Docker.ContainerInspectInfo, now: number): Container {
  const { State: state, HostConfig: host, Config: config } = raw;
  const startedAt = timeOf(state.StartedAt);
  const finishedAt = timeOf(state.FinishedAt);
  const isUp = state.Running || state.Paused;
  const since = (at: string | null) => (at === null ? null : Math.max(0, (now - Date.parse(at)) / 1_000));
  return {
    id: raw.Id,
    name: raw.Name.replace(/^\//, ''),
    image: config.Image,
    imageId: raw.Image,
    state: state.Status,
    health: healthOf(state.Health?.Status),
    exitCode: isUp || finishedAt === null ? null : state.ExitCode,
    oomKilled: state.OOMKilled,
    error: state.Error,
    restarts: raw.RestartCount,
    restartPolicy: policyOf(host.RestartPolicy),
    createdAt: raw.Created,
    startedAt,
    finishedAt,
    upSeconds: isUp && !state.Restarting ? since(startedAt) : null,
    downSeconds: isUp ? null : since(finishedAt),
    labels: config.Labels ?? {},
    memoryLimit: host.Memory || null,
    cpuLimit: host.NanoCpus ? host.NanoCpus / 1e9 : quotaOf(host),
    raw,
  };
}

const timeOf = (at: string): string | null => (at === '' || NEVER.test(at) ? null : at);

function healthOf(status: string | undefined): Health {
  return status === 'starting' || status === 'healthy' || status === 'unhealthy' ? status : 'none';
}

function policyOf(policy: Docker.HostRestartPolicy | undefined): string {
  const { Name: name = '', MaximumRetryCount: most = 0 } = policy ?? {};
  return `${name || 'no'}${most > 0 ? `:${most}` : ''}`;
}

/** As older compose files say it: microseconds of CPU in each period. */
function quotaOf({ CpuQuota: quota, CpuPeriod: period }: Docker.HostConfig): number | null {
  return quota && quota > 0 ? quota / (period || 100_000) : null;
}
