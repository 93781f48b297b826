import { createRecordPush } from '../changes/pushed-commits.ts';
import { clientAddress } from '../http/client-address.ts';
import { createRateLimit } from '../http/rate-limit.ts';
import { createHttpServer, type HttpServer } from '../http/server.ts';
import { statusRoutes } from '../http/status-routes.ts';
import { webhookRoutes } from '../http/webhook-route.ts';
import { readTurnQueue } from '../infra/dbos/turn-queue.ts';
import { listSystems } from '../memory/systems/systems.ts';
import { readWorkload } from '../record/workload.ts';
import type { Slack } from '../slack/slack.ts';
import { createApiSide } from './api-side.ts';
import { askChroma } from './chroma.ts';
import { type Probes, readHealth } from './health.ts';
import { registerHealth } from './health-metrics.ts';
import { createMcpSide } from './mcp-side.ts';
import { recordChanges } from './record-changes.ts';
import type { Services } from './services.ts';

/** The one HTTP server: alert sources, Slack's events, the HTTP API, MCP clients, health and metrics. */
export async function createHttpSide(
  services: Services,
  slack: Pick<Slack, 'handleHttp' | 'health'>,
): Promise<HttpServer> {
  const { config, sql, log, metrics, accept, executorId } = services;
  const probes: Probes = {
    record: async () => sql`SELECT 1`,
    turnQueue: () => readTurnQueue(sql, executorId),
    slack: slack.health,
  };
  registerHealth(metrics, {
    probes,
    workload: () => readWorkload(sql),
    loop: services.loopWatch.delay,
    targets: services.targets,
    systems: () => listSystems(sql),
    chroma: config.memory.enabled ? () => askChroma(services.parts.chromaHost, 2_000) : null,
  });
  const api = createApiSide(services, probes);
  return createHttpServer({
    host: config.http.host,
    port: config.http.port,
    socket: services.parts.socket ?? null,
    names: config.http.names,
    log,
    metrics,
    rateLimit: createRateLimit({
      known: config.http.rate,
      strangers: Math.ceil(config.http.rate / 10),
      processes: () => services.engine.processes(),
    }),
    clientAddress: clientAddress(config.http.proxies),
    guard: api.guard,
    ...(slack.handleHttp ? { mounts: { '/slack/events': slack.handleHttp } } : {}),
    routes: [
      ...webhookRoutes({
        accept,
        recordChange: recordChanges(services),
        recordPush: createRecordPush(sql),
        hear: (source, payload) => services.hearDelivery(source, payload, { receivedAt: new Date() }),
        secret: config.http.webhookSecret,
        ownSecrets: config.http.ownWebhookSecrets,
        log,
      }),
      ...api.routes,
      ...(await createMcpSide(services)),
      ...statusRoutes({
        health: () => readHealth(probes),
        metrics,
        anyHost: config.http.webhookSecret !== null && config.http.names.length === 0,
      }),
    ],
  });
}
