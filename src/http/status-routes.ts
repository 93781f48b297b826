import type { Registry } from 'prom-client';
import type { Route } from './route.ts';

/** How one part is, in one word; a vital one that is not `ok` keeps Sentry from working. */
interface Part {
  readonly name: string;
  readonly state: string;
  readonly reason: string | null;
  readonly isVital: boolean;
}

/** `/health` (the process lives), `/ready` (it can take alerts and work on them) and `/metrics` (Prometheus text). */
export function statusRoutes(options: {
  /** Never rejects. */
  readonly health: () => Promise<readonly Part[]>;
  readonly metrics: Registry;
  /** Metrics under whatever name of this server. */
  readonly anyHost?: boolean;
}): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/health',
      anyHost: true,
      handle: () => ({ status: 200, body: { status: 'ok' } }),
    },
    {
      method: 'GET',
      path: '/ready',
      anyHost: true,
      async handle() {
        const parts = await options.health();
        const ill = parts.filter(({ state }) => state !== 'ok');
        const ready = !ill.some(({ isVital }) => isVital);
        const status = ready ? (ill.length > 0 ? 'degraded' : 'ready') : 'not ready';
        return {
          status: ready ? 200 : 503,
          body: { status, parts: parts.map(({ name, state, reason }) => ({ name, state, reason })) },
        };
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      anyHost: options.anyHost ?? false,
      handle: async () => ({
        status: 200,
        headers: { 'content-type': options.metrics.contentType },
        body: await options.metrics.metrics(),
      }),
    },
  ];
}
